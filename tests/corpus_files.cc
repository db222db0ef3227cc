#include "tests/corpus_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"

namespace toroid {

std::vector<std::string> CorpusFiles(absl::string_view folder, absl::string_view suffix) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(absl::StrCat("tests/corpus/", folder))) {
    if (absl::EndsWith(entry.path().string(), suffix)) paths.push_back(entry.path().string());
  }
  TOROID_CHECK(!paths.empty(), "no ", suffix, " in ", folder);
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string ReadCorpusFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  TOROID_CHECK(file.good(), path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace toroid
