// BUILD: size = "small"
#include "runtime/groups/view.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/runtime/evaluate.h"

namespace toroid {
namespace {

// The view of the root through all instructions before it, as "offset: size*stride ...".
std::string ViewOf(const std::string& body) {
  const std::unique_ptr<Module> module = MakeModule(body);
  View view = View::Whole(module->entry()->instruction(0)->shape().NumElements());
  for (const auto& instruction : module->entry()->instructions()) {
    if (instruction->opcode() == Opcode::kParameter) continue;
    const std::optional<View> next = ViewThrough(*instruction, view);
    if (!next.has_value()) return "none";
    view = *next;
  }
  std::string text = absl::StrCat(view.offset, ":");
  for (const View::Dim& dim : view.dims) absl::StrAppend(&text, " ", dim.size, "*", dim.stride);
  return text;
}

TEST(ViewTest, Broadcasts) {
  EXPECT_EQ(ViewOf("x = f32[] parameter(0) ROOT y = f32[4,6] broadcast(x), dimensions={}"), "0: 24*0");
  EXPECT_EQ(ViewOf("x = f32[4] parameter(0) ROOT y = f32[4,6] broadcast(x), dimensions={0}"), "0: 4*1 6*0");
  EXPECT_EQ(ViewOf("x = f32[6] parameter(0) ROOT y = f32[4,6] broadcast(x), dimensions={1}"), "0: 4*0 6*1");
  EXPECT_EQ(ViewOf("x = f32[4,1] parameter(0) ROOT y = f32[3,4,1] broadcast(x), dimensions={1,2}"),
            "0: 3*0 4*1");
}

TEST(ViewTest, SlicesReversalsAndTransposes) {
  EXPECT_EQ(ViewOf("x = f32[4,6] parameter(0) ROOT y = f32[2,3] slice(x), slice={[1:3],[1:6:2]}"), "7: 6*2");
  EXPECT_EQ(ViewOf("x = f32[4,6] parameter(0) ROOT y = f32[2,6] slice(x), slice={[1:3],[0:6]}"), "6: 12*1");
  EXPECT_EQ(ViewOf("x = f32[4,6] parameter(0) ROOT y = f32[4,6] reverse(x), dimensions={1}"), "5: 4*6 6*-1");
  EXPECT_EQ(ViewOf("x = f32[4,6] parameter(0) ROOT y = f32[6,4] transpose(x), dimensions={1,0}"),
            "0: 6*1 4*6");
}

TEST(ViewTest, ChainsAreOneView) {
  EXPECT_EQ(ViewOf("x = f32[4,6] parameter(0) a = f32[2,6] slice(x), slice={[1:3],[0:6]} "
                   "b = f32[12] reshape(a) c = f32[2,12,5] broadcast(b), dimensions={1} "
                   "ROOT d = f32[2,4,5] slice(c), slice={[0:2],[2:6],[0:5]}"),
            "8: 2*0 4*1 5*0");
  // A reshape that joins what is apart in memory: nothing can be cut by its dimensions.
  EXPECT_EQ(
      ViewOf("x = f32[4,6] parameter(0) a = f32[4,3] slice(x), slice={[0:4],[0:3]} b = f32[12] reshape(a) "
             "ROOT c = f32[8] slice(b), slice={[0:8]}"),
      "none");
}

TEST(ViewTest, ReshapesSplitAndJoinContiguousDimensions) {
  EXPECT_EQ(ViewOf("x = f32[24] parameter(0) a = f32[2,3,4] reshape(x) "
                   "ROOT b = f32[4,2,3] transpose(a), dimensions={2,0,1}"),
            "0: 4*1 6*4");
  EXPECT_EQ(
      ViewOf("x = f32[4] parameter(0) a = f32[4,6] broadcast(x), dimensions={0} b = f32[2,2,6] reshape(a) "
             "ROOT c = f32[2,1,6] slice(b), slice={[0:2],[1:2],[0:6]}"),
      "1: 2*2 6*0");
}

TEST(ViewTest, IotasCount) {
  EXPECT_EQ(ViewOf("i = s32[4,6] iota(), iota_dimension=0 ROOT c = s32[2,6] slice(i), slice={[1:3],[0:6]}"),
            "1: 2*1 6*0");
}

TEST(ViewTest, EmptyArraysHaveNone) {
  EXPECT_EQ(ViewOf("x = f32[0] parameter(0) ROOT y = f32[3,0] broadcast(x), dimensions={1}"), "none");
}

TEST(ViewTest, LinesAreWorthReading) {
  EXPECT_TRUE(ReadsInLines({{{4, 1}, {6, 0}, {32, 1}}, 0}));
  EXPECT_TRUE(ReadsInLines({{{5, 7}}, 0}));
  EXPECT_FALSE(ReadsInLines({{{600, 1}, {400, 600}}, 0}));
  EXPECT_FALSE(ReadsInLines({{{100, 2}, {2, 1}}, 0}));
}

}  // namespace
}  // namespace toroid
