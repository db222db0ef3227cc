// A program beside the one with another sharding.
#include "explain/what_if.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// w cut by rows makes the product a sum over devices; cut by columns it sends nothing.
ProgramFigures FiguresWith(const std::string& sharding_of_w) {
  const auto module = ParseModule(R"(HloModule m
ENTRY main {
  x = f32[64,128] parameter(0), sharding={replicated}
  w = f32[128,512] parameter(1), sharding=)" +
                                  sharding_of_w + R"(
  ROOT y = f32[64,512] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})");
  EXPECT_OK(module);
  const auto partitioned = PartitionModule(**module, PartitionOptions());
  EXPECT_OK(partitioned);
  return FiguresOf(*partitioned->module);
}

TEST(WhatIfTest, RowsThatGoAndFiguresThatFallAreShown) {
  const ProgramFigures rows = FiguresWith("{devices=[8,1]<=[8]}"),
                       columns = FiguresWith("{devices=[1,8]<=[8]}");
  ASSERT_GT(rows.explanation.sent_bytes, 0);
  ASSERT_EQ(columns.explanation.sent_bytes, 0);
  const WhatIf comparison = CompareFigures(rows, columns);
  ASSERT_EQ(comparison.gone.size(), rows.explanation.rows.size());
  EXPECT_TRUE(comparison.added.empty());
  const std::string text = WhatIfText(comparison, "w={devices=[1,8]<=[8]}", 120);
  EXPECT_THAT(text, HasSubstr("what if w={devices=[1,8]<=[8]}\n"));
  EXPECT_THAT(text, HasSubstr("  sent"));
  EXPECT_THAT(text, HasSubstr("  -100.0 %\n"));
  EXPECT_THAT(text, HasSubstr("  gone: " + comparison.gone[0].opcode));
  EXPECT_THAT(text, Not(HasSubstr("new:")));
  // The other way round the row is new.
  EXPECT_THAT(WhatIfText(CompareFigures(columns, rows), "w", 120),
              HasSubstr("  new:  " + comparison.gone[0].opcode));
}

TEST(WhatIfTest, AProgramBesideItselfHasNoDifference) {
  const ProgramFigures rows = FiguresWith("{devices=[8,1]<=[8]}");
  const std::string text = WhatIfText(CompareFigures(rows, rows), "w", 120);
  EXPECT_THAT(text, HasSubstr("  the collectives are the same\n"));
  EXPECT_THAT(text, Not(HasSubstr("%")));
}

}  // namespace
}  // namespace toroid
