// BUILD: size = "small"
// The domains in which generated arguments must be.
#include "runtime/arguments/argument_domains.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/arguments/random_arguments.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST(ArgumentDomainsTest, RootsLogarithmsAndDivisionsAskForPositiveValues) {
  const auto module = MakeModule(
      "a = f32[4] parameter(0) b = f32[4] parameter(1) c = f32[4] parameter(2) d = f32[4] parameter(3) "
      "s = f32[4] sqrt(a) l = f32[4] log(b) q = f32[4] divide(d, c) "
      "ROOT t = (f32[4], f32[4], f32[4]) tuple(s, l, q)");
  EXPECT_THAT(ArgumentDomains(*module), ElementsAre(ElementsAre(kPositive), ElementsAre(kPositive),
                                                    ElementsAre(kPositive), ElementsAre(kAnyValue)));
}

// Adam: m / (sqrt(v' / (1 - 0.9^t)) + eps), v' = 0.9 v + 0.1 g^2.
constexpr char kAdam[] =
    "v = f32[4] parameter(0) g = f32[4] parameter(1) n = s32[] parameter(2) "
    "b = f32[] constant(0.9) bs = f32[4] broadcast(b), dimensions={} c = f32[] constant(0.1) "
    "cs = f32[4] broadcast(c), dimensions={} g2 = f32[4] multiply(g, g) x = f32[4] multiply(bs, v) "
    "y = f32[4] multiply(cs, g2) w = f32[4] add(x, y) f = f32[] convert(n) p = f32[] power(b, f) "
    "one = f32[] constant(1) k = f32[] subtract(one, p) ks = f32[4] broadcast(k), dimensions={} "
    "h = f32[4] divide(w, ks) r = f32[4] sqrt(h) e = f32[] constant(1e-8) "
    "es = f32[4] broadcast(e), dimensions={} d = f32[4] add(r, es) ROOT u = f32[4] divide(g, d)";

TEST(ArgumentDomainsTest, TheSecondMomentOfAdamIsPositiveAndItsCountBeginsAtOne) {
  const auto module = MakeModule(kAdam);
  const auto domains = ArgumentDomains(*module);
  EXPECT_THAT(domains[0], ElementsAre(kPositive));
  EXPECT_THAT(domains[1], ElementsAre(kAnyValue));
  EXPECT_THAT(domains[2], ElementsAre(kPositive));
  std::vector<Shape> shapes;
  for (const Instruction* parameter : module->entry()->parameters()) shapes.push_back(parameter->shape());
  for (uint64_t seed = 0; seed < 20; ++seed) {
    ASSERT_OK_AND_ASSIGN(const Literal result, RunSingle(*module, RandomLiterals(shapes, 8, seed, domains)));
    for (const float x : result.data<float>()) EXPECT_TRUE(std::isfinite(x));
  }
}

TEST(ArgumentDomainsTest, TuplesLoopsAndCallsAreFollowed) {
  const auto module = MakeModule(
      "p = (s32[], f32[2]) parameter(0) w = (s32[], f32[2]) while(p), condition=go, body=step "
      "ROOT x = f32[2] get-tuple-element(w), index=1",
      "root { x = f32[2] parameter(0) ROOT y = f32[2] sqrt(x) }\n"
      "step { s = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(s), index=0 "
      "x = f32[2] get-tuple-element(s), index=1 y = f32[2] call(x), to_apply=root "
      "ROOT t = (s32[], f32[2]) tuple(i, y) }\n"
      "go { s = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(s), index=0 z = s32[] constant(0) "
      "ROOT p = pred[] compare(i, z), direction=GT }\n");
  EXPECT_THAT(ArgumentDomains(*module), ElementsAre(ElementsAre(kAnyValue, kPositive)));
}

TEST(ArgumentDomainsTest, SignsTurnWithNegationAndNegativeConstants) {
  const auto module = MakeModule(
      "a = f32[] parameter(0) b = f32[] parameter(1) n = f32[] negate(a) s = f32[] sqrt(n) "
      "m = f32[] constant(-2) p = f32[] multiply(b, m) l = f32[] log(p) ROOT t = (f32[], f32[]) tuple(s, l)");
  EXPECT_THAT(ArgumentDomains(*module), ElementsAre(ElementsAre(kNegative), ElementsAre(kNegative)));
}

TEST(ArgumentDomainsTest, SquaresAndExponentialsArePositiveAnyway) {
  const auto module = MakeModule(
      "a = f32[] parameter(0) b = f32[] parameter(1) q = f32[] multiply(a, a) s = f32[] sqrt(q) "
      "e = f32[] exponential(b) d = f32[] divide(s, e) ROOT r = f32[] add(d, d)");
  EXPECT_THAT(ArgumentDomains(*module), Each(ElementsAre(kAnyValue)));
}

TEST(ArgumentDomainsTest, MatricesToFactorAreSymmetricWithALargeDiagonal) {
  const auto module = MakeModule("a = f64[2,5,5] parameter(0) ROOT l = f64[2,5,5] cholesky(a), lower=true");
  const auto domains = ArgumentDomains(*module);
  EXPECT_THAT(domains, ElementsAre(ElementsAre(kPositiveDefinite)));
  ASSERT_OK_AND_ASSIGN(
      const Literal result,
      RunSingle(*module, RandomLiterals({module->entry()->parameter(0)->shape()}, 8, 1, domains)));
  for (const double x : result.data<double>()) EXPECT_TRUE(std::isfinite(x));
}

}  // namespace
}  // namespace toroid
