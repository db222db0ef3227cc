// Texts cut to a width.
#include "hlo/base/terminal.h"

#include <cstdlib>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

TEST(TerminalTest, TheMiddleOfLongTextsIsLeftOut) {
  EXPECT_EQ(CutMiddle("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(CutMiddle("abcdefghij", 9), "abcd…ghij");
  EXPECT_EQ(CutMiddle("abcdefghij", 4), "ab…j");
  EXPECT_EQ(CutMiddle("abcdefghij", 1), "…");
  EXPECT_EQ(CutMiddle("abcdefghij", 0), "");
  EXPECT_EQ(CutMiddle("", 5), "");
}

TEST(TerminalTest, CharactersOfSeveralBytesTakeOneColumnAndStayWhole) {
  EXPECT_EQ(TextWidth("größe…"), 6);
  EXPECT_EQ(CutMiddle("ääääääää", 5), "ää…ää");
}

TEST(TerminalTest, PathsKeepTheirEnd) {
  EXPECT_EQ(CutFront("maxtext/layers/linears.py:162", 29), "maxtext/layers/linears.py:162");
  EXPECT_EQ(CutFront("maxtext/layers/linears.py:162", 28), "…/layers/linears.py:162");
  EXPECT_EQ(CutFront("maxtext/layers/linears.py:162", 20), "…/linears.py:162");
  EXPECT_EQ(CutFront("maxtext/layers/linears.py:162", 10), "…rs.py:162");
  EXPECT_EQ(CutFront("a/b", 1), "…");
  EXPECT_EQ(CutFront("a/b", 0), "");
}

TEST(TerminalTest, LongestTextsAreCutFirst) {
  EXPECT_THAT(FitWidths({4, 30, 50}, 40), ElementsAre(4, 18, 18));
  EXPECT_THAT(FitWidths({4, 30, 50}, 84), ElementsAre(4, 30, 50));
  EXPECT_THAT(FitWidths({10, 0, 10}, 10), ElementsAre(5, 0, 5));
  EXPECT_THAT(FitWidths({10, 10}, -3), ElementsAre(0, 0));
}

TEST(TerminalTest, WithoutATerminalTheWidthIsThatOfTheEnvironment) {
  setenv("COLUMNS", "77", 1);
  const int given = OutputWidth();
  setenv("COLUMNS", "many", 1);
  const int bad = OutputWidth();
  unsetenv("COLUMNS");
  EXPECT_EQ(given, 77);
  EXPECT_EQ(bad, 120);
  EXPECT_EQ(OutputWidth(), 120);
}

}  // namespace
}  // namespace toroid
