// BUILD: size = "small"
// Which arrays share memory, how long they are live, and the peak.
#include "hlo/analysis/peak_memory.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "hlo/analysis/buffers.h"
#include "hlo/analysis/liveness.h"
#include "hlo/io/hlo_text.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<Module> Program(absl::string_view body, absl::string_view others = "",
                                absl::string_view header = "") {
  auto module = ParseModule(absl::StrCat("HloModule m", header, "\n", others, "\nENTRY main {", body, "}"));
  EXPECT_OK(module.status());
  return *std::move(module);
}

// In units of f32[1000], 4 kB.
int64_t Arrays(absl::string_view body, absl::string_view others = "", absl::string_view header = "") {
  const int64_t bytes = ComputePeakMemory(*Program(body, others, header)).bytes;
  EXPECT_LT(bytes % 4000, 100) << "scalars aside";
  return bytes / 4000;
}

TEST(PeakMemoryTest, ElementwiseResultsTakeThePlaceOfWhatDies) {
  EXPECT_EQ(Arrays("x = f32[1000] parameter(0) y = f32[1000] negate(x) ROOT z = f32[1000] sine(y)"), 2);
  EXPECT_EQ(Arrays("x = f32[1000] parameter(0) y = f32[1000] negate(x) z = f32[1000] sine(y) "
                   "ROOT w = f32[1000] add(y, z)"),
            3);
  // A result of another size, or one that does not read its place's elements first, needs its own buffer.
  EXPECT_EQ(
      Arrays(
          "x = f32[1000] parameter(0) y = f32[1000] negate(x) ROOT z = f32[1000] reverse(y), dimensions={0}"),
      3);
}

TEST(PeakMemoryTest, NamesTakeNoMemory) {
  EXPECT_EQ(
      Arrays("x = f32[1000] parameter(0) y = f32[1000] negate(x) t = (f32[1000], f32[1000]) tuple(x, y) "
             "b = (f32[1000], f32[1000]) opt-barrier(t) ROOT e = f32[1000] get-tuple-element(b), index=1"),
      2);
  // Adding and dropping unit dimensions is in place; other reshapes move the array.
  EXPECT_EQ(Arrays("x = f32[1000] parameter(0) y = f32[1000] negate(x) a = f32[1,1000,1] reshape(y) "
                   "b = f32[1,1000,1] sine(a) ROOT c = f32[1000,1] reshape(b)"),
            2);
  EXPECT_EQ(Arrays("x = f32[1000] parameter(0) y = f32[10,100] reshape(x) ROOT z = f32[10,100] add(y, y)"),
            2);
  // A tuple does not keep an unused element alive.
  EXPECT_EQ(Arrays("x = f32[1000] parameter(0) y = f32[1000] negate(x) z = f32[1000] sine(x) "
                   "t = (f32[1000], f32[1000]) tuple(y, z) e = f32[1000] get-tuple-element(t), index=0 "
                   "f = f32[1000] reverse(e), dimensions={0} g = f32[1000] reverse(f), dimensions={0} "
                   "ROOT h = f32[1000] reverse(g), dimensions={0}"),
            3);
}

TEST(PeakMemoryTest, ParametersStayUnlessTheyAreDonated) {
  const std::string body = "x = f32[1000] parameter(0) ROOT y = f32[1000] negate(x)";
  EXPECT_EQ(Arrays(body), 2);
  EXPECT_EQ(Arrays(body, "", ", input_output_alias={ {}: (0, {}, may-alias) }"), 1);
  EXPECT_EQ(Arrays(body, "", ", buffer_donor={ (0, {}) }"), 1);
}

TEST(PeakMemoryTest, UpdatesAreMadeInPlaceWhereTheOldValueDies) {
  const std::string begin =
      "x = f32[1000] parameter(0) u = f32[1] parameter(1) i = s32[] parameter(2) y = f32[1000] negate(x) ";
  EXPECT_EQ(Arrays(begin + "ROOT d = f32[1000] dynamic-update-slice(y, u, i)"), 2);
  EXPECT_EQ(Arrays(begin + "d = f32[1000] dynamic-update-slice(y, u, i) ROOT s = f32[1000] add(y, d)"), 3);
}

const char kLoop[] = R"(
body {
  s = (s32[], f32[1000]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[1000] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[1000] reverse(x), dimensions={0}
  z = f32[1000] reverse(y), dimensions={0}
  ROOT t = (s32[], f32[1000]) tuple(j, z)
}
condition {
  s = (s32[], f32[1000]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(7)
  ROOT c = pred[] compare(i, n), direction=LT
})";

TEST(PeakMemoryTest, TheStateOfALoopCountsOnce) {
  // x, the state in y's buffer, and the body's own values: y and z.
  EXPECT_EQ(
      Arrays(
          "x = f32[1000] parameter(0) y = f32[1000] negate(x) z = s32[] constant(0) "
          "t = (s32[], f32[1000]) tuple(z, y) w = (s32[], f32[1000]) while(t), condition=condition, body=body "
          "ROOT r = f32[1000] get-tuple-element(w), index=1",
          kLoop),
      4);
}

TEST(PeakMemoryTest, OfBranchesTheLargestCountsAndItsResultOnce) {
  const char branches[] = R"(
big {
  x = f32[1000] parameter(0)
  a = f32[1000] reverse(x), dimensions={0}
  b = f32[1000] reverse(a), dimensions={0}
  ROOT c = f32[1000] add(a, b)
}
small { ROOT x = f32[1000] parameter(0) })";
  EXPECT_EQ(
      Arrays("p = pred[] parameter(0) x = f32[1000] parameter(1) ROOT c = f32[1000] conditional(p, x, x), "
             "true_computation=big, false_computation=small",
             branches),
      3);
}

