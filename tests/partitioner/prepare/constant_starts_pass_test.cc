#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "partitioner/prepare/prepare_passes.h"
#include "tests/hlo/passes/same_after_pass.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string After(const std::string& body, const std::string& computations = "", bool changes = true) {
  ConstantStartsPass pass;
  return SameAfterPass(&pass, body, computations, 1, changes);
}

TEST(ConstantStartsPassTest, RowsFromAConstantStartAreASlice) {
  EXPECT_THAT(After(R"(
  x = f32[8,6] parameter(0)
  i = s32[] constant(3)
  j = s32[] constant(100)
  ROOT y = f32[4,2] dynamic-slice(x, i, j), dynamic_slice_sizes={4,2}
)"),
              AllOf(HasSubstr("slice={[3:7], [4:6]}"), Not(HasSubstr("dynamic-slice"))));
}

TEST(ConstantStartsPassTest, OtherDimensionsAreSlicedDynamically) {
  EXPECT_THAT(After(R"(
  x = f32[8,6,5] parameter(0)
  i = s32[2] constant({3, 4})
  a = s32[1] slice(i), slice={[1:2]}
  b = s32[] reshape(a)
  j = s32[] parameter(1)
  ROOT y = f32[3,2,5] dynamic-slice(x, b, j, j), dynamic_slice_sizes={3,2,5}
)"),
              AllOf(HasSubstr("slice={[4:7], [0:6], [0:5]}"), HasSubstr("dynamic_slice_sizes={3,2,5}")));
}

TEST(ConstantStartsPassTest, SingleRowsAndRunTimeStartsStay) {
  After(R"(
  x = f32[8,6] parameter(0)
  i = s32[] constant(3)
  j = s32[] parameter(1)
  a = f32[1,6] dynamic-slice(x, i, i), dynamic_slice_sizes={1,6}
  b = f32[2,6] dynamic-slice(x, j, i), dynamic_slice_sizes={2,6}
  ROOT t = (f32[1,6], f32[2,6]) tuple(a, b)
)",
        "", /*changes=*/false);
}

TEST(ConstantStartsPassTest, AGatherOfOneWindow) {
  EXPECT_THAT(After(R"(
  x = f32[8,6,4] parameter(0)
  one = s32[] constant(1)
  i = s32[1,1] broadcast(one), dimensions={}
  j = s32[1,1] constant({{7}})
  ij = s32[1,2] concatenate(i, j), dimensions={1}
  ROOT y = f32[3,1,4] gather(x, ij), offset_dims={0,2}, collapsed_slice_dims={0}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,3,4}
)"),
              AllOf(HasSubstr("slice={[1:2], [3:6], [0:4]}"), Not(HasSubstr("gather"))));
}

constexpr char kAdd[] =
    "f {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n";
constexpr char kReplace[] = "f {\n  a = f32[] parameter(0)\n  ROOT b = f32[] parameter(1)\n}\n";

std::string Scatter(int64_t start, int64_t rows) {
  return absl::StrCat(
      "\n  x = f32[8,6] parameter(0)\n  i = s32[1] constant({", start, "})\n  u = f32[", rows,
      ",6] parameter(1)\n  ROOT y = f32[8,6] scatter(x, i, u), update_window_dims={0,1}, "
      "inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=f\n");
}

TEST(ConstantStartsPassTest, AScatterOfOneWindow) {
  EXPECT_THAT(After(Scatter(2, 3), kReplace),
              AllOf(HasSubstr("dynamic-update-slice"), Not(HasSubstr("scatter("))));
  EXPECT_THAT(After(Scatter(2, 3), kAdd),
              AllOf(HasSubstr("slice={[2:5], [0:6]}"), HasSubstr("dynamic-update-slice")));
  EXPECT_THAT(After(Scatter(3, 5), kAdd),
              AllOf(HasSubstr("padding=3_0x0_0"), Not(HasSubstr("dynamic-update-slice"))));
}

TEST(ConstantStartsPassTest, AWindowThatDoesNotFitWritesNothing) {
  After(Scatter(6, 3), kAdd, /*changes=*/false);
  After(Scatter(-1, 3), kReplace, /*changes=*/false);
  std::string far = Scatter(1, 3);
  far.replace(far.find("i = s32[1] constant({1})"), 24, "i = s64[1] constant({9223372036854775807})");
  After(far, kReplace, /*changes=*/false);
}

TEST(ConstantStartsPassTest, PaddingKeepsTheSignOfZeros) {
  EXPECT_THAT(After(Scatter(3, 5), kAdd), HasSubstr("constant(-0)"));
}

// If the replaced scatter stayed, it would be partitioned too, and its communication would count.
TEST(ConstantStartsPassTest, WhatIsReplacedIsGone) {
  EXPECT_THAT(After(Scatter(2, 3), kAdd), Not(HasSubstr("scatter(")));
}

// Rows and columns of an array cut in both dimensions, read and written a few rows from where they lie.
TEST(ConstantStartsPassTest, WindowsOfCutArraysAreShifted) {
  const std::string reducers =
      absl::StrCat(kAdd, "\nr {\n  a = f32[] parameter(0)\n  ROOT b = f32[] parameter(1)\n}\n\n");
  for (
      const char* op :
      {"scatter(x, i, u), update_window_dims={0,1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, "
       "index_vector_dim=0, to_apply=f",
       "scatter(x, i, u), update_window_dims={0,1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, "
       "index_vector_dim=0, to_apply=r"}) {
    for (const int64_t rows : {11, 5}) {
      const std::string text = absl::StrCat(
          reducers,
          "ENTRY e {\n  x = f32[13,14] parameter(0), sharding={devices=[$n,1]<=[$n]}\n  i = s32[2] constant({2, 1})\n  u = f32[",
          rows, ",", rows, "] parameter(1), sharding={devices=[1,$n]<=[$n]}\n  ROOT y = f32[13,14] ", op,
          "\n}\n");
      SCOPED_TRACE(text);
      ExpectEquivalent(text);
    }
  }
}

}  // namespace
}  // namespace toroid
