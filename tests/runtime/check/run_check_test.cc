// BUILD: size = "small"
// Verdicts of the check on pairs of programs: the one that ran, and its reference.
#include "runtime/check/run_check.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/arguments/random_arguments.h"
#include "runtime/numerics/narrowest_float.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

struct Options {
  std::optional<double> tolerance;
  int64_t max_bytes = int64_t{1} << 30;
  bool promote = false;
};

absl::StatusOr<CheckOutcome> Check(const std::string& program, const std::string& reference,
                                   const Options& options = {}) {
  const bool folds = program.find("to_apply=add") != std::string::npos;
  const std::string reducer = folds ? ReducerText("add", "f32", "add") : "";
  const std::unique_ptr<Module> ran = MakeModule(program, reducer), other = MakeModule(reference, reducer);
  std::vector<Shape> shapes;
  for (int i = 0; i < other->entry()->num_parameters(); ++i) {
    shapes.push_back(other->entry()->parameter(i)->shape());
  }
  const std::vector<Literal> arguments = RandomLiterals(shapes, 8, /*seed=*/1);
  ProgramRunner::Options runs;
  runs.max_bytes = options.max_bytes;
  ProgramRunner runner(arguments, nullptr, runs);
  RunCheck check;
  check.program = ran.get();
  check.reference = other.get();
  check.tolerances =
      options.tolerance.has_value() ? std::vector<double>{*options.tolerance} : OutputTolerances(*other);
  check.tolerance_is_given = options.tolerance.has_value();
  check.promote = options.promote;
  ASSIGN_OR_RETURN(const ProgramRun run, runner.Run(*ran, nullptr, ""));
  return CheckRun(check, run, runner);
}

// Two orders of one sum in bf16, which differ by several percent.
constexpr char kForward[] =
    "x = bf16[64] parameter(0) a = bf16[32] slice(x), slice={[0:32]} b = bf16[32] slice(x), slice={[32:64]} "
    "c = bf16[32] add(a, b) k = bf16[] constant(16) kb = bf16[32] broadcast(k), dimensions={} "
    "d = bf16[32] add(c, kb) ROOT y = bf16[32] subtract(d, kb)";
constexpr char kOther[] =
    "x = bf16[64] parameter(0) a = bf16[32] slice(x), slice={[0:32]} b = bf16[32] slice(x), slice={[32:64]} "
    "k = bf16[] constant(16) kb = bf16[32] broadcast(k), dimensions={} "
    "d = bf16[32] add(a, kb) e = bf16[32] add(d, b) ROOT y = bf16[32] subtract(e, kb)";

TEST(RunCheckTest, OrdersOfRoundingAreProvenEqual) {
  ASSERT_OK_AND_ASSIGN(const CheckOutcome outcome, Check(kForward, kOther));
  EXPECT_EQ(outcome.verdict, Verdict::kProven) << outcome.difference;
  EXPECT_GT(outcome.max_rel_error, 0.05);
  EXPECT_LT(outcome.proof->max_rel_error, 1e-12);
  EXPECT_EQ(outcome.proof->rounding_ops, 0);
  EXPECT_THAT(EqualText(outcome), HasSubstr("proven equal, rounding aside: 1 output of 1 device"));
}

TEST(RunCheckTest, AFaultBelowTheStepOfTheTypeIsFound) {
  const std::string body =
      "x = bf16[64] parameter(0) k = f32[] constant(VALUE) kb = f32[64] broadcast(k), "
      "dimensions={} w = f32[64] convert(x) m = f32[64] multiply(w, kb) "
      "ROOT y = bf16[64] convert(m)";
  const auto with = [&](const char* value) {
    std::string text = body;
    return text.replace(text.find("VALUE"), 5, value);
  };
  ASSERT_OK_AND_ASSIGN(const CheckOutcome outcome, Check(with("1.00001"), with("1")));
  EXPECT_EQ(outcome.max_rel_error, 0);
  EXPECT_EQ(outcome.verdict, Verdict::kDiffers);
  EXPECT_THAT(outcome.difference, HasSubstr("output 0 differs from the unpartitioned run at ["));
  EXPECT_THAT(outcome.difference, HasSubstr("both computed without rounding"));
}

