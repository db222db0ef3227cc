#include "simulator/memory/memory_profile.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// Each op that is no parameter takes 1 us.
absl::StatusOr<OpTime> OneMicrosecond(const Instruction& instruction) {
  return OpTime{instruction.opcode() == Opcode::kParameter || instruction.opcode() == Opcode::kTuple ? 0 : 1000000, false};
}

struct Profiled {
  std::unique_ptr<Module> module;
  MemoryProfile profile;
};

Profiled Profile(const std::string& text, const ArraySize* size = nullptr) {
  auto module = ParseModule(text);
  EXPECT_OK(module.status());
  const auto schedule = ComputeSchedule(**module, OneMicrosecond, {});
  EXPECT_OK(schedule.status());
  MemoryProfile profile = ProfileMemory(**module, *schedule, size);
  return {*std::move(module), std::move(profile)};
}

// Weights w are donated and updated; b stays; h is needed again at the end; the peak is at the dot.
constexpr char kStep[] = R"(HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }
ENTRY main {
  w = f32[100,100] parameter(0)
  b = f32[50,100] parameter(1)
  h = f32[50,100] dot(b, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  u = f32[100,100] dot(h, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  n = f32[100,100] subtract(w, u)
  k = f32[50,100] negate(h)
  ROOT t = (f32[100,100], f32[50,100]) tuple(n, k) })";

TEST(MemoryProfileTest, PeakIsDividedByWhatValuesAreFor) {
  const auto [module, profile] = Profile(kStep);
  ASSERT_NE(profile.peak_at, nullptr);
  EXPECT_EQ(profile.peak_at->name(), "u");
  EXPECT_EQ(profile.state_bytes, 40000);       // w
  EXPECT_EQ(profile.parameter_bytes, 20000);   // b
  EXPECT_EQ(profile.activation_bytes, 20000);  // h
  EXPECT_EQ(profile.workspace_bytes, 40000);   // u
  EXPECT_EQ(profile.peak_bytes, 120000);
  ASSERT_FALSE(profile.at_peak.empty());
  EXPECT_EQ(profile.at_peak[0].bytes, 40000);
}

TEST(MemoryProfileTest, SamplesFollowTheScheduleAndReachThePeak) {
  const auto [module, profile] = Profile(kStep);
  ASSERT_FALSE(profile.samples.empty());
  int64_t most = 0, before = -1;
  for (const auto& sample : profile.samples) {
    EXPECT_GT(sample.start_ps, before);
    before = sample.start_ps;
    most = std::max(most, sample.bytes);
  }
  EXPECT_EQ(most, profile.peak_bytes);
}

TEST(MemoryProfileTest, SizesAreTheMachines) {
  const ArraySize doubled = [](const Shape& array) { return 2 * array.ByteSize(); };
  const auto [module, profile] = Profile(kStep, &doubled);
  EXPECT_EQ(profile.peak_bytes, 240000);
}

TEST(MemoryProfileTest, PartsSumToThePeakInsideOfLoops) {
  const auto [module, profile] = Profile(R"(HloModule m
condition { s = (s32[], f32[1000]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(7)
  ROOT more = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[1000]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[1000] get-tuple-element(s), index=1
  big = f32[5000] concatenate(x, x, x, x, x), dimensions={0}
  y = f32[1000] slice(big), slice={[0:1000]}
  ROOT t = (s32[], f32[1000]) tuple(next, y) }
ENTRY main {
  x = f32[1000] parameter(0)
  start = s32[] constant(0)
  s = (s32[], f32[1000]) tuple(start, x)
  l = (s32[], f32[1000]) while(s), condition=condition, body=body
  ROOT r = f32[1000] get-tuple-element(l), index=1 })");
  EXPECT_EQ(profile.peak_at->computation()->name(), "body");
  EXPECT_EQ(profile.peak_bytes, profile.parameter_bytes + profile.state_bytes + profile.activation_bytes +
                                    profile.workspace_bytes);
  EXPECT_GE(profile.workspace_bytes, 20000);
}

}  // namespace
}  // namespace toroid
