// BUILD: data = ["//runtime/loops:later_levels"]
#include <array>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace toroid {
namespace {

// What nm says of an object or an archive.
std::string SymbolsOf(const std::filesystem::path& path) {
  std::string text;
  std::FILE* pipe = popen(("nm --defined-only '" + path.string() + "'").c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 4096> part;
  while (const size_t n = std::fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), n);
  EXPECT_EQ(pclose(pipe), 0) << path;
  return text;
}

// The linker takes one of several weak functions of a name: were it that of a later level, any processor would run it.
TEST(WeakSymbolsTest, ObjectsOfLaterLevelsHaveNone) {
  int archives = 0, functions = 0;
  for (const auto& entry : std::filesystem::directory_iterator("runtime/loops")) {
    if (entry.path().extension() != ".a") continue;
    ++archives;
    std::istringstream lines(SymbolsOf(entry.path()));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      std::string address, kind, name;
      if (!(fields >> address >> kind >> name)) continue;
      functions += kind == "T";
      // Weak functions, and what the linker takes once for a whole process.
      EXPECT_TRUE(kind != "W" && kind != "w" && kind != "u") << entry.path() << ": " << name;
    }
  }
  EXPECT_GT(archives, 20);
  EXPECT_GE(functions, archives);
}

}  // namespace
}  // namespace toroid
