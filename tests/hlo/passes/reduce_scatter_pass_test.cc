#include "hlo/passes/reduce_scatter_pass.h"

#include <string>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "tests/hlo/passes/same_after_pass.h"
#include "tests/runtime/evaluate.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

// Devices 0 .. 3; `place` computes s32[] `i` from s32[] p, the device's number. $r: the groups.
std::string After(const std::string& place, const std::string& groups, bool changes = true,
                  const std::string& others = "zero") {
  ReduceScatterPass pass;
  return SameAfterPass(&pass,
                       absl::StrReplaceAll(R"(
  x = f32[6,4] parameter(0)
  id = u32[] partition-id()
  p = s32[] convert(id)
  zero = s32[] constant(0)
  two = s32[] constant(2)
  three = s32[] constant(3)
  $place
  a = f32[6,4] all-reduce(x), replica_groups=$r, channel_id=1, use_global_device_ids=true, to_apply=add
  ROOT b = f32[3,4] dynamic-slice(a, i, $o), dynamic_slice_sizes={3,4}
)",
                                           {{"$place", place}, {"$r", groups}, {"$o", others}}),
                       ReducerText("add", "f32", "add"), 4, changes);
}

TEST(ReduceScatterPassTest, EachDeviceReadsItsOwnPart) {
  const std::string minor = "d = s32[] remainder(p, two)\n i = s32[] multiply(d, three)";
  const std::string major = "d = s32[] divide(p, two)\n i = s32[] multiply(d, three)";
  for (const auto& [place, groups] : {std::pair(minor, "{{0,1},{2,3}}"), std::pair(minor, "{{2,3},{0,1}}"),
                                      std::pair(major, "[2,2]<=[2,2]T(1,0)")}) {
    const std::string text = After(place, groups);
    EXPECT_THAT(text, HasSubstr("reduce-scatter(x)"));
    EXPECT_EQ(CountOf(text, " all-reduce("), 0);
  }
}

TEST(ReduceScatterPassTest, GroupsTakeTheOrderOfTheParts) {
  EXPECT_THAT(
      After(
          "d = s32[] remainder(p, two)\n one = s32[] constant(1)\n e = s32[] subtract(one, d)\n i = s32[] multiply(e, three)",
          "{{0,1},{2,3}}"),
      HasSubstr("{{1,0},{3,2}}"));
  EXPECT_THAT(
      After(
          "t = s32[4] constant({3, 0, 0, 3})\n s = s32[1] dynamic-slice(t, p), dynamic_slice_sizes={1}\n i = s32[] reshape(s)",
          "{{0,1},{2,3}}"),
      HasSubstr("{{1,0},{2,3}}"));
}

TEST(ReduceScatterPassTest, OtherPartsAreLeftAlone) {
  // Both members of a group read the same part; parts of other sizes; a start that depends on arguments.
  After("d = s32[] divide(p, two)\n i = s32[] multiply(d, three)", "{{0,1},{2,3}}", /*changes=*/false);
  After("d = s32[] remainder(p, two)\n i = s32[] multiply(d, two)", "{{0,1},{2,3}}", /*changes=*/false);
  After("d = s32[] remainder(p, two)\n i = s32[] multiply(d, three)", "{{0,1,2,3}}", /*changes=*/false);
  After("i = s32[] parameter(1)", "{{0,1},{2,3}}", /*changes=*/false);
}

}  // namespace
}  // namespace toroid
