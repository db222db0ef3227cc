// The examples in the headers of op families.
#include "partitioner/ops/op_families.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/cost/cost_model.h"
#include "hlo/io/hlo_text.h"

namespace toroid {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// A module with an entry computation of these lines, and a reducer `add`.
std::unique_ptr<Module> Program(const std::string& lines) {
  auto module = ParseModule(
      "HloModule m\nadd { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
      " ROOT c = f32[] add(a, b) }\nENTRY main {\n" +
      lines + "}\n");
  return std::move(module).value();
}

std::vector<OperandWindows> Reads(const Module& module, int dim, int64_t tiles) {
  const Instruction& root = *module.entry()->root();
  return FamilyOf(root.opcode()).reads(root, dim, tiles);
}

TEST(OpFamiliesTest, ALowPadReadsRowsOfTheTileBefore) {
  const auto module = Program(
      "x = f32[8] parameter(0)\n zero = f32[] constant(0)\n"
      " ROOT y = f32[10] pad(x, zero), padding=2_0\n");
  const std::vector<OperandWindows> reads = Reads(*module, 0, 2);
  ASSERT_THAT(reads, SizeIs(1));
  EXPECT_EQ(reads[0].size, 8);
  EXPECT_EQ(reads[0].windows.Start(1), 3);
  EXPECT_EQ(reads[0].windows.length, 5);
}

TEST(OpFamiliesTest, AConcatenationReadsOfEachOperandWhatFallsIntoATile) {
  const auto module = Program(
      "x = f32[2] parameter(0)\n y = f32[4] parameter(1)\n"
      " ROOT z = f32[6] concatenate(x, y), dimensions={0}\n");
  const std::vector<OperandWindows> reads = Reads(*module, 0, 2);
  ASSERT_THAT(reads, SizeIs(2));
  EXPECT_EQ(reads[1].operand, 1);
  EXPECT_EQ(reads[1].windows.Start(1), 1);
}

TEST(OpFamiliesTest, AReverseOfEvenTilesReadsNoOtherRows) {
  const auto even = Program("x = f32[8] parameter(0)\n ROOT y = f32[8] reverse(x), dimensions={0}\n");
  EXPECT_THAT(Reads(*even, 0, 2), IsEmpty());
}

TEST(OpFamiliesTest, AReduceFromAnotherInitValueLeavesNothingPartial) {
  for (const bool neutral : {true, false}) {
    const auto module =
        Program(absl::StrCat("x = f32[8] parameter(0)\n init = f32[] constant(", neutral ? "0" : "1",
                             ")\n ROOT y = f32[] reduce(x, init), dimensions={0}, to_apply=add\n"));
    const ShardingRule rule = ShardingRuleOf(*module->entry()->root());
    EXPECT_EQ(PartialAxes(rule, {AxisList{0}}), neutral ? 1 : 0);
  }
}

TEST(OpFamiliesTest, ADynamicSliceOfACutDimensionIsPartialAndAnUpdateIsNot) {
  const std::string operands = "x = f32[8] parameter(0)\n u = f32[2] parameter(1)\n i = s32[] parameter(2)\n";
  const auto slice = Program(operands + "ROOT y = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}\n");
  EXPECT_EQ(PartialAxes(ShardingRuleOf(*slice->entry()->root()), {AxisList{0}}), 1);
  const auto update = Program(operands + "ROOT y = f32[8] dynamic-update-slice(x, u, i)\n");
  EXPECT_EQ(PartialAxes(ShardingRuleOf(*update->entry()->root()), {AxisList{0}}), 0);
}

TEST(OpFamiliesTest, OnlyFamiliesWithALocalProgramCutWhatMovesDataOrIsIndexed) {
  const auto slice = Program("x = f32[8] parameter(0)\n ROOT y = f32[4] slice(x), slice={[0:4]}\n");
  EXPECT_TRUE(CanCutLocally(*slice->entry()->root(), FactorKind::kPermuting));
  const auto negate = Program("x = f32[8] parameter(0)\n ROOT y = f32[8] negate(x)\n");
  EXPECT_FALSE(CanCutLocally(*negate->entry()->root(), FactorKind::kPermuting));
  EXPECT_TRUE(CanCutLocally(*negate->entry()->root(), FactorKind::kReduction));
}

}  // namespace
}  // namespace toroid
