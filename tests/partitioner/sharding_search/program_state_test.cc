// BUILD: size = "small"
// Which results are the new values of which arguments.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/partitioner/sharding_search/models.h"
#include "tests/partitioner/sharding_search/searched_program.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Numbers of arguments and of results.
std::vector<std::pair<int, int>> StateNumbers(const std::string& text) {
  const SearchedProgram on = PrepareForSearch(text, "x=2");
  std::vector<std::pair<int, int>> numbers;
  for (const auto& [argument, output] : StateOf(*on.program)) {
    int from = -1, to = -1, n = 0;
    for (const Instruction* parameter : on.program->flat->entry()->parameters()) {
      for (const int t : on.program->graph->Leaves(*parameter)) {
        if (t == argument) from = n;
        ++n;
      }
    }
    const auto outputs = on.program->graph->outputs();
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] == output) to = static_cast<int>(i);
    }
    numbers.push_back({from, to});
  }
  return numbers;
}

TEST(ProgramStateTest, AStepReturnsItsStateInTheOrderOfItsFirstArguments) {
  EXPECT_THAT(StateNumbers(MlpStep(16, 8, 32)), ElementsAre(Pair(0, 0), Pair(1, 1)));
  EXPECT_THAT(StateNumbers(MlpStep(16, 8, 32, true)),
              ElementsAre(Pair(0, 0), Pair(1, 1), Pair(2, 2), Pair(3, 3)));
}

TEST(ProgramStateTest, ALossBeforeTheStateIsPassedOver) {
  EXPECT_THAT(StateNumbers(R"(
ENTRY main {
  w = f32[4,6] parameter(0)
  v = f32[6,2] parameter(1)
  x = f32[8,4] parameter(2)
  loss = f32[] constant(0)
  nw = f32[4,6] negate(w)
  nv = f32[6,2] negate(v)
  ROOT r = (f32[], f32[4,6], f32[6,2]) tuple(loss, nw, nv)
})"),
              ElementsAre(Pair(0, 1), Pair(1, 2)));
}

TEST(ProgramStateTest, WhatTheModuleSaysCountsMore) {
  EXPECT_THAT(StateNumbers(R"(
HloModule m, input_output_alias={ {0}: (1, {}, may-alias), {1}: (2, {1}, may-alias) }
ENTRY main {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  t = (f32[6], f32[4]) parameter(2)
  c = f32[4] get-tuple-element(t), index=1
  n = f32[4] negate(b)
  m = f32[4] add(a, c)
  ROOT r = (f32[4], f32[4]) tuple(n, m)
})"),
              ElementsAre(Pair(1, 0), Pair(3, 1)));
}

TEST(ProgramStateTest, ACacheBehindTheWeightsIsState) {
  const std::string decode = R"(
ENTRY main {
  w = f32[4,6] parameter(0)
  k = f32[8,4] parameter(1)
  v = f32[8,4] parameter(2)
  nk = f32[8,4] negate(k)
  nv = f32[8,4] negate(v)
  token = s32[] constant(0)
)";
  EXPECT_THAT(StateNumbers(decode + "  ROOT r = (f32[8,4], f32[8,4], s32[]) tuple(nk, nv, token) }"),
              ElementsAre(Pair(1, 0), Pair(2, 1)));
  EXPECT_THAT(StateNumbers(decode + "  ROOT r = (s32[], f32[8,4], f32[8,4]) tuple(token, nk, nv) }"),
              ElementsAre(Pair(1, 1), Pair(2, 2)));
  // One array may be like a result by chance.
  EXPECT_THAT(StateNumbers(decode + "  ROOT r = (f32[8,4], s32[]) tuple(nk, token) }"), IsEmpty());
}

TEST(ProgramStateTest, WhereShapesDifferThereIsNone) {
  EXPECT_THAT(StateNumbers(Layers(1, 64, 32) + " "), ElementsAre(Pair(0, 0)));
  EXPECT_THAT(StateNumbers(R"(
ENTRY main {
  x = f32[8,4] parameter(0)
  w = f32[4,6] parameter(1)
  ROOT y = f32[8,6] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})"),
              IsEmpty());
}

}  // namespace
}  // namespace toroid
