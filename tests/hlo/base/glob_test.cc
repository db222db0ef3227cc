#include "hlo/base/glob.h"

#include "gtest/gtest.h"

namespace toroid {
namespace {

TEST(GlobTest, GlobsMatchWholeTexts) {
  EXPECT_TRUE(GlobMatches("*mlp/dot*", "a/mlp/dot_general"));
  EXPECT_TRUE(GlobMatches("a?c", "abc"));
  EXPECT_FALSE(GlobMatches("a?c", "abcd"));
  EXPECT_TRUE(GlobMatches("", ""));
  EXPECT_FALSE(GlobMatches("", "a"));
  EXPECT_TRUE(GlobMatches("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(GlobMatches("*a*b", "xxaxxbxx"));
}

}  // namespace
}  // namespace toroid
