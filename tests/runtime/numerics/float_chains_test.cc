// BUILD: size = "small"
// Chains of bf16 arithmetic kept in f32.
#include "runtime/numerics/float_chains.h"

#include <string>

#include "gtest/gtest.h"
#include "hlo/ops/verify_module.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

std::string Kept(const std::string& body, const std::string& computations = "") {
  const auto module = MakeModule(body, computations);
  EXPECT_TRUE(HasBf16(*module));
  const auto kept = KeepChainsInF32(*module);
  if (!kept.ok()) return kept.status().ToString();
  EXPECT_OK(VerifyModule(**kept));
  const absl::StatusOr<Literal> result = RunSingle(**kept, {});
  return result.ok() ? result->shape().ToString() + " " + ToText(*result) : result.status().ToString();
}

// 256 + 1 is no bf16, 256 + 1 + 1 is.
constexpr char kSum[] =
    "a = bf16[] constant(256) b = bf16[] constant(1) c = bf16[] add(a, b) d = bf16[] add(c, b) ";

TEST(FloatChainsTest, ElementwiseOpsRoundAtTheEndOfTheirChain) {
  EXPECT_EQ(Evaluate(std::string(kSum) + "ROOT r = bf16[] copy(d)"), "256");
  EXPECT_EQ(Kept(std::string(kSum) + "ROOT r = bf16[] copy(d)"), "bf16[] 258");
}

TEST(FloatChainsTest, ConversionsBetweenTheTypesVanish) {
  EXPECT_EQ(Kept("a = f32[] constant(257) b = bf16[] convert(a) ROOT c = f32[] convert(b)"), "f32[] 257");
  EXPECT_EQ(Kept(std::string(kSum) + "ROOT r = f32[] convert(c)"), "f32[] 257");
}

TEST(FloatChainsTest, OtherOpsReadRoundedValues) {
  EXPECT_EQ(Kept(std::string(kSum) + "e = bf16[2] broadcast(c), dimensions={} ROOT r = f32[2] convert(e)"),
            "f32[2] {256, 256}");
}

TEST(FloatChainsTest, ReductionsAndDotsArePartOfChains) {
  EXPECT_EQ(Kept("x = bf16[3] constant({256, 1, 1}) z = bf16[] constant(0) "
                 "s = bf16[] reduce(x, z), dimensions={0}, to_apply=add m = bf16[] constant(-1) "
                 "ROOT r = bf16[] add(s, m)",
                 ReducerText("add", "bf16", "add")),
            "bf16[] 256");
  EXPECT_EQ(Kept("x = bf16[2] constant({256, 1}) y = bf16[2] constant({1, 1}) "
                 "d = bf16[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0} "
                 "ROOT r = f32[] convert(d)"),
            "f32[] 257");
}

TEST(FloatChainsTest, ComparisonsSeeWhatIsNotRounded) {
  EXPECT_EQ(Kept(std::string(kSum) + "ROOT r = pred[] compare(c, a), direction=GT"), "pred[] true");
}

}  // namespace
}  // namespace toroid
