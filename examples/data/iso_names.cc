#include "examples/data/iso_names.h"

#include <cstdlib>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "examples/data/gettext_catalog.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "nlohmann/json.hpp"

namespace toroid {
namespace {

// The package's lists: countries, former countries, languages (common ones; all; families), scripts,
// currencies.
constexpr const char* kLists[] = {"iso_3166-1", "iso_3166-3", "iso_639-2", "iso_639-3",
                                  "iso_639-5",  "iso_15924",  "iso_4217"};
constexpr const char* kFields[] = {"name", "official_name", "common_name"};

// The distinct names of a list. {"639-2": [{"alpha_3": "aar", "name": "Afar"}, ...]}
absl::StatusOr<std::vector<std::string>> EnglishNames(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.size() != 1 || !json.begin()->is_array()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is no list of the package iso-codes; install the package anew"));
  }
  std::vector<std::string> names;
  absl::flat_hash_set<std::string> seen;
  for (const nlohmann::json& entry : *json.begin()) {
    if (!entry.is_object()) continue;
    for (const char* field : kFields) {
      const auto it = entry.find(field);
      if (it == entry.end() || !it->is_string()) continue;
      if (seen.insert(it->get<std::string>()).second) names.push_back(it->get<std::string>());
    }
  }
  return names;
}

}  // namespace

absl::StatusOr<IsoFolders> FindIsoNames() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::string unpacked = absl::StrCat(
      cache != nullptr ? std::string(cache) : absl::StrCat(home != nullptr ? home : "/tmp", "/.cache"),
      "/toroid-iso-codes");
  for (const std::string& root : {std::string(), unpacked}) {
    const IsoFolders folders = {absl::StrCat(root, "/usr/share/iso-codes/json"),
                                absl::StrCat(root, "/usr/share/locale")};
    if (!CatalogLanguages(folders.locales, kLists[0]).empty()) return folders;
  }
  return absl::NotFoundError("the translations of the package iso-codes are not there; ./setup.sh gets them");
}

absl::StatusOr<Corpus> ReadIsoNames(const IsoFolders& folders) {
  // Sorted by language, so that the order of languages does not depend on the lists they are in.
  std::map<std::string, std::set<std::pair<std::string, std::string>>> pairs;
  for (const char* list : kLists) {
    ASSIGN_OR_RETURN(const std::vector<std::string> english,
                     EnglishNames(absl::StrCat(folders.json, "/", list, ".json")));
    for (const std::string& language : CatalogLanguages(folders.locales, list)) {
      ASSIGN_OR_RETURN(const Catalog catalog, ReadCatalog(folders.locales, language, list));
      for (const std::string& name : english) {
        const auto it = catalog.find(name);
        if (it != catalog.end() && !it->second.empty() && it->second != name)
          pairs[language].emplace(it->second, name);
      }
    }
  }
  Corpus corpus;
  corpus.origin = absl::StrCat("names of the package iso-codes, ", folders.locales);
  for (const auto& [language, names] : pairs) {
    for (const auto& [source, english] : names) {
      corpus.sentences.push_back({static_cast<int>(corpus.languages.size()), source, english});
    }
    corpus.languages.push_back(language);
  }
  if (corpus.sentences.empty()) {
    return absl::NotFoundError(absl::StrCat(
        folders.locales, ": has no translations of the package iso-codes; ./setup.sh gets them"));
  }
  return corpus;
}

}  // namespace toroid
