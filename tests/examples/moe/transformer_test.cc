// BUILD: size = "small"
#include "examples/moe/transformer.h"

#include <string>

#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

const Instruction* ParameterNamed(const Module& module, absl::string_view name) {
  for (const Instruction* parameter : module.entry()->parameters()) {
    if (parameter->name() == name) return parameter;
  }
  return nullptr;
}

// Elements of all parameters whose name contains `part`.
int64_t Elements(const Module& module, absl::string_view part) {
  int64_t elements = 0;
  for (const Instruction* parameter : module.entry()->parameters()) {
    if (parameter->name().find(std::string(part)) != std::string::npos) {
      elements += parameter->shape().NumElements();
    }
  }
  return elements;
}

TEST(TransformerTest, TinyModelVerifiesAndRoundTrips) {
  ASSERT_OK_AND_ASSIGN(const auto module, BuildMoeTransformer(TinyConfig()));
  EXPECT_OK(VerifyModule(*module));
  EXPECT_EQ(module->entry()->root()->shape().ToString(), "f32[]");
  const std::string text = PrintModule(*module);
  ASSERT_OK_AND_ASSIGN(const auto again, ParseModule(text));
  EXPECT_EQ(PrintModule(*again), text);
}

// Per layer: 2 norms, 4 attention weights, 2 dense or 3 MoE weights; decoder layers 1 + 4 more. Per
// stack a table and a final norm; the softmax; 4 inputs.
TEST(TransformerTest, ParametersAreThoseOfTheLayers) {
  ASSERT_OK_AND_ASSIGN(const auto module, BuildMoeTransformer(TinyConfig()));
  const int encoder = 2 * (2 + 4) + 2 + 3, decoder = 2 * (3 + 8) + 2 + 3;
  EXPECT_EQ(module->entry()->num_parameters(), encoder + decoder + 2 * (1 + 1) + 1 + 4);
}

TEST(TransformerTest, PaperModelHasTheWeightsOfTable1) {
  ASSERT_OK_AND_ASSIGN(const auto module, BuildMoeTransformer(PaperConfig(2048, 36)));
  EXPECT_OK(VerifyModule(*module));
  // 2048 experts x 18 layers x 2 M H.
  EXPECT_EQ(Elements(*module, ".moe.wi") + Elements(*module, ".moe.wo"),
            int64_t{2048} * 18 * 2 * 1024 * 8192);
  const Instruction* wi = ParameterNamed(*module, "encoder.layer_1.moe.wi");
  ASSERT_NE(wi, nullptr);
  EXPECT_EQ(wi->shape().ToString(), "f32[2048,1024,8192]");
  ASSERT_NE(wi->sharding(), nullptr);
  EXPECT_EQ(wi->sharding()->tile_assignment_dimensions(0), 2048);
  const std::string text = PrintModule(*module);
  // C = 2S/E = 2.
  EXPECT_THAT(text, HasSubstr("f32[2048,2048,2,1024]"));
}

TEST(TransformerTest, CapacityIsRoundedUpAndAtLeastOne) {
  MoeTransformerConfig config = TinyConfig();  // S = 8
  EXPECT_EQ(config.capacity(), 4);
  config.experts = 3;
  EXPECT_EQ(config.capacity(), 6);
  config.experts = 100;
  EXPECT_EQ(config.capacity(), 1);
}

TEST(TransformerTest, LayerAloneHasTheShapesOfAlgorithm2) {
  ASSERT_OK_AND_ASSIGN(const auto module, BuildMoeLayer(TinyConfig()));
  EXPECT_OK(VerifyModule(*module));
  EXPECT_EQ(module->entry()->root()->shape().ToString(), "(f32[2,8,8], f32[])");
}

// Inputs, 2 norms and 4 attention weights in each layer, 2 dense and 3 MoE weights.
TEST(TransformerTest, PairOfLayersHasADenseAndAMoeLayer) {
  ASSERT_OK_AND_ASSIGN(const auto module, BuildLayerPair(TinyConfig()));
  EXPECT_OK(VerifyModule(*module));
  EXPECT_EQ(module->entry()->root()->shape().ToString(), "(f32[2,2,4,8], f32[])");
  EXPECT_EQ(module->entry()->num_parameters(), 2 + 2 * 6 + 2 + 3);
  EXPECT_NE(ParameterNamed(*module, "layer_0.ffn.wi"), nullptr);
  EXPECT_NE(ParameterNamed(*module, "layer_1.moe.wi"), nullptr);
}

TEST(TransformerTest, ModelWithUnevenExpertsVerifies) {
  MoeTransformerConfig config = TinyConfig();
  config.devices = 6;
  config.groups = 3;
  config.experts = 5;
  ASSERT_OK_AND_ASSIGN(const auto module, BuildMoeTransformer(config));
  EXPECT_OK(VerifyModule(*module));
}

TEST(TransformerTest, OddLayersAreRefused) {
  MoeTransformerConfig config = TinyConfig();
  config.layers = 3;
  EXPECT_THAT(BuildMoeTransformer(config), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("even")));
}

}  // namespace
}  // namespace toroid
