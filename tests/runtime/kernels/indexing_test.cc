// BUILD: size = "small"
// Dynamic slices, gather and scatter: clamping, dropping, dimension numbers.
#include <string>

#include "gtest/gtest.h"
#include "tests/runtime/evaluate.h"

namespace toroid {
namespace {

constexpr char kSix[] = "x = s32[6] constant({10, 11, 12, 13, 14, 15}) ";
constexpr char kGrid[] = "x = s32[3,3] constant({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}) ";

TEST(DynamicSliceTest, StartsClampInTheirOwnType) {
  EXPECT_EQ(Evaluate(std::string(kSix) +
                     "i = s32[] constant(-5) ROOT y = s32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}"),
            "{10, 11}");
  EXPECT_EQ(
      Evaluate(std::string(kSix) +
               "i = u32[] constant(4294967295) ROOT y = s32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}"),
      "{14, 15}");
  EXPECT_EQ(Evaluate(std::string(kSix) + "i = u64[] constant(18446744073709551615) ROOT y = s32[2] "
                                         "dynamic-slice(x, i), dynamic_slice_sizes={2}"),
            "{14, 15}");
  EXPECT_EQ(Evaluate(std::string(kSix) +
                     "i = s8[] constant(3) ROOT y = s32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}"),
            "{13, 14}");
}

TEST(DynamicUpdateSliceTest, ClampsAndKeepsTheOperandForOtherUsers) {
  EXPECT_EQ(
      Evaluate(std::string(kSix) +
               "u = s32[2] constant({1, 2}) i = s32[] constant(9) y = s32[6] dynamic-update-slice(x, u, i) "
               "ROOT t = (s32[6], s32[6]) tuple(x, y)"),
      "( {10, 11, 12, 13, 14, 15}, {10, 11, 12, 13, 1, 2} )");
}

TEST(GatherTest, RowsWithClampedStarts) {
  EXPECT_EQ(Evaluate(std::string(kGrid) +
                     "i = s32[3] constant({2, -4, 7}) ROOT y = s32[3,3] gather(x, i), offset_dims={1}, "
                     "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}"),
            "{ { 7, 8, 9 }, { 1, 2, 3 }, { 7, 8, 9 } }");
}

TEST(GatherTest, WindowsAndOffsetDimensionsBeforeBatch) {
  EXPECT_EQ(
      Evaluate(std::string(kGrid) +
               "i = s32[2,2] constant({{0, 1}, {1, 0}}) ROOT y = s32[2,2,2] gather(x, i), offset_dims={0,1}, "
               "collapsed_slice_dims={}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={2,2}"),
      "{ { { 2, 4 }, { 3, 5 } }, { { 5, 7 }, { 6, 8 } } }");
}

TEST(GatherTest, IndexVectorFirstAndPermutedMap) {
  // Column-wise index vectors that name (column, row).
  EXPECT_EQ(
      Evaluate(std::string(kGrid) +
               "i = s32[2,3] constant({{0, 1, 2}, {2, 2, 0}}) ROOT y = s32[3] gather(x, i), offset_dims={}, "
               "collapsed_slice_dims={0,1}, start_index_map={1,0}, index_vector_dim=0, slice_sizes={1,1}"),
      "{7, 8, 3}");
}

TEST(GatherTest, BatchingDimensions) {
  EXPECT_EQ(Evaluate(std::string(kGrid) +
                     "i = s32[3,1] constant({{2}, {0}, {1}}) ROOT y = s32[3] gather(x, i), offset_dims={}, "
                     "collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, "
                     "start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,1}"),
            "{3, 4, 8}");
}

std::string Scatter(const std::string& indices, const std::string& updates, const std::string& op) {
  return Evaluate(std::string(kSix) + "i = s32[4,1] constant(" + indices + ") u = s32[4] constant(" +
                      updates +
                      ") ROOT y = s32[6] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, "
                      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f",
                  op);
}

TEST(ScatterTest, CombinesRepeatedAndDropsOutOfRange) {
  EXPECT_EQ(Scatter("{{1}, {1}, {6}, {-1}}", "{100, 200, 1, 1}", ReducerText("f", "s32", "add")),
            "{10, 311, 12, 13, 14, 15}");
  EXPECT_EQ(Scatter("{{0}, {0}, {5}, {5}}", "{3, 90, 14, 16}", ReducerText("f", "s32", "maximum")),
            "{90, 11, 12, 13, 14, 16}");
}

TEST(ScatterTest, OverwriteKeepsTheLastUpdate) {
  EXPECT_EQ(Scatter("{{2}, {2}, {3}, {2}}", "{1, 2, 3, 4}",
                    "f { a = s32[] parameter(0) ROOT b = s32[] parameter(1) }"),
            "{10, 11, 4, 3, 14, 15}");
}

TEST(ScatterTest, BodiesOfSeveralOpsRunInOrderOfUpdates) {
  // f(a, b) = 2a + b is neither associative nor commutative.
  EXPECT_EQ(Scatter("{{2}, {0}, {2}, {2}}", "{1, 2, 3, 4}",
                    "f { a = s32[] parameter(0) b = s32[] parameter(1) c = s32[] add(a, a) "
                    "ROOT d = s32[] add(c, b) }"),
            "{22, 11, 110, 13, 14, 15}");
}

TEST(ScatterTest, WindowsThatStickOutAreDroppedWhole) {
  EXPECT_EQ(
      Evaluate(std::string(kGrid) +
                   "i = s32[2,2] constant({{0, 2}, {1, 1}}) "
                   "u = s32[2,2,2] constant({{{1, 1}, {1, 1}}, {{10, 20}, {30, 40}}}) "
                   "ROOT y = s32[3,3] scatter(x, i, u), update_window_dims={1,2}, inserted_window_dims={}, "
                   "scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=f",
               ReducerText("f", "s32", "add")),
      "{ { 1, 2, 3 }, { 4, 15, 26 }, { 7, 38, 49 } }");
}

TEST(ScatterTest, SeveralOperands) {
  EXPECT_EQ(
      Evaluate(
          "a = s32[3] constant({1, 2, 3}) b = f32[3] constant({1, 2, 3}) i = s32[2,1] constant({{0}, {0}}) "
          "u = s32[2] constant({5, 6}) v = f32[2] constant({2, 4}) "
          "ROOT y = (s32[3], f32[3]) scatter(a, b, i, u, v), update_window_dims={}, "
          "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f",
          "f { a = s32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) d = f32[] parameter(3) "
          "e = s32[] add(a, c) g = f32[] multiply(b, d) ROOT t = (s32[], f32[]) tuple(e, g) }"),
      "( {12, 2, 3}, {8, 2, 3} )");
}

}  // namespace
}  // namespace toroid
