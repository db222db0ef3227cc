// BUILD: size = "small"
#include "examples/moe/decode_step.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "examples/moe/training_step.h"
#include "hlo/analysis/program_statistics.h"
#include "hlo/ops/verify_module.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "runtime/engine/executor.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(DecodeStepTest, WeightsAreThoseOfTraining) {
  for (const bool shared : {false, true}) {
    MoeTransformerConfig config = TinyConfig();
    config.shared_embedding = shared;
    if (shared) config.source_vocabulary = config.target_vocabulary;
    ASSERT_OK_AND_ASSIGN(const Encoding encoding, BuildEncoding(config, DecodeOptions()));
    ASSERT_OK_AND_ASSIGN(const DecodeStep step, BuildDecodeStep(config, DecodeOptions()));
    EXPECT_OK(VerifyModule(*encoding.module));
    EXPECT_OK(VerifyModule(*step.module));
    ASSERT_OK_AND_ASSIGN(const TrainingStep training, BuildTrainingStep(config, TrainingOptions()));
    std::set<std::string> of_training, of_decoding(encoding.weights.begin(), encoding.weights.end());
    of_decoding.insert(step.weights.begin(), step.weights.end());
    for (const StateArray& array : training.state) {
      if (array.kind == StateArray::Kind::kWeight) of_training.insert(array.name);
    }
    EXPECT_EQ(of_decoding, of_training);
  }
}

TEST(DecodeStepTest, StateIsWrittenInItsPlace) {
  ASSERT_OK_AND_ASSIGN(const DecodeStep step, BuildDecodeStep(TinyConfig(), DecodeOptions()));
  const auto& alias = step.module->proto().input_output_alias();
  ASSERT_EQ(alias.entries_size(), step.state.size());
  for (int i = 0; i < alias.entries_size(); ++i) {
    const Shape& result = step.module->entry()->root()->shape().tuple_shape(i);
    EXPECT_EQ(step.module->entry()->parameter(i)->shape().ToString(), result.ToString()) << step.state[i];
    EXPECT_EQ(step.module->entry()->parameter(i)->name(), step.state[i]);
  }
  EXPECT_EQ(step.module->entry()->root()->shape().tuple_shapes().size(), step.state.size() + 1);
}

// Each of 9 layers of experts sends tokens there and back, and the count of open hypotheses is summed.
// Nothing else is sent, in particular no keys and values of earlier words.
TEST(DecodeStepTest, OnlyTokensTravelToTheirExperts) {
  MoeTransformerConfig config = PaperConfig(2048, 36);
  DecodeOptions options;
  options.step_capacity = 1;
  ASSERT_OK_AND_ASSIGN(const DecodeStep step, BuildDecodeStep(config, options));
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*step.module, PartitionOptions()));
  std::vector<std::pair<std::string, int64_t>> counts;
  for (const auto& [name, collective] : ComputeStatistics(*partitioned.module).collectives)
    counts.emplace_back(name, collective.count);
  EXPECT_THAT(counts, ElementsAre(Pair("all-reduce", 1), Pair("all-to-all", 18)));
}

// The values and indices of std::stable_sort.
TEST(DecodeStepTest, LargestComeInOrderTheFirstOfEqualOnesFirst) {
  Builder b("largest");
  const Largest largest = TakeLargest(b.Parameter(Shape(xla::F32, {1, 2, 6}), "x"), 4, &b);
  ASSERT_OK_AND_ASSIGN(const auto module, b.Build(b.Tuple({largest.values, largest.indices})));
  const Literal x =
      Literal::Array<float>({1, 2, 6}, {3, 1, 3, -1e30, 7, 3, -1e30, -1e30, -5, -1e30, -1e9, -6});
  ASSERT_OK_AND_ASSIGN(const Literal result, RunSingle(*module, {x}));
  EXPECT_THAT(result.element(0).data<float>(), ElementsAre(7, 3, 3, 3, -5, -6, -1e9, -1e30));
  EXPECT_THAT(result.element(1).data<int32_t>(), ElementsAre(4, 0, 2, 5, 2, 5, 4, 0));
}

// Two places, words 0 padding, 1 begin, 2 end, 3, 4; after the second word.
TEST(DecodeStepTest, RankingFollowsTheHeaderByHand) {
  Builder b("rank");
  const Shape f(xla::F32, {1, 1, 2}), s(xla::S32, {1, 1, 2}), p(xla::PRED, {1, 1, 2});
  Hypotheses now;
  now.log_probability = b.Parameter(f, "log_probability");
  now.length = b.Parameter(s, "length");
  now.finished = b.Parameter(p, "finished");
  now.mask = b.Parameter(Shape(xla::PRED, {1, 1, 2, 4}), "mask");
  Value log_probabilities = b.Parameter(Shape(xla::F32, {1, 1, 2, 5}), "log_probabilities");
  Value step = b.Parameter(Shape(xla::S32, {}), "step");
  BeamOptions options;
  options.beam = 2;
  options.length_power = 1;
  const Hypotheses next = RankHypotheses(now, log_probabilities, step, options, &b);
  ASSERT_OK_AND_ASSIGN(
      const auto module,
      b.Build(b.Tuple({next.log_probability, next.length, next.finished, next.mask, next.words})));
  // Place 0 ended after one word at -2: its score is that of -2 * (8/6) / (6/6) = -2.667 at three words.
  // Place 1 is at -1; after it word 4 gives -1.5, the end -2, word 3 -3; padding and begin are excluded
  // though they are likely.
  const std::vector<Literal> arguments = {
      Literal::Array<float>({1, 1, 2}, {-2, -1}),
      Literal::Array<int32_t>({1, 1, 2}, {1, 2}),
      Literal::Array<bool>({1, 1, 2}, {true, false}),
      Literal::Array<bool>({1, 1, 2, 4}, {true, false, false, false, false, true, false, true}),
      Literal::Array<float>({1, 1, 2, 5}, {0, 0, 0, 0, 0, -0.1f, -0.1f, -1, -2, -0.5f}),
      Literal::Scalar<int32_t>(2)};
  ASSERT_OK_AND_ASSIGN(const Literal result, RunSingle(*module, arguments));
  EXPECT_THAT(result.element(0).data<float>(), ElementsAre(-1.5f, -2.0f));
  EXPECT_THAT(result.element(1).data<int32_t>(), ElementsAre(3, 3));
  EXPECT_THAT(result.element(2).data<bool>(), ElementsAre(false, true));
  EXPECT_THAT(result.element(3).data<bool>(),
              ElementsAre(false, true, false, true, false, true, false, true));
  EXPECT_THAT(result.element(4).data<int32_t>(), ElementsAre(4, 2));
  // If the end is less likely, the finished hypothesis stays unchanged.
  std::vector<Literal> later = arguments;
  later[4] = Literal::Array<float>({1, 1, 2, 5}, {0, 0, 0, 0, 0, -0.1f, -0.1f, -3, -2, -0.5f});
  ASSERT_OK_AND_ASSIGN(const Literal stays, RunSingle(*module, later));
  EXPECT_THAT(stays.element(0).data<float>(), ElementsAre(-1.5f, -2.0f));
  EXPECT_THAT(stays.element(1).data<int32_t>(), ElementsAre(3, 1));
  EXPECT_THAT(stays.element(2).data<bool>(), ElementsAre(false, true));
  EXPECT_THAT(stays.element(3).data<bool>(),
              ElementsAre(false, true, false, true, true, false, false, false));
  EXPECT_THAT(stays.element(4).data<int32_t>(), ElementsAre(4, 0));
}

}  // namespace
}  // namespace toroid