TEST(RunCheckTest, ATypeThatIsNarrowerThanTheReferencesIsADifference) {
  ASSERT_OK_AND_ASSIGN(const CheckOutcome outcome,
                       Check("x = f32[64] parameter(0) b = bf16[64] convert(x) ROOT y = f32[64] convert(b)",
                             "x = f32[64] parameter(0) n = f32[64] negate(x) ROOT y = f32[64] negate(n)"));
  EXPECT_EQ(outcome.verdict, Verdict::kDiffers);
  EXPECT_TRUE(outcome.proof->equal);
  EXPECT_THAT(outcome.difference, HasSubstr("times as far from the exact result as the unpartitioned run"));
}

// The mean taken off twice, in two ways.
TEST(RunCheckTest, OutputsThatAreZeroButForRoundingAreEqual) {
  const std::string center =
      "x = f32[8,64] parameter(0) z = f32[] constant(0) n = f32[] constant(0.015625) nb = f32[8] broadcast(n), "
      "dimensions={} s = f32[8] reduce(x, z), dimensions={1}, to_apply=add m = f32[8] multiply(s, nb) "
      "mb = f32[8,64] broadcast(m), dimensions={0} d = f32[8,64] subtract(x, mb) ";
  ASSERT_OK_AND_ASSIGN(
      const CheckOutcome outcome,
      Check(center + "ROOT r = f32[8] reduce(d, z), dimensions={1}, to_apply=add",
            center + "v = f32[8,4,16] reshape(d) p = f32[8,16] reduce(v, z), dimensions={1}, to_apply=add "
                     "ROOT r = f32[8] reduce(p, z), dimensions={1}, to_apply=add"));
  EXPECT_EQ(outcome.verdict, Verdict::kProven) << outcome.difference;
  EXPECT_GT(outcome.max_rel_error, 1e-5);
}

TEST(RunCheckTest, AGivenToleranceDecidesAlone) {
  ASSERT_OK_AND_ASSIGN(CheckOutcome outcome, Check(kForward, kOther, {.tolerance = 1e-3}));
  EXPECT_EQ(outcome.verdict, Verdict::kDiffers);
  EXPECT_FALSE(outcome.proof.has_value());
  ASSERT_OK_AND_ASSIGN(outcome, Check(kForward, kOther, {.tolerance = 10, .promote = true}));
  EXPECT_EQ(outcome.verdict, Verdict::kEqual);
  EXPECT_EQ(outcome.promoted.at(0).verdict, "rounding");
}

TEST(RunCheckTest, WithoutMemoryForTheProofTheTolerancesDecide) {
  const std::string body = "x = f32[1000] parameter(0) ROOT y = f32[1000] negate(x)";
  ASSERT_OK_AND_ASSIGN(CheckOutcome outcome, Check(body, body, {.max_bytes = 10000}));
  EXPECT_EQ(outcome.verdict, Verdict::kNotProven);
  EXPECT_THAT(outcome.not_proven, HasSubstr("run without rounding: "));
  ASSERT_OK_AND_ASSIGN(
      outcome, Check("x = f32[1000] parameter(0) ROOT y = f32[1000] sine(x)", body, {.max_bytes = 10000}));
  EXPECT_EQ(outcome.verdict, Verdict::kDiffers);
}

TEST(RunCheckTest, ProgramsOfIntegersNeedNoProof) {
  ASSERT_OK_AND_ASSIGN(const CheckOutcome outcome,
                       Check("x = s32[8] parameter(0) ROOT y = s32[8] add(x, x)",
                             "x = s32[8] parameter(0) k = s32[] constant(2) kb = s32[8] broadcast(k), "
                             "dimensions={} ROOT y = s32[8] multiply(x, kb)"));
  EXPECT_EQ(outcome.verdict, Verdict::kEqual);
  EXPECT_FALSE(outcome.proof.has_value());
}

}  // namespace
}  // namespace toroid
