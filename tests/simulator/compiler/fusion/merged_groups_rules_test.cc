// Which groups are made as one: rules found on layers and optimizers, each on a small program.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/simulator/compiler/lowered_programs.h"
#include "tests/tolerances.h"

namespace toroid {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

// Sizes of the tuples that fusions of the entry make, in order; 1 for those that make one array.
std::vector<size_t> ResultsOfFusions(absl::string_view entry) {
  const std::unique_ptr<Module> lowered = Lowered(*Parsed(entry));
  std::vector<size_t> results;
  for (const auto& op : lowered->entry()->instructions()) {
    if (op->opcode() != Opcode::kFusion) continue;
    results.push_back(op->shape().IsTuple() ? op->shape().tuple_shapes().size() : 1);
  }
  return results;
}

TEST(MergedGroupsRulesTest, AnUpdateGoesWithAveragesOfWhichOneReadsTheOther) {
  // It waits for a scalar made in the program, as its rate.
  EXPECT_THAT(
      ResultsOfFusions(
          R"( p = f32[64,256] parameter(0) g = f32[64,256] parameter(1) m = f32[64,256] parameter(2) v = f32[64,256] parameter(3)
    n = f32[] parameter(4)
    r = f32[] sqrt(n) rate = f32[] add(r, n)
    mean = f32[64,256] add(m, g)
    d = f32[64,256] subtract(g, mean)
    dd = f32[64,256] multiply(d, d)
    variance = f32[64,256] add(v, dd)
    root = f32[64,256] sqrt(variance)
    q = f32[64,256] divide(mean, root)
    by = f32[64,256] broadcast(rate), dimensions={}
    step = f32[64,256] multiply(q, by)
    new = f32[64,256] subtract(p, step)
    ROOT t = (f32[64,256], f32[64,256], f32[64,256], f32[]) tuple(new, mean, variance, rate) )"),
      ElementsAre(1, 3));
}

TEST(MergedGroupsRulesTest, ASumOfWhatWasRoundedThatIsRoundedAgainIsOneOfItsType) {
  const auto fusions = [](absl::string_view product) {
    return ResultsOfFusions(absl::StrCat(R"( x = bf16[64,256] parameter(0) y = bf16[64,256] parameter(1)
      f0 = f32[] constant(0) b0 = bf16[] constant(0)
      half = bf16[64,256] multiply(x, x)
      most = bf16[64] reduce(half, b0), dimensions={1}, to_apply=bmax )",
                                         product, R"(
      sums = f32[64] reduce(wide, f0), dimensions={1}, to_apply=sum
      total = bf16[64] convert(sums)
      ROOT t = (bf16[64], bf16[64]) tuple(most, total) )"));
  };
  EXPECT_THAT(fusions("xy = bf16[64,256] multiply(x, y) wide = f32[64,256] convert(xy)"), ElementsAre(2));
  EXPECT_THAT(fusions("x32 = f32[64,256] convert(x) wide = f32[64,256] multiply(x32, x32)"),
              ElementsAre(1, 1));
}

TEST(MergedGroupsRulesTest, SumsOverWhatWasFlattenedAreSumsOverAllItsDimensions) {
  // A dot product of matrices as vectors, and means over images.
  constexpr char kVectors[] = R"( x = f32[32,96] parameter(0) y = f32[32,96] parameter(1)
    a = f32[3072] reshape(x)
    e = f32[32,96] add(x, y)
    b = f32[3072] reshape(e)
    ROOT d = f32[] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0} )";
  constexpr char kImages[] = R"( x = f32[4,8,8,6] parameter(0)
    zero = f32[] constant(0)
    a = f32[4,384] reshape(x)
    m = f32[4,384] multiply(a, a)
    ROOT s = f32[4] reduce(m, zero), dimensions={1}, to_apply=sum )";
  EXPECT_THAT(ResultsOfFusions(kVectors), ElementsAre(1));
  EXPECT_THAT(Groups(kVectors), ElementsAre("reduce"));
  EXPECT_THAT(ResultsOfFusions(kImages), ElementsAre(1));
  ExpectSameValues(kVectors);
  ExpectSameValues(kImages);
  // The result keeps the dimension of feature groups, which the image before the reshape does not have.
  ExpectSameValues(R"( x = f32[4,8,6] parameter(0)
    zero = f32[] constant(0)
    a = f32[4,8,2,3] reshape(x)
    ROOT s = f32[4,2] reduce(a, zero), dimensions={1,3}, to_apply=sum )");
}

