// BUILD: size = "medium"
// BUILD: data = ["//tests/corpus:jax"]
// Compares gradients with JAX's. From a recorded program that returns a loss and its gradients, only the loss
// is kept, and it is differentiated again.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/gradient/gradient.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "hlo/passes/dce_pass.h"
#include "partitioner/rewrite/poison_padding.h"
#include "runtime/engine/executor.h"
#include "tests/partition_and_run.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// Relative to an array's largest value.
constexpr double kTolerance = 2e-5;

void ExpectNear(const Literal& actual, const Literal& expected) {
  ASSERT_TRUE(actual.shape().Compatible(expected.shape())) << actual.shape().ToString();
  const absl::Span<const float> a = actual.data<float>(), e = expected.data<float>();
  double largest = 0, difference = 0;
  for (size_t i = 0; i < e.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(e[i])));
    difference = std::max(difference, std::abs(static_cast<double>(a[i]) - e[i]));
  }
  EXPECT_GT(largest, 0);
  EXPECT_LE(difference, kTolerance * largest);
}

class JaxGradientTest : public ::testing::TestWithParam<const char*> {};

TEST_P(JaxGradientTest, OfTheLossAloneAreThoseThatJaxRecorded) {
  ASSERT_OK_AND_ASSIGN(HloFile file,
                       ReadHloFile(absl::StrCat("tests/corpus/jax/", GetParam(), ".gspmd.snapshot.pb")));
  ASSERT_OK_AND_ASSIGN(const std::vector<Literal> arguments, file.Arguments());
  ASSERT_OK_AND_ASSIGN(const std::optional<Literal> recorded, file.Result());
  Module& module = *file.module;
  const int before = module.entry()->size();
  module.entry()->set_root(module.entry()->root()->operand(0));
  EliminateDeadCode(&module);
  ASSERT_LT(module.entry()->size(), before) << "JAX's backward pass is gone";

  std::vector<int64_t> parameters;
  for (int i = 0; i + 1 < static_cast<int>(recorded->shape().NumLeaves()); ++i) parameters.push_back(i);
  ASSERT_OK_AND_ASSIGN(const auto gradient, GradientModule(module, parameters, GradientOptions()));
  ASSERT_OK(VerifyModule(*gradient));
  ASSERT_OK_AND_ASSIGN(const Literal whole, RunSingle(*gradient, arguments));
  PartitionOptions options;
  options.on_local_value = PoisonPadding;
  ASSERT_OK_AND_ASSIGN(const Literal cut, PartitionAndRun(*gradient, options, arguments));
  ASSERT_EQ(whole.shape().NumLeaves(), recorded->shape().NumLeaves());
  for (int i = 0; i < static_cast<int>(whole.shape().NumLeaves()); ++i) {
    SCOPED_TRACE(absl::StrCat("result ", i));
    ExpectNear(whole.element(i), recorded->element(i));
    ExpectNear(cut.element(i), whole.element(i));
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, JaxGradientTest,
                         ::testing::Values("moe_layer_gradient", "conv_spatial_gradient",
                                           "conv_spatial_uneven", "lm_scan_layers"));

}  // namespace
}  // namespace toroid
