#include "examples/moe/training_step.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "absl/strings/match.h"
#include "hlo/analysis/peak_memory.h"
#include "hlo/ops/verify_module.h"
#include "partitioner/rewrite/poison_padding.h"
#include "runtime/engine/executor.h"
#include "runtime/numerics/compare.h"
#include "tests/partition_and_run.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

Literal Drawn(const StateArray& array, std::mt19937_64* random) {
  Literal literal(array.shape);
  if (array.shape.element_type() == xla::S32) return literal;
  std::normal_distribution<float> normal(0, 1);
  for (float& x : literal.mutable_data<float>()) {
    x = static_cast<float>(array.mean + (array.stddev == 0 ? 0 : array.stddev * normal(*random)));
  }
  return literal;
}

std::vector<Literal> FreshState(const TrainingStep& training, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Literal> state;
  for (const StateArray& array : training.state) state.push_back(Drawn(array, &random));
  return state;
}

// Tokens below both vocabularies; each label is the target token at its place plus 1, so that it can be
// learnt.
std::vector<Literal> Inputs(const MoeTransformerConfig& config, uint64_t seed) {
  std::mt19937_64 random(seed);
  const Shape shape(xla::S32, {config.groups, config.sequences, config.sequence_length});
  Literal source(shape), target(shape), labels(shape);
  const int64_t words = std::min(config.source_vocabulary, config.target_vocabulary) - 1;
  for (int64_t i = 0; i < shape.NumElements(); ++i) {
    const int32_t token = static_cast<int32_t>(random() % words);
    source.mutable_data<int32_t>()[i] = token;
    target.mutable_data<int32_t>()[i] = token;
    labels.mutable_data<int32_t>()[i] = token + 1;
  }
  std::vector<Literal> inputs;
  inputs.push_back(Literal::Scalar<uint32_t>(7));
  inputs.push_back(std::move(source));
  inputs.push_back(std::move(target));
  inputs.push_back(std::move(labels));
  return inputs;
}

std::vector<Literal> Arguments(std::vector<Literal> state, const std::vector<Literal>& inputs) {
  state.insert(state.end(), inputs.begin(), inputs.end());
  return state;
}

// The first elements of the tuple.
std::vector<Literal> StateOf(const Literal& result, size_t arrays) {
  std::vector<Literal> state;
  for (size_t i = 0; i < arrays; ++i) state.push_back(result.element(i));
  return state;
}

TEST(TrainingStepTest, StateStandsFirstInParametersAndResults) {
  ASSERT_OK_AND_ASSIGN(const TrainingStep training, BuildTrainingStep(TinyConfig(), TrainingOptions()));
  EXPECT_OK(VerifyModule(*training.module));
  const Computation& entry = *training.module->entry();
  ASSERT_EQ(entry.num_parameters(), training.state.size() + training.inputs.size());
  ASSERT_EQ(entry.root()->num_operands(), training.state.size() + training.metrics.size());
  for (size_t i = 0; i < training.state.size(); ++i) {
    EXPECT_EQ(entry.parameter(i)->name(), training.state[i].name);
    EXPECT_TRUE(entry.parameter(i)->shape() == training.state[i].shape) << training.state[i].name;
    EXPECT_TRUE(entry.root()->operand(i)->shape() == training.state[i].shape) << training.state[i].name;
  }
  for (size_t i = 0; i < training.inputs.size(); ++i) {
    EXPECT_EQ(entry.parameter(training.state.size() + i)->name(), training.inputs[i]);
  }
  EXPECT_EQ(training.module->proto().input_output_alias().entries_size(), training.state.size());
}

