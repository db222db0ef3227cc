// BUILD: size = "small"
// Which arrays share memory, how long they are live, and the peak.
#include "hlo/analysis/peak_memory.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "hlo/analysis/buffers.h"
#include "hlo/analysis/liveness.h"
#include "hlo/analysis/memory_order.h"
#include "hlo/analysis/memory_steps.h"
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

// As Arrays, for the program as a compiler fuses and orders it.
int64_t CompiledArrays(absl::string_view body, absl::string_view others = "", absl::string_view header = "") {
  const int64_t bytes = ComputeCompiledPeakMemory(*Program(body, others, header)).bytes;
  EXPECT_LT(bytes % 4000, 100) << "scalars aside";
  return bytes / 4000;
}

TEST(CompiledPeakMemoryTest, CheapProducersAreMadeWhereTheyAreRead) {
  EXPECT_EQ(
      CompiledArrays(
          "x = f32[1000] parameter(0) s = f32[] constant(2) b = f32[1000] broadcast(s), dimensions={} "
          "i = f32[1000] iota(), iota_dimension=0 y = f32[1000] add(b, i) ROOT z = f32[1000] add(x, y)"),
      2);
  // By several consumers too.
  EXPECT_EQ(CompiledArrays("x = f32[1000] parameter(0) y = f32[1000] negate(x) a = f32[1000] sine(y) "
                           "b = f32[1000] cosine(y) ROOT t = (f32[1000], f32[1000]) tuple(a, b)"),
            3);
  EXPECT_EQ(
      CompiledArrays("x = f32[100,1000] parameter(0) y = f32[100,1000] multiply(x, x) z = f32[] constant(0) "
                     "ROOT r = f32[1000] reduce(y, z), dimensions={0}, to_apply=sum",
                     "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }"),
      101);
}

TEST(CompiledPeakMemoryTest, WhatIsExchangedLiesInMemory) {
  const char sum[] = "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }";
  EXPECT_EQ(CompiledArrays("x = f32[1000] parameter(0) y = f32[1000] negate(x) "
                           "g = f32[4000] all-gather(y), replica_groups={{0,1,2,3}}, dimensions={0} "
                           "ROOT z = f32[4000] negate(g)",
                           sum),
            6)
      << "x, y, and g in the memory of z";
  EXPECT_EQ(CompiledArrays("x = f32[1000] parameter(0) y = f32[1000] negate(x) "
                           "ROOT g = f32[1000] all-reduce(y), replica_groups={{0,1}}, to_apply=sum",
                           sum, ", input_output_alias={ {}: (0, {}, may-alias) }"),
            1)
      << "an all-reduce is in place";
}

TEST(CompiledPeakMemoryTest, AProductWritesItsEpilogue) {
  const std::string product =
      "a = f32[1000,10] parameter(0) b = f32[10,1000] parameter(1) "
      "p = f32[1000,1000] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} ";
  EXPECT_EQ(CompiledArrays(product + "c = bf16[1000,1000] convert(p) ROOT n = bf16[1000,1000] negate(c)"),
            520);
  // Both need the product.
  EXPECT_EQ(CompiledArrays(product + "c = f32[1000,1000] sine(p) n = f32[1000,1000] negate(p) "
                                     "ROOT t = (f32[1000,1000], f32[1000,1000]) tuple(c, n)"),
            2020)
      << "p lies in the memory of n";
  // A wider epilogue is made where it is read.
  EXPECT_EQ(
      CompiledArrays("a = bf16[1000,10] parameter(0) b = bf16[10,1000] parameter(1) "
                     "p = bf16[1000,1000] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} "
                     "c = f32[1000,1000] convert(p) z = f32[] constant(0) "
                     "r = f32[1000] reduce(c, z), dimensions={1}, to_apply=sum "
                     "d = f32[1000,1000] broadcast(r), dimensions={0} e = f32[1000,1000] subtract(c, d) "
                     "ROOT s = f32[1000] reduce(e, z), dimensions={0}, to_apply=sum",
                     "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }"),
      10 + 500 + 2);
}

