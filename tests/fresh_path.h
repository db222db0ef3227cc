// A path for a file that a test writes.
#pragma once

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace toroid {

// A path in this test's own folder at which no file exists.
inline std::string FreshPath(const std::string& name) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/", name);
  std::filesystem::remove(path);
  return path;
}

}  // namespace toroid
