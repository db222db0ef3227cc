#include "tests/examples/data/catalog_files.h"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace toroid {

void WriteTestFile(const std::string& path, const std::string& bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string TestFolder(const std::string& name) {
  const std::string folder = absl::StrCat(::testing::TempDir(), "/", name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

void WriteCatalog(const std::string& folder, const std::string& language, const std::string& domain,
                  const std::map<std::string, std::string>& translations) {
  std::map<std::string, std::string> all = translations;
  all.emplace("", "Content-Type: text/plain; charset=UTF-8\n");
  const uint32_t n = static_cast<uint32_t>(all.size()), originals_at = 28,
                 translations_at = originals_at + 8 * n;
  std::vector<uint32_t> words = {0x950412de, 0, n, originals_at, translations_at, 0, translations_at + 8 * n};
  std::string strings;
  const auto add = [&](const std::string& text) {
    words.push_back(static_cast<uint32_t>(text.size()));
    words.push_back(translations_at + 8 * n + static_cast<uint32_t>(strings.size()));
    absl::StrAppend(&strings, text, absl::string_view("\0", 1));
  };
  for (const auto& [original, translation] : all) add(original);
  for (const auto& [original, translation] : all) add(translation);
  std::string bytes(4 * words.size(), '\0');
  std::memcpy(bytes.data(), words.data(), bytes.size());
  WriteTestFile(absl::StrCat(folder, "/", language, "/LC_MESSAGES/", domain, ".mo"), bytes + strings);
}

}  // namespace toroid
