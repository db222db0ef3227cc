#include "examples/training/sentences.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "examples/data/iso_names.h"
#include "examples/data/permuted_languages.h"

namespace toroid {
namespace {

constexpr int kMadeUpLanguages = 20, kMadeUpNames = 2000;

}  // namespace

absl::StatusOr<Corpus> ReadSentences(absl::string_view names, uint64_t seed, std::string* says) {
  if (names != "made-up") {
    absl::StatusOr<IsoFolders> folders = FindIsoNames();
    if (folders.ok()) return ReadIsoNames(*folders);
    if (names != "auto") return folders.status();
    *says = absl::StrCat(folders.status().message(), "; training on languages that are made up instead");
  }
  return PermutedLanguages(kMadeUpLanguages, kMadeUpNames, seed);
}

absl::StatusOr<Corpus> SentencesFrom(absl::string_view origin, uint64_t seed) {
  Corpus made_up = PermutedLanguages(kMadeUpLanguages, kMadeUpNames, seed);
  if (made_up.origin == origin) return made_up;
  std::string ignored;
  absl::StatusOr<Corpus> names = ReadSentences("iso-codes", seed, &ignored);
  if (names.ok() && names->origin == origin) return names;
  return absl::NotFoundError(absl::StrCat("was trained on ", absl::CHexEscape(origin), ", which are not here",
                                          names.ok() ? "" : absl::StrCat(": ", names.status().message())));
}

}  // namespace toroid