TEST(PeakMemoryTest, TheInsideOfAFusionStaysInRegisters) {
  const char fused[] = R"(
fused {
  x = f32[1000] parameter(0)
  a = f32[1000] reverse(x), dimensions={0}
  b = f32[1000] reverse(a), dimensions={0}
  ROOT c = f32[1000] add(a, b)
})";
  EXPECT_EQ(Arrays("x = f32[1000] parameter(0) ROOT f = f32[1000] fusion(x), kind=kLoop, calls=fused", fused),
            2);
}

TEST(PeakMemoryTest, WhatWaitsForAStartHoldsNothingOfItsOwn) {
  EXPECT_EQ(Arrays("x = f32[1000] parameter(0) s = (f32[1000], f32[1000]) collective-permute-start(x), "
                   "source_target_pairs={{0,1}} ROOT d = f32[1000] collective-permute-done(s)"),
            2);
  EXPECT_EQ(Arrays("x = f32[1000] parameter(0) s = (f32[1000], f32[1000], u32[]) copy-start(x) "
                   "ROOT d = f32[1000] copy-done(s)"),
            2);
}

TEST(PeakMemoryTest, ItSaysWhereAndWhatIsHeld) {
  const auto module = Program(
      "x = f32[1000] parameter(0) y = s32[] constant(0) t = (s32[], f32[1000]) tuple(y, x) "
      "w = (s32[], f32[1000]) while(t), condition=condition, body=body ROOT r = f32[1000] get-tuple-element(w), index=1",
      kLoop);
  const PeakMemory peak = ComputePeakMemory(*module);
  ASSERT_NE(peak.at, nullptr);
  EXPECT_EQ(peak.at->computation()->name(), "body");
  int64_t sum = 0;
  for (const PeakMemory::Value& value : peak.live) sum += value.bytes;
  EXPECT_EQ(sum, peak.bytes);
  EXPECT_EQ(peak.live[0].bytes, 4000);
}

TEST(PeakMemoryTest, MemoryWhileRunningReachesThePeakAndNotMore) {
  const auto module = Program(
      "x = f32[1000] parameter(0) y = f32[2000] concatenate(x, x), dimensions={0} z = f32[1000] slice(y), "
      "slice={[0:1000]} ROOT w = f32[1000] negate(z)");
  std::vector<int64_t> during;
  for (const HeldMemory& held : MemoryWhileRunning(*module)) during.push_back(held.bytes);
  EXPECT_THAT(during, ElementsAre(4000, 12000, 16000, 8000));
  EXPECT_EQ(ComputePeakMemory(*module).bytes, 16000);
  const ArraySize padded = [](const Shape& array) { return array.ByteSize() + 96; };
  EXPECT_EQ(ComputePeakMemory(*module, &padded).bytes, 16000 + 3 * 96);
}

TEST(PeakMemoryTest, WhatStaysAndWhatPassesAreToldApartByKind) {
  const auto module = Program(
      "x = f32[1000] parameter(0) y = f32[2000] concatenate(x, x), dimensions={0} n = f32[2000] negate(y) z = f32[1000] "
      "slice(n), slice={[0:1000]} ROOT w = f32[1000] negate(z)");
  const auto held = MemoryWhileRunning(*module, nullptr, [](const Buffer& buffer) {
    return buffer.maker->opcode() == Opcode::kParameter ? 1 : 2;
  });
  ASSERT_EQ(held.size(), 5);
  for (const HeldMemory& at : held) {
    EXPECT_EQ(at.stays[1], 4000);
    EXPECT_EQ(at.passes[1], 0);
    EXPECT_EQ(at.stays[2], 0);
    EXPECT_EQ(at.bytes, 4000 + at.passes[2]);
  }
  EXPECT_EQ(held[2].passes[2], 8000) << "the result takes the operand's place";
  EXPECT_EQ(held[3].passes[2], 12000);
}

TEST(BuffersTest, TuplesAndTheirElementsNameOneBuffer) {
  const auto module = Program(
      "a = f32[2] parameter(0) b = f32[3] parameter(1) t = (f32[2], f32[3]) tuple(a, b) "
      "ROOT c = f32[3] get-tuple-element(t), index=1");
  const Buffers buffers(*module->entry());
  EXPECT_EQ(buffers.size(), 2);
  EXPECT_THAT(buffers.Of(*module->entry()->instruction(2)), ElementsAre(0, 1));
  EXPECT_THAT(buffers.Of(*module->entry()->root()), ElementsAre(1));
}

TEST(LivenessTest, SideEffectsAreNeededAndSoIsWhatTheyTake) {
  const auto module = Program(
      "x = f32[2] parameter(0) y = f32[2] negate(x) k = token[] after-all() o = token[] outfeed(y, k), "
      "outfeed_shape=f32[2] d = f32[2] sine(x) s = f32[2] all-reduce(x), replica_groups={}, to_apply=add "
      "w = f32[2] call(x), to_apply=quiet v = f32[2] call(x), to_apply=loud ROOT r = f32[2] cosine(x)",
      R"(
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
quiet { ROOT a = f32[2] parameter(0) }
loud { a = f32[2] parameter(0) ROOT c = f32[2] custom-call(a), custom_call_target="f", custom_call_has_side_effect=true }
)");
  const SideEffects side_effects(*module);
  const std::vector<bool> needed = NeededInstructions(*module->entry(), side_effects);
  //                                x     y     k     o     d      s      w      v     r
  EXPECT_THAT(needed, ElementsAre(true, true, true, true, false, false, false, true, true));
  EXPECT_THAT(LastUses(*module->entry(), needed), ElementsAre(8, 3, 3, -1, -1, -1, -1, -1, -1));
}

}  // namespace
}  // namespace toroid
