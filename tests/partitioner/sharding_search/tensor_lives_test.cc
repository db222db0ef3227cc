// BUILD: size = "small"
// When tensors hold memory.
#include "partitioner/sharding_search/tensor_lives.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/analysis/peak_memory.h"
#include "tests/partitioner/sharding_search/models.h"
#include "tests/partitioner/sharding_search/searched_program.h"

namespace toroid {
namespace {

std::vector<TensorLife> LivesIn(const SearchedProgram& on) {
  return LivesOf(*on.program, ProgramSteps(on.base, on.memo.get()));
}

// The plan that cuts nothing.
Plan Whole(const SearchedProgram& on) {
  Plan plan = on.base;
  plan.ops.clear();
  for (Sharding& sharding : plan.shardings)
    sharding = Sharding::Replicated(static_cast<int>(sharding.dims.size()));
  return plan;
}

TEST(TensorLivesTest, ATensorLivesFromWhereItIsMadeToItsLastReader) {
  const SearchedProgram on = PrepareForSearch(R"(
ENTRY main {
  x = f32[64,64] parameter(0)
  w = f32[64,64] parameter(1)
  a = f32[64,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[64,64] dot(a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f32[64,64] dot(b, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT d = f32[64,64] dot(c, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
                                              "x=2");
  const std::vector<TensorLife> lives = LivesIn(on);
  const auto life = [&](const char* name) { return lives[on.TensorOf(name)]; };
  EXPECT_LT(life("a").begin, life("b").begin);
  EXPECT_GT(life("a").end, life("d").begin) << "its last reader";
  EXPECT_GT(life("b").end, life("c").begin);
  EXPECT_LE(life("b").end, life("d").begin);
  for (const char* argument : {"x", "w"}) {
    EXPECT_LE(life(argument).begin, life("a").begin);
    EXPECT_GE(life(argument).end, life("d").end) << "arguments stay to the end";
  }
}

TEST(TensorLivesTest, WhatIsFusedIntoItsReaderHoldsNothing) {
  const SearchedProgram on = PrepareForSearch(R"(
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[64,64] parameter(0)
  n = f32[64,64] negate(x)
  e = f32[64,64] multiply(n, n)
  z = f32[] constant(0)
  zs = f32[64,64] broadcast(z), dimensions={}
  m = f32[64,64] maximum(e, zs)
  ROOT r = f32[64] reduce(m, z), dimensions={1}, to_apply=add
})",
                                              "x=2");
  const std::vector<TensorLife> lives = LivesIn(on);
  for (const char* name : {"n", "e", "m", "zs", "z"})
    EXPECT_FALSE(lives[on.TensorOf(name)].is_written) << name;
  for (const char* name : {"x", "r"}) EXPECT_TRUE(lives[on.TensorOf(name)].is_written) << name;
}

TEST(TensorLivesTest, TheStateOfALoopLiesInOnePlace) {
  const SearchedProgram on = PrepareForSearch(R"(
body {
  s = (s32[], f32[64,64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[64,64] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  u = f32[64,64] dot(v, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[], f32[64,64]) tuple(j, u)
}
cond {
  s = (s32[], f32[64,64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(8)
  ROOT p = pred[] compare(i, n), direction=LT
}
ENTRY main {
  x = f32[64,64] parameter(0)
  w = f32[64,64] parameter(1)
  first = f32[64,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  zero = s32[] constant(0)
  init = (s32[], f32[64,64]) tuple(zero, first)
  loop = (s32[], f32[64,64]) while(init), body=body, condition=cond
  ROOT out = f32[64,64] get-tuple-element(loop), index=1
})",
                                              "x=2");
  // Two arguments, the state, and the product in the body that becomes the next state.
  const int64_t peak = PeakOfPlan(*on.program, LivesIn(on), Whole(on));
  constexpr int64_t kArray = 64 * 64 * 4;
  EXPECT_GE(peak, 4 * kArray);
  EXPECT_LT(peak, 5 * kArray);
}

TEST(TensorLivesTest, TheNewStateOfADonatedArgumentTakesItsPlace) {
  const char* text = R"(
ENTRY main {
  w = f32[64,64] parameter(0)
  g = f32[64,64] parameter(1)
  ROOT n = f32[64,64] subtract(w, g)
})";
  const SearchedProgram apart = PrepareForSearch(absl::StrCat("HloModule m\n", text), "x=2");
  const SearchedProgram donated = PrepareForSearch(
      absl::StrCat("HloModule m, input_output_alias={ {}: (0, {}, may-alias) }\n", text), "x=2");
  constexpr int64_t kArray = 64 * 64 * 4;
  EXPECT_EQ(PeakOfPlan(*apart.program, LivesIn(apart), Whole(apart)), 3 * kArray);
  EXPECT_EQ(PeakOfPlan(*donated.program, LivesIn(donated), Whole(donated)), 2 * kArray);
}

TEST(TensorLivesTest, ArraysInTheMemoryOfTheHostHoldNothing) {
  const SearchedProgram on = PrepareForSearch(R"(
ENTRY main {
  x = f32[64,64] parameter(0)
  h = f32[64,64] custom-call(x), custom_call_target="MoveToHost"
  d = f32[64,64] custom-call(h), custom_call_target="MoveToDevice"
  ROOT y = f32[64,64] dot(d, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
                                              "x=2");
  const std::vector<TensorLife> lives = LivesIn(on);
  EXPECT_FALSE(lives[on.TensorOf("h")].is_written);
  EXPECT_TRUE(lives[on.TensorOf("y")].is_written);
}

TEST(TensorLivesTest, ACutHalvesWhatIsCut) {
  const SearchedProgram on = PrepareForSearch(Layers(3, 64, 64), "x=2");
  Plan cut = Whole(on);
  const std::vector<TensorLife> lives = LivesIn(on);
  const int64_t whole = PeakOfPlan(*on.program, lives, cut);
  for (int i = 0; i < 3; ++i) {
    for (const char* name : {"wq", "wk", "wo"})
      cut.shardings[on.TensorOf(absl::StrCat(name, i))].dims[0] = on.space.units[0];
  }
  EXPECT_EQ(PeakOfPlan(*on.program, lives, cut), whole - 9 * 64 * 64 * 4 / 2);
}

// Nothing is cut. What differs is which steps a compiler finds room for in place, at most two activations here.
TEST(TensorLivesTest, ThePeakOfWholeArraysIsThatOfTheCompiledProgram) {
  for (const std::string& text : {Layers(4, 64, 32), MlpStep(64, 32, 128), MlpStep(64, 32, 128, true)}) {
    const SearchedProgram on = PrepareForSearch(text, "x=2");
    const double peak = static_cast<double>(PeakOfPlan(*on.program, LivesIn(on), Whole(on)));
    const double compiled = static_cast<double>(ComputeCompiledPeakMemory(*on.module).bytes);
    EXPECT_NEAR(peak / compiled, 1, 0.25) << text;
  }
}

}  // namespace
}  // namespace toroid