TEST(CompiledPeakMemoryTest, ADonatedArrayIsChangedInPlaceBeforeAndAfterALoopThatReadsIt) {
  EXPECT_EQ(
      CompiledArrays(
          "x = f32[1000] parameter(0) a = f32[1000] logistic(x) z = s32[] constant(0) f = f32[] constant(0) "
          "t = (s32[], f32[], f32[1000]) tuple(z, f, a) "
          "w = (s32[], f32[], f32[1000]) while(t), condition=condition, body=body "
          "s = f32[] get-tuple-element(w), index=1 b = f32[1000] get-tuple-element(w), index=2 "
          "sb = f32[1000] broadcast(s), dimensions={} ROOT r = f32[1000] subtract(b, sb)",
          R"(
body {
  p = (s32[], f32[], f32[1000]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  s = f32[] get-tuple-element(p), index=1
  a = f32[1000] get-tuple-element(p), index=2
  d = f32[1] dynamic-slice(a, i), dynamic_slice_sizes={1}
  r = f32[] reshape(d)
  t = f32[] maximum(s, r)
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT o = (s32[], f32[], f32[1000]) tuple(j, t, a)
}
condition {
  p = (s32[], f32[], f32[1000]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(8)
  ROOT c = pred[] compare(i, n), direction=LT
})",
          ", input_output_alias={ {}: (0, {}, may-alias) }"),
      1);
}

TEST(CompiledPeakMemoryTest, DonatedArraysAreChangedInPlaceThroughCallsAndBranches) {
  const char bodies[] = R"(
twice { x = f32[1000] parameter(0) u = f32[1] parameter(1) i = s32[] parameter(2)
        ROOT d = f32[1000] dynamic-update-slice(x, u, i) }
sine { x = f32[1000] parameter(0) ROOT s = f32[1000] sine(x) }
as_it_is { ROOT x = f32[1000] parameter(0) }
turned { x = f32[1000] parameter(0) ROOT s = f32[1000] reverse(x), dimensions={0} })";
  const char donated[] = ", input_output_alias={ {}: (0, {}, may-alias) }";
  const std::string arguments =
      "x = f32[1000] parameter(0) u = f32[1] parameter(1) i = s32[] parameter(2) p = pred[] parameter(3) ";
  EXPECT_EQ(CompiledArrays(arguments + "ROOT c = f32[1000] call(x, u, i), to_apply=twice", bodies, donated),
            1);
  EXPECT_EQ(CompiledArrays(arguments + "ROOT c = f32[1000] call(x, u, i), to_apply=twice", bodies), 2);
  EXPECT_EQ(CompiledArrays(arguments + "ROOT c = f32[1000] conditional(p, x, x), true_computation=sine, "
                                       "false_computation=as_it_is",
                           bodies, donated),
            1);
  // One branch writes elsewhere.
  EXPECT_EQ(CompiledArrays(arguments + "ROOT c = f32[1000] conditional(p, x, x), true_computation=sine, "
                                       "false_computation=turned",
                           bodies, donated),
            2);
}

TEST(CompiledPeakMemoryTest, SeveralDonatedArraysAreUpdatedInPlace) {
  const std::string body =
      "w = f32[1000] parameter(0) m = f32[1000] parameter(1) g = f32[1000] parameter(2) h = f32[] constant(0.5) "
      "b = f32[1000] broadcast(h), dimensions={} a = f32[1000] multiply(m, b) n = f32[1000] add(a, g) "
      "s = f32[1000] multiply(n, b) v = f32[1000] subtract(w, s) ROOT t = (f32[1000], f32[1000]) tuple(v, n)";
  EXPECT_EQ(
      CompiledArrays(body, "", ", input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }"),
      3);
  EXPECT_EQ(CompiledArrays(body), 5);
}

TEST(CompiledPeakMemoryTest, ADonorThatNoResultFitsIntoStays) {
  const std::string body =
      "x = f32[2000] parameter(0) y = f32[1000] slice(x), slice={[0:1000]} s = f32[1000] sort(y), dimensions={0}, "
      "to_apply=less ROOT z = f32[1000] reverse(s), dimensions={0}";
  const char less[] =
      "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }";
  EXPECT_EQ(CompiledArrays(body, less, ", buffer_donor={ (0, {}) }"), CompiledArrays(body, less));
  // The second argument is as large as the result.
  const std::string two =
      "x = f32[1000] parameter(0) y = f32[1000] parameter(1) ROOT z = f32[1000] add(x, y)";
  EXPECT_EQ(CompiledArrays(two, "", ", buffer_donor={ (1, {}) }"), 2);
  EXPECT_EQ(CompiledArrays(two), 3);
}

