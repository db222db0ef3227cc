#include "simulator/memory/memory_profile.h"

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// Each op that is no parameter takes 1 us.
absl::StatusOr<OpTime> OneMicrosecond(const Instruction& instruction) {
  return OpTime{
      instruction.opcode() == Opcode::kParameter || instruction.opcode() == Opcode::kTuple ? 0 : 1000000,
      false};
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
  MemoryProfile profile = ProfileMemory(**module, *schedule, FindSlots(**module), size);
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
  EXPECT_EQ(profile.bytes(MemoryClass::kState), 40000);       // w
  EXPECT_EQ(profile.bytes(MemoryClass::kParameter), 20000);   // b
  EXPECT_EQ(profile.bytes(MemoryClass::kActivation), 20000);  // h
  EXPECT_EQ(profile.bytes(MemoryClass::kWorkspace), 40000);   // u
  EXPECT_EQ(profile.peak_bytes, 120000);
  ASSERT_FALSE(profile.at_peak.empty());
  EXPECT_EQ(profile.at_peak[0].bytes, 40000);
}

TEST(MemoryProfileTest, StateThatNoProductReadsIsSlots) {
  // w -= v', v' = 0.9 v + gradient; n counts steps; x is the batch.
  constexpr char kMomentum[] =
      R"(HloModule m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias), {2}: (2, {}, may-alias) }
ENTRY main {
  w = f32[100,100] parameter(0)
  v = f32[100,100] parameter(1)
  n = s32[] parameter(2)
  x = f32[50,100] parameter(3)
  doubled = f32[100,100] add(w, w)
  y = f32[50,100] dot(x, doubled), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  g = f32[100,100] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  nu = f32[100,100] add(v, g)
  next = f32[100,100] subtract(w, nu)
  one = s32[] constant(1)
  n1 = s32[] add(n, one)
  ROOT t = (f32[100,100], f32[100,100], s32[]) tuple(next, nu, n1) })";
  auto module = ParseModule(kMomentum);
  ASSERT_OK(module.status());
  EXPECT_EQ(FindSlots(**module), std::vector<bool>({false, true, true, false}));
  const auto [same, profile] = Profile(kMomentum);
  EXPECT_EQ(profile.bytes(MemoryClass::kState), 40000);
  EXPECT_EQ(profile.bytes(MemoryClass::kSlot), 40004);
  EXPECT_EQ(profile.bytes(MemoryClass::kParameter), 20000);
}

TEST(MemoryProfileTest, AProgramWithoutProductsHasNoSlots) {
  auto module = ParseModule(
      "HloModule m, input_output_alias={ {}: (0, {}, may-alias) } ENTRY main { x = f32[10] "
      "parameter(0) ROOT y = f32[10] negate(x) }");
  ASSERT_OK(module.status());
  EXPECT_EQ(FindSlots(**module), std::vector<bool>({false}));
}

TEST(MemoryProfileTest, SamplesFollowTheScheduleAndReachThePeak) {
  const auto [module, profile] = Profile(kStep);
  ASSERT_FALSE(profile.samples.empty());
  int64_t most = 0, before = -1;
  for (const auto& sample : profile.samples) {
    EXPECT_GT(sample.start_ps, before);
    before = sample.start_ps;
    EXPECT_EQ(std::accumulate(sample.by_class.begin(), sample.by_class.end(), int64_t{0}), sample.bytes);
    // Parameters that the step does not overwrite take the same memory at all times.
    EXPECT_EQ(sample.by_class[static_cast<int>(MemoryClass::kParameter)], 20000);
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
  EXPECT_EQ(profile.peak_bytes,
            std::accumulate(profile.by_class.begin(), profile.by_class.end(), int64_t{0}));
  EXPECT_EQ(profile.bytes(MemoryClass::kWorkspace), 20000 + 4000 + 4);  // big, y and next.
}

}  // namespace
}  // namespace toroid
