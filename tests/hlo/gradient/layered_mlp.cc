#include "tests/hlo/gradient/layered_mlp.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/gradient/gradient.h"

namespace toroid {

LayeredMlp::LayeredMlp(int layers, const LayeredMlpSizes& sizes, int64_t devices) : b("mlp", devices) {
  x.push_back(b.Split(b.Parameter(Shape(xla::F32, {sizes.tokens, sizes.model}), "x"), 0, devices));
  for (int k = 0; k < layers; ++k) {
    Builder::Scope scope(&b, absl::StrCat("layer_", k));
    weights.push_back(
        b.Replicate(b.Parameter(Shape(xla::F32, {sizes.model, sizes.hidden}), absl::StrCat("a", k))));
    const Value hidden = b.Einsum("TM,MH->TH", x.back(), weights.back());
    weights.push_back(
        b.Replicate(b.Parameter(Shape(xla::F32, {sizes.hidden, sizes.model}), absl::StrCat("b", k))));
    const Value active = b.Multiply(hidden, b.Unary(Opcode::kLogistic, hidden));
    x.push_back(b.Add(x.back(), b.Tanh(b.Einsum("TH,HM->TM", active, weights.back()))));
  }
  loss = b.Sum(b.Exp(x.back()), {0, 1});
}

absl::StatusOr<std::unique_ptr<Module>> LayeredMlp::Step(const GradientOptions& options) {
  ASSIGN_OR_RETURN(std::vector<Value> results, Gradients(loss, weights, options, &b));
  results.insert(results.begin(), loss);
  return b.Build(b.Tuple(results));
}

std::vector<Literal> SmallArguments(const Module& module, float scale) {
  std::vector<Literal> arguments;
  for (const Instruction* parameter : module.entry()->parameters()) {
    Literal literal(parameter->shape());
    int64_t i = 7 * parameter->parameter_number();
    for (float& x : literal.mutable_data<float>()) x = scale * static_cast<float>((i++ * 5) % 17 - 8);
    arguments.push_back(std::move(literal));
  }
  return arguments;
}

bool IsComputedAgain(const Instruction& op) {
  return op.metadata() != nullptr && absl::StartsWith(op.metadata()->op_name(), "recomputed");
}

}  // namespace toroid
