#include <string>

#include "gmock/gmock.h"
#include "partitioner/prepare/prepare_passes.h"
#include "tests/hlo/passes/same_after_pass.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

std::string After(const std::string& body, bool changes = true) {
  SingleRowsPass pass;
  return SameAfterPass(&pass, body, "", 1, changes);
}

TEST(SingleRowsPassTest, ARowThatAReshapeDrops) {
  EXPECT_THAT(After(R"(
  x = f32[8,6] parameter(0)
  s = f32[1,6] slice(x), slice={[5:6], [0:6]}
  ROOT r = f32[6] reshape(s)
)"),
              HasSubstr("dynamic_slice_sizes={1,6}"));
}

TEST(SingleRowsPassTest, WhatElseTheSliceTakesStaysASlice) {
  EXPECT_THAT(After(R"(
  x = f32[8,6,4] parameter(0)
  s = f32[1,2,1] slice(x), slice={[5:6], [1:5:2], [3:4]}
  ROOT r = f32[2] reshape(s)
)"),
              ::testing::AllOf(HasSubstr("dynamic_slice_sizes={1,6,1}"),
                               HasSubstr("slice={[0:1:1], [1:5:2], [0:1:1]}")));
}

TEST(SingleRowsPassTest, RowsThatOthersReadToo) {
  After(R"(
  x = f32[8,6] parameter(0)
  s = f32[1,6] slice(x), slice={[5:6], [0:6]}
  r = f32[6] reshape(s)
  ROOT t = (f32[1,6], f32[6]) tuple(s, r)
)",
        /*changes=*/false);
  After(R"(
  x = f32[8,6] parameter(0)
  s = f32[2,6] slice(x), slice={[5:7], [0:6]}
  ROOT r = f32[12] reshape(s)
)",
        /*changes=*/false);
  After(R"(
  x = f32[1,6] parameter(0)
  s = f32[1,4] slice(x), slice={[0:1], [1:5]}
  ROOT r = f32[4] reshape(s)
)",
        /*changes=*/false);
}

}  // namespace
}  // namespace toroid
