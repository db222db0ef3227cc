// BUILD: size = "small"
// Values that layers share.
#include "examples/moe/model_builder.h"

#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "hlo/gradient/gradient.h"
#include "runtime/engine/executor.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

// (HiddenRelu(x), the derivative of 3 * its sum by x).
Literal HiddenReluAndDerivative(bool bf16_hidden, const std::vector<float>& x) {
  MoeTransformerConfig config = TinyConfig();
  config.bf16_hidden = bf16_hidden;
  ModelBuilder m(config, "hidden");
  Builder& b = m.b();
  const Value parameter = b.Parameter(Shape(xla::F32, {static_cast<int64_t>(x.size())}), "x");
  const Value y = m.HiddenRelu(parameter);
  auto derivatives = Gradients(b.MultiplyNumber(b.Sum(y, {0}), 3), {parameter}, m.gradient_options(), &b);
  EXPECT_OK(derivatives);
  auto module = b.Build(b.Tuple({y, (*derivatives)[0]}));
  EXPECT_OK(module);
  Literal argument(parameter->shape());
  std::copy(x.begin(), x.end(), argument.mutable_data<float>().begin());
  std::vector<Literal> arguments;
  arguments.push_back(std::move(argument));
  auto result = RunSingle(**module, std::move(arguments));
  EXPECT_OK(result);
  return *std::move(result);
}

TEST(ModelBuilderTest, HiddenValuesAreRoundedOnlyIfToldSo) {
  const std::vector<float> x = {-1.5f, 0, 1.001953125f, 1.5f};  // 1 + 1/512: between two numbers of bf16.
  const Literal exact = HiddenReluAndDerivative(false, x), rounded = HiddenReluAndDerivative(true, x);
  EXPECT_THAT(exact.element(0).data<float>(), ElementsAre(0, 0, 1.001953125f, 1.5f));
  EXPECT_THAT(rounded.element(0).data<float>(), ElementsAre(0, 0, 1, 1.5f));
  EXPECT_THAT(exact.element(1).data<float>(), ElementsAre(0, 0, 3, 3));
  EXPECT_THAT(rounded.element(1).data<float>(), ElementsAre(0, 0, 3, 3));
}

}  // namespace
}  // namespace toroid