TEST(TrainingStepTest, TheLossFallsWhereThereIsSomethingToLearn) {
  MoeTransformerConfig config = TinyConfig();
  config.dropout = 0;
  TrainingOptions options;
  options.adafactor.flat_steps = 100;
  ASSERT_OK_AND_ASSIGN(const TrainingStep training, BuildTrainingStep(config, options));
  std::vector<Literal> state = FreshState(training, 1);
  std::vector<double> losses;
  for (int step = 0; step < 100; ++step) {
    ASSERT_OK_AND_ASSIGN(const Literal result,
                         RunSingle(*training.module, Arguments(state, Inputs(config, step))));
    state = StateOf(result, training.state.size());
    losses.push_back(result.element(training.state.size() + 1).data<float>()[0]);
  }
  EXPECT_NEAR(losses[0], std::log(config.target_vocabulary), 1);
  EXPECT_LT(losses.back(), 0.6 * losses[0]);
  EXPECT_EQ(state[0].data<int32_t>()[0], 100);
}

class PartitionedTrainingStep : public testing::TestWithParam<int64_t> {};

TEST_P(PartitionedTrainingStep, ComputesWhatTheWholeOneDoes) {
  MoeTransformerConfig config = TinyConfig();
  config.devices = GetParam();
  config.groups = 4;
  config.padding = config.devices == 8;
  config.bf16_hidden = config.devices == 3;
  config.embedding_by_products = config.devices > 2;
  TrainingOptions training_options;
  training_options.skip_if_not_finite = config.devices > 2;
  ASSERT_OK_AND_ASSIGN(const TrainingStep training, BuildTrainingStep(config, training_options));
  const std::vector<Literal> arguments = Arguments(FreshState(training, 2), Inputs(config, 3));
  ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*training.module, arguments));
  for (const bool is_hard : {false, true}) {
    PartitionOptions options;
    if (is_hard) {
      options.on_local_value = PoisonPadding;
      options.device_order_seed = 5;
    }
    ASSERT_OK_AND_ASSIGN(const Literal actual, PartitionAndRun(*training.module, options, arguments));
    const Comparison comparison = Compare(actual, expected, 2e-4);
    EXPECT_TRUE(comparison.equal) << comparison.max_rel_error;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, PartitionedTrainingStep, testing::Values(2, 3, 8));

TEST(TrainingStepTest, WhatIsComputedAgainIsTheSame) {
  const MoeTransformerConfig config = TinyConfig();
  std::vector<Literal> results;
  int64_t most = 0;
  for (const char* remat : {"none", "dots", "layers", "layer_dots", "fit"}) {
    TrainingOptions options;
    options.memory_fit.limit_bytes = most * 9 / 10;
    ASSERT_OK_AND_ASSIGN(options.remat, ParseRemat(remat));
    ASSERT_OK_AND_ASSIGN(const TrainingStep training, BuildTrainingStep(config, options));
    const std::vector<Literal> arguments = Arguments(FreshState(training, 2), Inputs(config, 3));
    ASSERT_OK_AND_ASSIGN(Literal result, RunSingle(*training.module, arguments));
    results.push_back(std::move(result));
    const int64_t bytes = ComputePeakMemory(*training.module).bytes;
    most = std::max(most, bytes);
    if (options.remat == Remat::kFit) {
      EXPECT_LE(bytes, options.memory_fit.limit_bytes);
    }
    const Comparison comparison = Compare(results.back(), results.front(), 1e-4);
    EXPECT_TRUE(comparison.equal) << remat << " " << comparison.max_rel_error;
  }
  EXPECT_THAT(ParseRemat("all"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("layers")));
}

TEST(TrainingStepTest, EmbeddingsByProductsAreThoseByGathers) {
  MoeTransformerConfig config = TinyConfig();
  std::vector<Literal> results;
  for (const bool by_products : {false, true}) {
    config.embedding_by_products = by_products;
    ASSERT_OK_AND_ASSIGN(const TrainingStep training, BuildTrainingStep(config, TrainingOptions()));
    const std::vector<Literal> arguments = Arguments(FreshState(training, 2), Inputs(config, 3));
    ASSERT_OK_AND_ASSIGN(Literal result, RunSingle(*training.module, arguments));
    results.push_back(std::move(result));
  }
  const Comparison comparison = Compare(results[1], results[0], 1e-4);
  EXPECT_TRUE(comparison.equal) << comparison.max_rel_error;
}

