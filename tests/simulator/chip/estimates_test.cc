// BUILD: size = "medium"
// BUILD: data = ["//tests/corpus:tpu_v3"]
// The chip model against Google's compiler for TPU v3: errors of benchmarks/chip_model, which prints each. Bounds are what
// is reached, rounded up: a change that makes errors grow fails here.
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "benchmarks/chip_estimates.h"
#include "gtest/gtest.h"
#include "simulator/machines/tpu_v3_core.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

constexpr char kFolder[] = "tests/corpus/tpu_v3";

TEST(EstimatesTest, OneCoreProgramsAreWithinThreePercentInTheMedianAndTenInTheNinetiethPercentile) {
  ASSERT_OK_AND_ASSIGN(const std::vector<ChipEstimate> programs,
                       OneCoreEstimates(kFolder, true, TpuV3Core()));
  std::vector<ChipEstimate> third, rest;
  for (const ChipEstimate& e : programs) (e.calibrates ? third : rest).push_back(e);
  EXPECT_EQ(programs.size(), 90);
  EXPECT_EQ(third.size(), 30);
  EXPECT_LE(Summarize(third).median, 0.018);
  EXPECT_LE(Summarize(third).ninetieth, 0.063);
  EXPECT_LE(Summarize(rest).median, 0.0165);
  EXPECT_LE(Summarize(rest).ninetieth, 0.082);
}

// Programs that calibrated nothing, by folder; chip_estimates.h says which were seen while rules were found.
struct SetBounds {
  const char* folder;
  size_t programs;
  double median, ninetieth, worst;  // Of the absolute error.
};

class SetTest : public ::testing::TestWithParam<SetBounds> {};

TEST_P(SetTest, ErrorsAreWithinBounds) {
  const SetBounds& bounds = GetParam();
  ASSERT_OK_AND_ASSIGN(const std::vector<ChipEstimate> programs,
                       OneCoreEstimates(absl::StrCat(kFolder, "/", bounds.folder), false, TpuV3Core()));
  const ErrorSummary summary = Summarize(programs);
  EXPECT_EQ(programs.size(), bounds.programs);
  EXPECT_LE(summary.median, bounds.median);
  EXPECT_LE(summary.ninetieth, bounds.ninetieth);
  EXPECT_LE(summary.worst, bounds.worst);
}

INSTANTIATE_TEST_SUITE_P(OneCore, SetTest,
                         ::testing::Values(SetBounds{"held_out", 33, 0.013, 0.045, 0.075},      //
                                           SetBounds{"unseen", 36, 0.018, 0.064, 0.09},         //
                                           SetBounds{"later", 48, 0.018, 0.12, 0.36},           //
                                           SetBounds{"last", 37, 0.027, 0.136, 0.27},           //
                                           SetBounds{"blind", 115, 0.024, 0.114, 1.23},         //
                                           SetBounds{"neighbours", 36, 0.018, 0.112, 0.43},     //
                                           SetBounds{"fresh", 39, 0.025, 0.127, 0.52},          //
                                           SetBounds{"strangers", 132, 0.046, 0.19, 0.48},      //
                                           SetBounds{"newest", 92, 0.0385, 0.17, 0.52},         //
                                           SetBounds{"recent", 46, 0.03, 0.164, 0.36},          //
                                           SetBounds{"latest", 58, 0.057, 0.163, 0.325},        //
                                           SetBounds{"outside", 52, 0.04, 0.317, 0.81},         //
                                           SetBounds{"libraries", 109, 0.042, 0.166, 1.23},     //
                                           SetBounds{"engineers", 61, 0.038, 0.15, 0.46},       //
                                           SetBounds{"practitioners", 72, 0.052, 0.207, 0.48},  //
                                           SetBounds{"colleagues", 71, 0.03, 0.175, 0.72},      //
                                           SetBounds{"newcomers", 58, 0.045, 0.17, 0.47},       //
                                           SetBounds{"visitors", 67, 0.045, 0.204, 0.94},       //
                                           SetBounds{"guests", 70, 0.041, 0.206, 0.82},         //
                                           SetBounds{"outsiders", 71, 0.043, 0.14, 0.28},       //
                                           SetBounds{"observers", 72, 0.039, 0.138, 0.67}),
                         [](const auto& info) { return std::string(info.param.folder); });

// Bounds of the errors of what one partitioner makes of the three MoE layers ("pairs") and two training steps.
struct MoeBounds {
  double pair, pair_class, pair_copies, step, step_products, memory;
};

void CheckMoeEstimates(PartitionedBy partitioner, const MoeBounds& bounds) {
  ASSERT_OK_AND_ASSIGN(const std::vector<ChipEstimate> estimates,
                       MoeEstimates(absl::StrCat(kFolder, "/moe"), partitioner, TpuV3Core()));
  int modules = 0;
  for (const ChipEstimate& e : estimates) {
    SCOPED_TRACE(absl::StrCat(e.name, " ", e.group_class));
    const bool is_pair = absl::StartsWith(e.name, "pair");
    if (e.group_class.empty()) {
      ++modules;
      EXPECT_LE(std::abs(e.Error()), is_pair ? bounds.pair : bounds.step);
      EXPECT_GT(e.compiler_temporary, 0);
      EXPECT_LE(std::abs(e.TemporaryError()), bounds.memory);
    } else if (is_pair) {
      EXPECT_LE(std::abs(e.Error()), e.group_class == "copy" ? bounds.pair_copies : bounds.pair_class);
    } else if (e.group_class == "dot") {
      EXPECT_LE(std::abs(e.Error()), bounds.step_products);
    }
  }
  EXPECT_EQ(modules, 5);
}

TEST(EstimatesTest, MoeLayersAsXlaPartitionsThemAreWithinTwoPercentAndStepsWithinFour) {
  CheckMoeEstimates(PartitionedBy::kXla, {.pair = 0.015,
                                          .pair_class = 0.04,
                                          .pair_copies = 0.035,
                                          .step = 0.035,
                                          .step_products = 0.024,
                                          .memory = 0.09});
}

// Toroid's program has fewer copies: it turns what is sent in another way.
TEST(EstimatesTest, MoeLayersAndStepsAsToroidPartitionsThemTakeAsLong) {
  CheckMoeEstimates(PartitionedBy::kToroid, {.pair = 0.029,
                                             .pair_class = 0.04,
                                             .pair_copies = 0.23,
                                             .step = 0.035,
                                             .step_products = 0.021,
                                             .memory = 0.09});
}

double MeanError(const std::vector<MeasuredRate>& rates) {
  double error = 0;
  for (const MeasuredRate& rate : rates) error += std::abs(rate.model / rate.measured - 1);
  return error / static_cast<double>(rates.size());
}

TEST(EstimatesTest, DotsRunAsFastAsMeasured) {
  ASSERT_OK_AND_ASSIGN(const std::vector<MeasuredRate> dots, MeasuredDots(TpuV3Core(Rates::kMeasured)));
  EXPECT_LE(MeanError(dots), 0.072);
}

TEST(EstimatesTest, VectorProgramsAreWithinFifteenPercentOfWhatWasMeasuredInTheMean) {
  ASSERT_OK_AND_ASSIGN(const std::vector<MeasuredRate> programs,
                       MeasuredElementwise(TpuV3Core(Rates::kMeasured)));
  EXPECT_LE(MeanError(programs), 0.14);
}

}  // namespace
}  // namespace toroid
