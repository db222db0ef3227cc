// Partial sums with several users.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "hlo/analysis/program_statistics.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

// A program with a weight gradient g, partial over the batch, followed by the instructions `update`.
std::string Step(const std::string& update) {
  return absl::StrCat(R"(
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[16,8] parameter(0), sharding={devices=[$n,1]<=[$n]}
  dy = f32[16,6] parameter(1), sharding={devices=[$n,1]<=[$n]}
  w = f32[8,6] parameter(2), sharding={replicated}
  g = f32[8,6] dot(x, dy), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  z = f32[] constant(0)
  h = f32[] constant(0.5)
  half = f32[8,6] broadcast(h), dimensions={}
)",
                      update, "}");
}

// A square of a partial sum, and any product of two values computed from the same one, is linear in neither
// operand.
TEST(PartialSumsTest, AValueAndItsSquareShareOneReduction) {
  for (const char* product :
       {"sq = f32[8,6] multiply(g, g)", "k = f32[8,6] negate(g)  sq = f32[8,6] multiply(g, k)",
        "k = f32[8,6] multiply(g, half)  sq = f32[8,6] multiply(k, k)",
        "k = f32[8,6] multiply(half, g)  sq = f32[8,6] multiply(k, g)"}) {
    SCOPED_TRACE(product);
    const std::string text = Step(absl::StrCat("  step = f32[8,6] multiply(g, half)\n  ", product, R"(
  n = f32[] reduce(sq, z), dimensions={0,1}, to_apply=add
  nb = f32[8,6] broadcast(n), dimensions={}
  scaled = f32[8,6] multiply(step, nb)
  ROOT y = f32[8,6] subtract(w, scaled), sharding={replicated}
)"));
    ExpectEquivalent(text);
    EXPECT_THAT(Collectives(text, 4), ElementsAre("all-reduce 192"));
  }
}

TEST(PartialSumsTest, AnInnerProductWithItselfReducesTheVector) {
  const std::string text = Step(R"(
  k = f32[8,6] multiply(g, half)
  q = f32[] dot(g, k), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}
  qb = f32[8,6] broadcast(q), dimensions={}
  ROOT y = f32[8,6] add(w, qb), sharding={replicated}
)");
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 4), ElementsAre("all-reduce 192"));
}

// Without another user the sum stays partial until it has been reduced to a smaller array.
TEST(PartialSumsTest, AValueThatShrinksIsReducedBehind) {
  const std::string text = Step(R"(
  step = f32[8,6] multiply(g, half)
  s = f32[8] reduce(step, z), dimensions={1}, to_apply=add
  ROOT y = f32[8] negate(s), sharding={replicated}
)");
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 4), ElementsAre("all-reduce 32"));
}

// d is reduced for its other user, so adding d to a partial g saves nothing: g is reduced once, for k and for
// s.
TEST(PartialSumsTest, ATermBesideACompleteOneIsReducedForAllItsUsers) {
  const std::string text = Step(R"(
  k = f32[8,6] multiply(g, half)
  x2 = f32[16,8] parameter(3), sharding={devices=[$n,1]<=[$n]}
  d = f32[8,6] dot(x2, dy), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  s = f32[8,6] add(g, d)
  a = f32[8,6] abs(d)
  p = f32[8,6] add(k, w)
  ROOT y = (f32[8,6], f32[8,6], f32[8,6]) tuple(p, s, a), sharding={{replicated}, {replicated}, {replicated}}
)");
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 4), ElementsAre("all-reduce 192", "all-reduce 192"));
}

// If the sum over the columns were passed on, the devices along the columns could not share the next product.
TEST(PartialSumsTest, AProductIsNotRepeatedOverTheAxesOfASum) {
  const auto chain = [](int64_t size, const std::string& cut) {
    return absl::StrReplaceAll(R"(
ENTRY main {
  h = f32[$s,$s] parameter(0), sharding={$cut}
  a = f32[$s,$s] dot(h, h), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  b = f32[$s,$s] dot(a, h), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT q = f32[] dot(h, b), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}
})",
                               {{"$s", absl::StrCat(size)}, {"$cut", cut}});
  };
  for (const int64_t size : {4, 5, 7}) {
    ExpectEquivalent(chain(size, "devices=[4,4]<=[16]"), {}, {16});
    ExpectEquivalent(chain(size, "devices=[3,2]<=[6]"), {}, {6});
    ExpectEquivalent(chain(size, "devices=[2,2]<=[2,2]T(1,0)"), {}, {4});
  }
  // The same program as tests/corpus/wasteful/dot_chain_partial.hlo.
  PartitionOptions options;
  const std::unique_ptr<Module> module = ProgramFor(chain(1024, "devices=[4,4]<=[16]"), 16);
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*module, options));
  EXPECT_LE(ComputeStatistics(*partitioned.module).flops, 270e6);
  EXPECT_LE(SentBytes(*partitioned.module), 3932167);
}

}  // namespace
}  // namespace toroid