TEST(MergedGroupsRulesTest, OneOpOfTwoArraysIsWrittenWithItsFirstSum) {
  // Normed by their sums; what takes two ops is made again.
  const auto fusions = [](absl::string_view made) {
    return ResultsOfFusions(absl::StrCat(R"( x = f32[64,256] parameter(0) y = f32[64,256] parameter(1)
      zero = f32[] constant(0)
      xy = f32[64,256] add(x, y)
      z = )",
                                         made, R"(
      s = f32[64] reduce(z, zero), dimensions={1}, to_apply=sum
      spread = f32[64,256] broadcast(s), dimensions={0}
      ROOT d = f32[64,256] divide(z, spread) )"));
  };
  EXPECT_THAT(fusions("f32[64,256] add(x, y)"), ElementsAre(2, 1));
  EXPECT_THAT(fusions("f32[64,256] tanh(xy)"), ElementsAre(1, 1));
}

TEST(MergedGroupsRulesTest, WhatIsRepeatedInWholeTilesIsMadeWhereItIsRead) {
  // A value for each group of 8 features, with the batch along lanes. The copy is one of the result.
  EXPECT_EQ(Groups(R"( s = f32[256,32] parameter(0) w = f32[256] parameter(1)
    b = f32[256,32,8] broadcast(s), dimensions={0,1}
    r = f32[256,256] reshape(b)
    ws = f32[256,256] broadcast(w), dimensions={1}
    ROOT m = f32[256,256] multiply(r, ws) )")
                .size(),
            2u);
}

TEST(MergedGroupsRulesTest, WhatSeveralResultsNeedIsMadeOnceIfTheyRunTogetherHoweverLong) {
  // A hundred ops, which three groups apart would each do anew.
  std::string long_formula =
      " x = f32[256,512] parameter(0) y = f32[256,512] parameter(1) h0 = f32[256,512] add(x, y)";
  for (int i = 0; i < 100; ++i)
    absl::StrAppend(&long_formula, " h", i + 1, " = f32[256,512] ", i % 2 == 0 ? "multiply" : "add", "(h", i,
                    ", y)");
  const std::string together =
      long_formula +
      R"( a = f32[256,512] negate(h100) b = f32[256,512] add(h100, x) c = f32[256,512] multiply(h100, x)
    ROOT r = (f32[256,512], f32[256,512], f32[256,512]) tuple(a, b, c) )";
  EXPECT_THAT(Groups(together), ElementsAre("loop"));
  // A product reads it again and again.
  const std::string with_product =
      long_formula + R"( w = f32[512,64] parameter(2) a = f32[256,512] negate(h100)
    d = f32[256,64] dot(h100, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ROOT r = (f32[256,512], f32[256,64]) tuple(a, d) )";
  EXPECT_THAT(Groups(with_product), Contains("loop"));
}