TEST(CompiledPeakMemoryTest, ChainsThatAreWrittenSideBySideRunOneAfterTheOther) {
  std::string body = "x = f32[1000] parameter(0) ";
  for (int i = 0; i < 8; ++i)
    absl::StrAppend(&body, "s", i, " = f32[1000] sort(x), dimensions={0}, to_apply=less\n");
  for (int i = 0; i < 8; ++i)
    absl::StrAppend(&body, "c", i, " = f32[1] slice(s", i, "), slice={[", i, ":", i + 1, "]}\n");
  for (int i = 1; i < 8; ++i) {
    absl::StrAppend(&body, "a", i, " = f32[1] all-reduce(c", i, "), replica_groups={}, to_apply=sum\n");
  }
  absl::StrAppend(&body, "ROOT t = f32[8] concatenate(c0, a1, a2, a3, a4, a5, a6, a7), dimensions={0}");
  const char others[] = R"(
less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) })";
  EXPECT_EQ(Arrays(body, others), 9);
  EXPECT_EQ(CompiledArrays(body, others), 2) << "x and one that is sorted";
}

TEST(CompiledPeakMemoryTest, LoopsShareWhatTheyHandOnUnchanged) {
  // The argument stays, and is read by the loop where it lies.
  EXPECT_EQ(
      CompiledArrays("x = f32[1000] parameter(0) z = s32[] constant(0) t = (s32[], f32[1000]) tuple(z, x) "
                     "w = (s32[], f32[1000]) while(t), condition=condition, body=body "
                     "ROOT r = s32[] get-tuple-element(w), index=0",
                     R"(
sum { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }
body {
  s = (s32[], f32[1000]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[1000] get-tuple-element(s), index=1
  c = s32[1000] convert(x)
  z = s32[] constant(0)
  d = s32[] reduce(c, z), dimensions={0}, to_apply=sum
  j = s32[] add(i, d)
  ROOT t = (s32[], f32[1000]) tuple(j, x)
}
condition {
  s = (s32[], f32[1000]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(7)
  ROOT c = pred[] compare(i, n), direction=LT
})"),
      1);
}

TEST(CompiledPeakMemoryTest, NothingRunsBeforeTheBarrierItStandsBehind) {
  // Without the barrier n and c would not wait for a, and at most two arrays would be alive at a time.
  EXPECT_EQ(
      CompiledArrays(
          "x = f32[1000] parameter(0) a = f32[1000] sort(x), dimensions={0}, to_apply=less "
          "p = (f32[1000], f32[1000]) tuple(a, x) q = (f32[1000], f32[1000]) opt-barrier(p) "
          "y = f32[1000] get-tuple-element(q), index=1 n = f32[1000] negate(y) "
          "c = f32[1000] sort(n), dimensions={0}, to_apply=less z = f32[1] slice(c), slice={[0:1]} "
          "b = f32[1000] get-tuple-element(q), index=0 w = f32[1] slice(b), slice={[0:1]} "
          "ROOT t = (f32[1], f32[1]) tuple(w, z)",
          "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }"),
      3)
      << "x, a, and n: c is sorted behind the barrier, to which a is read";
}

TEST(CompiledPeakMemoryTest, AProgramThatOnlyHandsOnHoldsItsArguments) {
  EXPECT_EQ(CompiledArrays("ROOT x = f32[1000] parameter(0)"), 1);
  EXPECT_EQ(CompiledArrays("x = f32[1000] parameter(0) y = f32[2000] parameter(1) "
                           "ROOT t = (f32[2000], f32[1000]) tuple(y, x)"),
            3);
  EXPECT_EQ(CompiledArrays("x = f32[1000] parameter(0) ROOT y = f32[1000] opt-barrier(x)"), 1);
}

TEST(CompiledPeakMemoryTest, WhatIsLiveAtThePeakSumsUpToIt) {
  for (
      const char* body : {
          "ROOT x = f32[1000] parameter(0)",
          "x = f32[1000] parameter(0) c = s32[] constant(1) ROOT t = (f32[1000], s32[]) tuple(x, c)",
          "x = f32[1000] parameter(0) y = f32[1000] sort(x), dimensions={0}, to_apply=less "
          "z = f32[1000] reverse(y), dimensions={0} ROOT w = f32[1000] sort(z), dimensions={0}, to_apply=less",
      }) {
    const auto module = Program(
        body,
        "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }");
    const PeakMemory peak = ComputeCompiledPeakMemory(*module);
    int64_t sum = 0;
    for (const PeakMemory::Value& value : peak.live) sum += value.bytes;
    EXPECT_EQ(sum, peak.bytes) << body;
  }
}

TEST(CompiledPeakMemoryTest, SumsOfOneValueThatDoubleHundredTimesAreOneGroup) {
  std::string body = "x = f32[1000] parameter(0) y0 = f32[1000] add(x, x)\n";
  for (int i = 1; i <= 100; ++i)
    absl::StrAppend(&body, "y", i, " = f32[1000] add(y", i - 1, ", y", i - 1, ")\n");
  absl::StrAppend(
      &body,
      "a = f32[1000] sine(y100) b = f32[1000] cosine(y100) ROOT t = (f32[1000], f32[1000]) tuple(a, b)");
  EXPECT_EQ(CompiledArrays(body), 3) << "x; y100, by too many ops to be made twice, in the place of a; and b";
}

TEST(CompiledPeakMemoryTest, AValueInTheMemoryOfAResultTakesNoOther) {
  // s is written over the donated x, which r, in memory of its own, could take the place of as well.
  const char less[] =
      "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }";
  EXPECT_EQ(
      CompiledArrays(
          "x = f32[1000] parameter(0) y = f32[1000] parameter(1) s = f32[1000] sort(y), dimensions={0}, "
          "to_apply=less a = f32[1000] add(x, s) q = f32[1000] sort(a), dimensions={0}, to_apply=less "
          "r = f32[1000] add(q, q) ROOT t = (f32[1000], f32[1000]) tuple(q, r)",
          less, ", input_output_alias={ {0}: (0, {}, may-alias) }"),
      4)
      << "x, in which q lies at the end; y; r, in which s and a lie; and q beside a";
}

// Each step once, behind all steps that make what it reads.
TEST(MemoryOrderTest, ProducersComeBeforeTheirConsumersInEachOrder) {
  const auto module = Program(
      "x = f32[1000] parameter(0) k = token[] after-all() a = f32[1000] sort(x), dimensions={0}, to_apply=less "
      "b = f32[1000] reverse(a), dimensions={0} c = f32[1000] sort(b), dimensions={0}, to_apply=less "
      "d = f32[1000] sort(a), dimensions={0}, to_apply=less, control-predecessors={c} "
      "o = token[] outfeed(d, k), outfeed_shape=f32[1000] j = token[] after-all(k, o) "
      "p = token[] outfeed(c, j), outfeed_shape=f32[1000] ROOT r = f32[1000] add(c, d)",
      "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }");
  const MemorySpaces spaces(*module);
  const MemorySteps steps = StepsAsFused(*module->entry(), nullptr, {&spaces}, {});
  const auto orders = OrdersForMemory(*module->entry(), steps, {0, 0});
  EXPECT_GE(orders.size(), 4);
  for (const std::vector<int>& order : orders) {
    std::vector<std::string> names;
    for (const int step : order) names.push_back(steps.steps[step].op->name());
    const auto place = [&](absl::string_view name) {
      return std::find(names.begin(), names.end(), name) - names.begin();
    };
    EXPECT_THAT(names, ::testing::UnorderedElementsAre("k", "a", "b", "c", "d", "o", "j", "p", "r"));
    EXPECT_LT(place("a"), place("c"));
    EXPECT_LT(place("c"), place("d")) << "a control dependency";
    EXPECT_LT(place("o"), place("p")) << "tokens";
    EXPECT_LT(place("d"), place("r"));
  }
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
