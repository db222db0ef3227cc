#include "hlo/passes/split_for_stablehlo_pass.h"

#include <string>

#include "gmock/gmock.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kAdd[] = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n";

std::string Split(const std::string& entry, bool changes) {
  absl::StatusOr<std::unique_ptr<Module>> module =
      ParseModule("HloModule m, num_partitions=2\n" + (kAdd + entry));
  if (!module.ok()) return std::string(module.status().message());
  EXPECT_THAT(SplitForStableHloPass().Run(&*module), IsOkAndHolds(changes));
  EXPECT_OK(VerifyModule(**module));
  return PrintModule(**module);
}

TEST(SplitForStableHloPassTest, EachArrayGetsItsOwn) {
  const std::string text = Split(R"(ENTRY e {
  x = f32[8] parameter(0)
  y = f32[4,2] parameter(1)
  all = (f32[4], f32[2,2]) reduce-scatter(x, y), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, dimensions={0}, to_apply=add
  p = f32[4] get-tuple-element(all), index=0
  q = f32[2,2] get-tuple-element(all), index=1
  ROOT t = (f32[2,2], f32[4]) tuple(q, p)
})",
                                 true);
  EXPECT_THAT(text, AllOf(HasSubstr("f32[4]{0} reduce-scatter(x), dimensions={0}, channel_id=1"),
                          HasSubstr("f32[2,2]{1,0} reduce-scatter(y)"), Not(HasSubstr("get-tuple-element"))));
}

TEST(SplitForStableHloPassTest, CollectivePermutesToo) {
  const std::string text = Split(R"(ENTRY e {
  x = f32[8] parameter(0)
  y = s32[4] parameter(1)
  all = (f32[8], s32[4]) collective-permute(x, y), channel_id=1, source_target_pairs={{0,1},{1,0}}
  p = f32[8] get-tuple-element(all), index=0
  q = s32[4] get-tuple-element(all), index=1
  ROOT t = (f32[8], s32[4]) tuple(p, q)
})",
                                 true);
  EXPECT_THAT(text, AllOf(HasSubstr("f32[8]{0} collective-permute(x)"),
                          HasSubstr("s32[4]{0} collective-permute(y)"), Not(HasSubstr("get-tuple-element"))));
}

TEST(SplitForStableHloPassTest, OtherUsersGetATuple) {
  const std::string text = Split(R"(ENTRY e {
  x = f32[8] parameter(0)
  ROOT all = (f32[4], f32[4]) reduce-scatter(x, x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, dimensions={0}, to_apply=add
})",
                                 true);
  EXPECT_THAT(text, AllOf(HasSubstr("ROOT "), HasSubstr("(f32[4]{0}, f32[4]{0}) tuple(")));
}

TEST(SplitForStableHloPassTest, OneArrayStays) {
  EXPECT_THAT(Split(R"(ENTRY e {
  x = f32[8] parameter(0)
  ROOT one = f32[4] reduce-scatter(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, dimensions={0}, to_apply=add
})",
                    false),
              HasSubstr("ROOT one = f32[4]{0} reduce-scatter(x)"));
}

}  // namespace
}  // namespace toroid
