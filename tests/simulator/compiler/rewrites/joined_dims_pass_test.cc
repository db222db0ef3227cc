// Ops on pieces of the lanes compute the same values on whole lanes; then sums are cut into pieces instead of arrays.
#include "simulator/compiler/rewrites/joined_dims_pass.h"

#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/simulator/compiler/lowered_programs.h"

namespace toroid {
namespace {

// Reshapes of as many elements that move some, in fusions too.
int LargeReshapes(absl::string_view entry, int64_t elements) {
  const std::unique_ptr<Module> lowered = Lowered(*Parsed(entry));
  int count = 0;
  for (const auto& computation : lowered->computations()) {
    for (const auto& op : computation->instructions()) {
      count += op->opcode() == Opcode::kReshape && op->shape().NumElements() == elements;
    }
  }
  return count;
}

// x in groups of its last dimension, less the sum over `dims`, `spread` of which are kept.
std::string LessSum(absl::string_view dims, absl::string_view sum, absl::string_view spread) {
  return absl::StrCat(R"( x = f32[4,6,10,12] parameter(0)
    zero = f32[] constant(0)
    y = f32[4,6,10,4,3] reshape(x)
    s = )",
                      sum, " reduce(y, zero), dimensions={", dims, R"(}, to_apply=sum
    b = f32[4,6,10,4,3] broadcast(s), dimensions={)",
                      spread, R"(}
    d = f32[4,6,10,4,3] subtract(y, b)
    q = f32[4,6,10,4,3] multiply(d, d)
    ROOT r = f32[4,6,10,12] reshape(q) )");
}

TEST(JoinedDimsTest, SumsOfGroupsOfFeaturesAreCutThemselves) {
  for (const auto& [dims, sum, spread] :
       {std::array{"1,2,4", "f32[4,4]", "0,3"}, std::array{"1,2,3", "f32[4,3]", "0,4"},
        std::array{"0,1,2,4", "f32[4]", "3"}, std::array{"1,2,3,4", "f32[4]", "0"},
        std::array{"1,2", "f32[4,4,3]", "0,3,4"}, std::array{"3,4", "f32[4,6,10]", "0,1,2"}}) {
    const std::string program = LessSum(dims, sum, spread);
    ExpectSameValues(program);
    EXPECT_EQ(LargeReshapes(program, 4 * 6 * 10 * 12), 0) << program;
  }
}

TEST(JoinedDimsTest, ASumOfPiecesAloneNeedsTheArrayCut) {
  const std::string program = LessSum("4", "f32[4,6,10,4]", "0,1,2,3");
  ExpectSameValues(program);
  EXPECT_GT(LargeReshapes(program, 4 * 6 * 10 * 12), 0);
}

TEST(JoinedDimsTest, OtherDimensionsMayBeMergedWhileOneIsCut) {
  ExpectSameValues(R"( x = f32[4,6,10,12] parameter(0) g = f32[4,60,4] parameter(1)
    zero = f32[] constant(0)
    y = f32[4,60,4,3] reshape(x)
    s = f32[4,4] reduce(y, zero), dimensions={1,3}, to_apply=sum
    b = f32[4,60,4,3] broadcast(s), dimensions={0,2}
    d = f32[4,60,4,3] add(y, b)
    m = f32[4,4,3] reduce(d, zero), dimensions={1}, to_apply=sum
    r = f32[4,6,10,12] reshape(d)
    ROOT t = (f32[4,6,10,12], f32[4,4,3], f32[4,60,4,3]) tuple(r, m, d) )");
}

TEST(JoinedDimsTest, SumsThatDoNotBeginWithZeroAndOtherReadersStay) {
  ExpectSameValues(R"( x = f32[6,10,12] parameter(0)
    one = f32[] constant(1)
    y = f32[6,10,4,3] reshape(x)
    n = f32[6,10,4,3] negate(y)
    s = f32[4] reduce(n, one), dimensions={0,1,3}, to_apply=sum
    t = f32[6,4,10,3] transpose(n), dimensions={0,2,1,3}
    r = f32[6,10,12] reshape(n)
    ROOT a = (f32[4], f32[6,4,10,3], f32[6,10,12]) tuple(s, t, r) )");
}

TEST(JoinedDimsTest, WhatIsComputedOnHeadsIsComputedBeforeTheyAreCut) {
  const char* program = R"( x = f32[128,256] parameter(0)
    two = f32[] constant(2)
    y = f32[128,4,64] reshape(x)
    b = f32[128,4,64] broadcast(two), dimensions={}
    ROOT r = f32[128,4,64] multiply(y, b) )";
  ExpectSameValues(program);
  EXPECT_EQ(Groups(program).front(), "loop");
}

TEST(JoinedDimsTest, PiecesOfWholeTilesThatArePutTogetherAgainAreWorkedOnTogether) {
  // A scale for each 128: spread and written tile by tile; one multiplication.
  const char* program = R"( x = f32[64,512] parameter(0)
    s = f32[64,4] parameter(1)
    y = f32[64,4,128] reshape(x)
    b = f32[64,4,128] broadcast(s), dimensions={0,1}
    m = f32[64,4,128] multiply(y, b)
    ROOT r = f32[64,512] reshape(m) )";
  ExpectSameValues(program);
  EXPECT_EQ(Groups(program).size(), 3u);  // s as rows; what it is spread to; the product.
  // A result in pieces is computed in pieces.
  const char* cut = R"( x = f32[64,512] parameter(0)
    s = f32[64,4] parameter(1)
    y = f32[64,4,128] reshape(x)
    b = f32[64,4,128] broadcast(s), dimensions={0,1}
    ROOT m = f32[64,4,128] multiply(y, b) )";
  ExpectSameValues(cut);
  const std::unique_ptr<Module> lowered = Lowered(*Parsed(cut));
  EXPECT_EQ(lowered->entry()->root()->shape().rank(), 3);
}

}  // namespace
}  // namespace toroid