TEST(MergedGroupsRulesTest, FewGroupsThatCanRunAsOneReadNothingThatIsWrittenForThem) {
  // A field is scaled by its length; another group reads each of both components.
  EXPECT_THAT(
      Groups(R"( x = f32[512,512] parameter(0) y = f32[512,512] parameter(1) u = f32[512,512] parameter(2)
    xu = f32[512,512] add(x, u) yu = f32[512,512] subtract(y, u)
    xx = f32[512,512] multiply(xu, xu) yy = f32[512,512] multiply(yu, yu) xy = f32[512,512] add(xx, yy) length = f32[512,512] sqrt(xy)
    px = f32[512,512] divide(xu, length) py = f32[512,512] divide(yu, length)
    a = f32[511,512] slice(px), slice={[1:512], [0:512]} b = f32[512,511] slice(py), slice={[0:512], [1:512]}
    ROOT r = (f32[512,512], f32[512,512], f32[511,512], f32[512,511]) tuple(px, py, a, b) )"),
      ElementsAre("loop", "loop", "loop"));
}

TEST(MergedGroupsRulesTest, APredicateOfWhichSeveralResultsAreMadeIsNotWritten) {
  constexpr char kProgram[] =
      R"( x = f32[64,256] parameter(0) y = f32[64,256] parameter(1) z = f32[64,256] parameter(2)
    xy = f32[64,256] multiply(x, y)
    p = pred[64,256] compare(xy, z), direction=LT
    a = f32[64,256] select(p, x, y)
    b = f32[64,256] select(p, y, z)
    c = f32[64,256] select(p, z, x)
    aa = f32[64,256] multiply(a, x)
    bb = f32[64,256] multiply(b, y)
    cc = f32[64,256] multiply(c, z)
    ROOT t = (f32[64,256], f32[64,256], f32[64,256]) tuple(aa, bb, cc) )";
  EXPECT_THAT(ResultsOfFusions(kProgram), ElementsAre(3));
  ExpectSameValues(kProgram);
}

// Microseconds as the compiler has them for f32[4096,2048].
TEST(MergedGroupsRulesTest, ALargestElementWithItsPlaceIsFoundWithTheLargestAloneAndNothingElse) {
  const auto program = [](int rows, int columns, absl::string_view results) {
    const std::string sizes = absl::StrCat("[", rows, ",", columns, "]"),
                      result = absl::StrCat("[", rows, "]");
    return absl::StrCat(" x = f32", sizes, " parameter(0) y = f32", sizes,
                        " parameter(1) low = f32[] constant(-inf) none = s32[] constant(0) n = s32", sizes,
                        " iota(), iota_dimension=1 xy = f32", sizes, " multiply(x, y) t = f32", sizes,
                        " tanh(xy) a = (f32", result, ", s32", result,
                        ") reduce(t, n, low, none), dimensions={1}, to_apply=largest p = s32", result,
                        " get-tuple-element(a), index=1 rows = f32", result,
                        " reduce(t, low), dimensions={1}, to_apply=max columns = f32[", columns,
                        "] reduce(t, low), dimensions={0}, to_apply=max ", results);
  };
  const auto both = [&](int rows, int columns) {
    return program(rows, columns, absl::StrCat("ROOT r = (s32[", rows, "], f32[", rows, "]) tuple(p, rows)"));
  };
  const auto all = [&](int rows, int columns) {
    return program(rows, columns,
                   absl::StrCat("ROOT r = (s32[", rows, "], f32[", rows, "], f32[", columns,
                                "]) tuple(p, rows, columns)"));
  };
  const auto written = [&](int rows, int columns) {
    return program(rows, columns,
                   absl::StrCat("ROOT r = (s32[", rows, "], f32[", rows, ",", columns, "]) tuple(p, t)"));
  };
  EXPECT_THAT(Microseconds(both(4096, 2048)), IsWithin(kTwoPercent, 241.1));
  EXPECT_THAT(Microseconds(all(4096, 2048)), IsWithin(kTwoPercent, 482.0));
  EXPECT_THAT(Microseconds(written(4096, 2048)), IsWithin(kFivePercent, 401.5));
  ExpectSameValues(both(6, 10));
  ExpectSameValues(all(6, 10));
  ExpectSameValues(written(6, 10));
}

}  // namespace
}  // namespace toroid
