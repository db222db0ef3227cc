// BUILD: size = "small"
#include "hlo/base/text_table.h"

#include "gtest/gtest.h"

namespace toroid {
namespace {

TEST(TextTableTest, Bytes) {
  EXPECT_EQ(BytesText(0), "0 B");
  EXPECT_EQ(BytesText(999), "999 B");
  EXPECT_EQ(BytesText(1000), "1.0 kB");
  EXPECT_EQ(BytesText(4'294'967'296), "4.3 GB");
  EXPECT_EQ(BytesText(INT64_MAX), "9.2 EB");
}

TEST(TextTableTest, Counts) {
  EXPECT_EQ(CountText(0), "0");
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(CountText(1234567), "1,234,567");
  EXPECT_EQ(CountText(-1234), "-1,234");
  EXPECT_EQ(CountText(-123), "-123");
}

TEST(TextTableTest, NumbersStandRightAndWordsLeft) {
  EXPECT_EQ(TableText({{"a", "1", "x"}, {"long", "200", ""}}, 80), "  a       1  x\n  long  200\n");
  EXPECT_EQ(TableText({{"a", "1", "x"}, {"a_long_name", "200", ""}}, 15), "  a        1  x\n  a_…me  200\n");
}

}  // namespace
}  // namespace toroid