TEST(TrainingStepTest, WeightsStayWhereAGradientIsNotFinite) {
  const MoeTransformerConfig config = TinyConfig();
  TrainingOptions options;
  std::vector<Literal> results;
  for (const bool skips : {false, true}) {
    options.skip_if_not_finite = skips;
    ASSERT_OK_AND_ASSIGN(const TrainingStep training, BuildTrainingStep(config, options));
    std::vector<Literal> state = FreshState(training, 2);
    ASSERT_OK_AND_ASSIGN(Literal result, RunSingle(*training.module, Arguments(state, Inputs(config, 3))));
    results.push_back(std::move(result));
    if (!skips) continue;
    // One infinite weight.
    size_t spoilt = 0;
    while (!absl::EndsWith(training.state[spoilt].name, ".moe.wi")) ++spoilt;
    state[spoilt].mutable_data<float>()[0] = std::numeric_limits<float>::infinity();
    ASSERT_OK_AND_ASSIGN(result, RunSingle(*training.module, Arguments(state, Inputs(config, 3))));
    EXPECT_EQ(result.element(0).data<int32_t>()[0], 1);  // The step is counted.
    for (size_t i = 0; i < training.state.size(); ++i) {
      if (training.state[i].kind != StateArray::Kind::kWeight || i == spoilt) continue;
      EXPECT_TRUE(Compare(result.element(i), state[i], 0).equal) << training.state[i].name;
    }
  }
  EXPECT_TRUE(Compare(results[1], results[0], 0).equal);
}

TEST(TrainingStepTest, ALimitThatCannotBeMetIsToldWithTheLeast) {
  TrainingOptions options;
  options.remat = Remat::kFit;
  options.memory_fit.limit_bytes = 1000;
  EXPECT_THAT(BuildTrainingStep(TinyConfig(), options),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("do not fit into 1000 bytes")));
}

TEST(TrainingStepTest, EvaluationHasTheLossOfUntrainedWeights) {
  MoeTransformerConfig config = TinyConfig();
  ASSERT_OK_AND_ASSIGN(const TrainingStep training, BuildTrainingStep(config, TrainingOptions()));
  ASSERT_OK_AND_ASSIGN(const auto evaluation, BuildEvaluation(config));
  EXPECT_OK(VerifyModule(*evaluation));
  std::vector<Literal> arguments;
  const std::vector<Literal> state = FreshState(training, 4), inputs = Inputs(config, 5);
  for (size_t i = 0; i < state.size(); ++i) {
    if (training.state[i].kind == StateArray::Kind::kWeight) arguments.push_back(state[i]);
  }
  arguments.insert(arguments.end(), inputs.begin() + 1, inputs.end());
  ASSERT_OK_AND_ASSIGN(const Literal result, RunSingle(*evaluation, arguments));
  const auto metric = [&](int64_t i) { return result.element(i).data<float>()[0]; };
  EXPECT_NEAR(metric(1), std::log(config.target_vocabulary), 1);            // Cross entropy.
  EXPECT_NEAR(metric(0), metric(1) + config.aux_weight * metric(2), 1e-5);  // Loss.
  EXPECT_GE(metric(2), 0.8);                                                // Auxiliary: about 1 if even.
  EXPECT_EQ(metric(3), config.groups * config.tokens_per_group());          // Labels.
}

TEST(TrainingStepTest, BadSizesAreRefused) {
  MoeTransformerConfig config = TinyConfig();
  config.dropout = 1;
  EXPECT_THAT(BuildTrainingStep(config, TrainingOptions()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("dropout")));
}

}  // namespace
}  // namespace toroid
