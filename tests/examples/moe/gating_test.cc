// BUILD: size = "small"
// The auxiliary loss of gating is 1 for an even load, whatever part of a group is padding, and more for an
// uneven one.
#include "examples/moe/gating.h"

#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// E^2 times the mean over groups and experts of aux, for gates f32[G,S,E]; in each group all but the first
// `present` tokens are padding.
float Auxiliary(const MoeTransformerConfig& config, const std::vector<float>& gates, int64_t present) {
  ModelBuilder m(config, "gating");
  Builder& b = m.b();
  const int64_t g = config.groups, s = config.tokens_per_group(), e = config.experts;
  Value chosen_by = b.Parameter(Shape(xla::F32, {g, s, e}), "gates");
  Value is_there =
      b.Compare(b.Iota(xla::S32, {g, s}, 1), b.Full(xla::S32, {g, s}, static_cast<double>(present)), "LT");
  const Gating gating =
      Top2Gating(chosen_by, b.Full(xla::F32, {g, s}, 0), present < s ? is_there : nullptr, &m);
  auto module = b.Build(b.MultiplyNumber(m.MeanOf(gating.aux, {0}, g), static_cast<double>(e * e)));
  EXPECT_OK(module);
  Literal literal(chosen_by->shape());
  std::copy(gates.begin(), gates.end(), literal.mutable_data<float>().begin());
  std::vector<Literal> arguments;
  arguments.push_back(std::move(literal));
  auto result = RunSingle(**module, std::move(arguments));
  EXPECT_OK(result);
  return result->data<float>()[0];
}

MoeTransformerConfig SmallConfig() {
  MoeTransformerConfig config;
  config.devices = 1;
  config.groups = 2;
  config.sequences = 2;
  config.sequence_length = 8;
  config.experts = 4;
  return config;
}

// Token t has a slightly larger gate for expert expert_of(t).
template <typename ExpertOf>
std::vector<float> Gates(const MoeTransformerConfig& config, ExpertOf expert_of) {
  std::vector<float> gates;
  for (int64_t g = 0; g < config.groups; ++g) {
    for (int64_t t = 0; t < config.tokens_per_group(); ++t) {
      for (int64_t e = 0; e < config.experts; ++e) gates.push_back(e == expert_of(t) ? 0.4f : 0.2f);
    }
  }
  return gates;
}

TEST(GatingTest, AuxiliaryLossOfAnEvenLoadIsOneWhateverIsPadding) {
  const MoeTransformerConfig config = SmallConfig();
  const std::vector<float> even = Gates(config, [](int64_t t) { return t % 4; });
  for (const int64_t present : {16, 12, 8, 4})
    EXPECT_NEAR(Auxiliary(config, even, present), 1, 1e-5) << present;
}

TEST(GatingTest, AuxiliaryLossOfAnUnevenLoadIsTheSameWhateverIsPadding) {
  const MoeTransformerConfig config = SmallConfig();
  // All tokens choose expert 2: E * 1 * 0.4.
  const std::vector<float> uneven = Gates(config, [](int64_t) { return 2; });
  for (const int64_t present : {16, 7, 1})
    EXPECT_NEAR(Auxiliary(config, uneven, present), 1.6, 1e-5) << present;
}

TEST(GatingTest, AGroupOfPaddingAddsNothing) {
  const MoeTransformerConfig config = SmallConfig();
  EXPECT_EQ(Auxiliary(config, Gates(config, [](int64_t t) { return t % 4; }), 0), 0);
}

}  // namespace
}  // namespace toroid
