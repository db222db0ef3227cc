// BUILD: size = "small"
// Files: limits of what is read.
#include "hlo/base/files.h"

#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

std::string PathFor(absl::string_view name) {
  return absl::StrCat(::testing::TempDir(), "/files_test_", name);
}

TEST(FilesTest, AFileOfTheLimitIsReadAndALongerOneIsNot) {
  const std::string path = PathFor("ten");
  ASSERT_TRUE(WriteFile(path, "0123456789").ok());
  EXPECT_EQ(*ReadFile(path, 10), "0123456789");
  EXPECT_THAT(ReadFile(path, 9).status().ToString(), HasSubstr("ten: holds more than 9 bytes"));
  ASSERT_TRUE(WriteFile(path, "").ok());
  EXPECT_EQ(*ReadFile(path, 0), "");
  unlink(path.c_str());
}

// A buffer of its size would not fit into memory.
TEST(FilesTest, AFileThatIsFarTooLongTakesNoMemory) {
  const std::string path = PathFor("terabyte");
  ASSERT_TRUE(WriteFile(path, "HloModule m").ok());
  ASSERT_EQ(truncate(path.c_str(), int64_t{1} << 40), 0);
  EXPECT_THAT(ReadFile(path).status().ToString(), HasSubstr("terabyte: holds more than 2147483647 bytes"));
  unlink(path.c_str());
}

}  // namespace
}  // namespace toroid
