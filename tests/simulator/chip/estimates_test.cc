// BUILD: size = "medium"
// BUILD: data = ["//tests/corpus:tpu_v3"]
// The chip model against Google's compiler for TPU v3: errors of benchmarks/chip_model, which prints each. A change that
// makes errors grow fails here.
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "benchmarks/chip_estimates.h"
#include "benchmarks/program_set.h"
#include "gtest/gtest.h"
#include "hlo/base/status.h"
#include "simulator/machines/tpu_v3_core.h"
#include "tests/status_matchers.h"
#include "tests/tolerances.h"

namespace toroid {
namespace {

constexpr char kCorpus[] = "tests/corpus";

absl::StatusOr<std::vector<ChipEstimate>> EstimatesOf(const char* batch_name) {
  ASSIGN_OR_RETURN(const Batch batch, FindBatch(kCorpus, batch_name));
  if (batch.name == kScatters) return PartialEstimates(batch, TpuV3Core());
  return OneCoreEstimates(batch, TpuV3Core());
}

TEST(EstimatesTest, OneCoreProgramsAreWithinTwoPercentInTheMedianAndTenInTheNinetiethPercentile) {
  ASSERT_OK_AND_ASSIGN(const std::vector<ChipEstimate> programs, EstimatesOf(kCalibration));
  std::vector<ChipEstimate> third, rest;
  for (const ChipEstimate& e : programs) (e.calibrates ? third : rest).push_back(e);
  EXPECT_EQ(programs.size(), 90);
  EXPECT_EQ(third.size(), 30);
  for (const auto& some : {third, rest}) {
    EXPECT_LE(Summarize(some).median, kTwoPercent);
    EXPECT_LE(Summarize(some).ninetieth, kTenPercent);
    EXPECT_LE(Summarize(some).worst, kTwentyPercent);
  }
}

// Programs that calibrated nothing, by batch; its manifest says which were seen while rules were found.
struct SetBounds {
  const char* batch;
  size_t programs;
  double median, ninetieth;  // Of the absolute value of the error.
  int beyond;                // Programs that are off by more than 20 %.
};

// No program has a larger error than this, except kExceptions.
constexpr double kHalf = 0.50;
struct Exception {
  const char* batch;
  const char* program;
  double error;
  const char* reason;
};
constexpr char kLanes[] = "reshapes by which lanes are cut are written oftener than by the compiler",
               kOuter[] = "means of outer products",
               kOneImage[] = "convolutions of one image, which the compiler cuts into several by its place",
               kUnknown[] = "not known";
const Exception kExceptions[] = {
    {"libraries", "equinox_pinn_laplacian", 1.23, kLanes},
    {"blind", "tensor_contraction", 1.22, kUnknown},
    {"visitors", "mamba2_ssd_chunked_f32", 0.93, kLanes},
    {"guests", "unet3d_dice_loss_train", 0.81, kOneImage},
    {"outside", "hog_cells_orientation_blocks_u8", 0.81, kUnknown},
    {"colleagues", "evoformer_outer_product_mean_128", 0.71, kOuter},
    {"libraries", "own_yolo_box_giou_loss_grad", 0.69, "losses of boxes"},
    {"observers", "asian_option_mc_delta", 0.67, kUnknown},
    {"guests", "protein_distogram_dilated_resnet_grad", 0.63, kOneImage},
    {"blind", "bilinear_form", 0.58, "a sum over both of an outer product"},
    {"visitors", "msa_outer_product_mean_vjp", 0.58, kOuter},
    {"libraries", "hf_wav2vec2_pos_conv", 0.55, "groups of channels"},
    {"libraries", "own_unet3d_medical_conv_wgrad", 0.53, "kernel gradients of 3-D convolutions"},
    {"outside", "morlet_wavelet_scalogram_by_dilated_convolutions", 0.52,
     "convolutions of one channel along one dimension"},
    {"fresh", "rgb2yuv", 0.51, kUnknown},
};

double BoundOf(absl::string_view batch, absl::string_view program) {
  for (const Exception& exception : kExceptions) {
    if (batch == exception.batch && program == exception.program) return exception.error;
  }
  return kHalf;
}

class SetTest : public ::testing::TestWithParam<SetBounds> {};

TEST_P(SetTest, ErrorsAreWithinBounds) {
  const SetBounds& bounds = GetParam();
  ASSERT_OK_AND_ASSIGN(const std::vector<ChipEstimate> programs, EstimatesOf(bounds.batch));
  const ErrorSummary summary = Summarize(programs);
  EXPECT_EQ(programs.size(), bounds.programs);
  EXPECT_LE(summary.median, bounds.median);
  EXPECT_LE(summary.ninetieth, bounds.ninetieth);
  int beyond = 0;
  for (const ChipEstimate& e : programs) {
    EXPECT_LE(std::abs(e.Error()), BoundOf(bounds.batch, e.name)) << e.name;
    beyond += std::abs(e.Error()) > kTwentyPercent;
  }
  EXPECT_LE(beyond, bounds.beyond);
}

// Exceptions to the 90th percentile, which is 31 % of `outside` and 21 % of three sets: so many of their programs are as those
// above.
INSTANTIATE_TEST_SUITE_P(OneCore, SetTest,
                         ::testing::Values(SetBounds{"held_out", 33, kTwoPercent, kFivePercent, 0},        //
                                           SetBounds{"unseen", 36, kTwoPercent, kTenPercent, 0},           //
                                           SetBounds{"later", 48, kTwoPercent, kTwentyPercent, 3},         //
                                           SetBounds{"last", 37, kFivePercent, kTwentyPercent, 1},         //
                                           SetBounds{"blind", 115, kFivePercent, kTwentyPercent, 5},       //
                                           SetBounds{"neighbours", 36, kTwoPercent, kTwentyPercent, 3},    //
                                           SetBounds{"fresh", 39, kFivePercent, kTwentyPercent, 1},        //
                                           SetBounds{"strangers", 132, kFivePercent, kTwentyPercent, 11},  //
                                           SetBounds{"newest", 92, kFivePercent, kTwentyPercent, 5},       //
                                           SetBounds{"recent", 46, kFivePercent, kTwentyPercent, 3},       //
                                           SetBounds{"latest", 58, kTenPercent, kTwentyPercent, 5},        //
                                           SetBounds{"outside", 52, kFivePercent, 0.31, 9},                //
                                           SetBounds{"libraries", 109, kFivePercent, kTwentyPercent, 5},   //
                                           SetBounds{"engineers", 61, kFivePercent, kTwentyPercent, 4},    //
                                           SetBounds{"practitioners", 72, kTenPercent, 0.21, 8},           //
                                           SetBounds{"colleagues", 71, kFivePercent, kTwentyPercent, 6},   //
                                           SetBounds{"newcomers", 58, kFivePercent, kTwentyPercent, 5},    //
                                           SetBounds{"visitors", 67, kFivePercent, 0.21, 7},               //
                                           SetBounds{"guests", 70, kFivePercent, 0.21, 7},                 //
                                           SetBounds{"outsiders", 71, kFivePercent, kTwentyPercent, 4},    //
                                           SetBounds{"observers", 72, kFivePercent, kTwentyPercent, 2}),
                         [](const auto& info) { return std::string(info.param.batch); });

// An exception: of this program the compiler places what is largest first.
constexpr char kPlacedBySize[] = "take_along_axis_gradient";

TEST(EstimatesTest, ScattersOfSingleElementsAreWithinTenPercentInTheMedian) {
  ASSERT_OK_AND_ASSIGN(const std::vector<ChipEstimate> programs, EstimatesOf(kScatters));
  const ErrorSummary summary = Summarize(programs);
  EXPECT_EQ(programs.size(), 22);
  EXPECT_LE(summary.median, kTenPercent);
  EXPECT_LE(summary.ninetieth, kTwentyPercent);
  EXPECT_LE(summary.worst, kHalf);
  constexpr double kLeast = 4 << 20;  // What is less is a matter of a few small arrays.
  int large = 0;
  for (const ChipEstimate& e : programs) {
    if (e.compiler_temporary < kLeast) continue;
    ++large;
    EXPECT_LE(std::abs(e.TemporaryError()), e.name == kPlacedBySize ? 0.24 : kTwentyPercent) << e.name;
  }
  EXPECT_EQ(large, 13);
}

// Bounds of the errors of what one partitioner makes of the three MoE layers ("pairs") and two training steps.
struct MoeBounds {
  double pair, pair_class, pair_copies, step, step_products, memory;
};

void CheckMoeEstimates(PartitionedBy partitioner, const MoeBounds& bounds) {
  ASSERT_OK_AND_ASSIGN(const std::vector<ChipEstimate> estimates,
                       MoeEstimates(absl::StrCat(kCorpus, "/tpu_v3/moe"), partitioner, TpuV3Core()));
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

TEST(EstimatesTest, MoeLayersAsXlaPartitionsThemAreWithinTwoPercentAndStepsWithinFive) {
  CheckMoeEstimates(PartitionedBy::kXla, {.pair = kTwoPercent,
                                          .pair_class = kFivePercent,
                                          .pair_copies = kFivePercent,
                                          .step = kFivePercent,
                                          .step_products = kFivePercent,
                                          .memory = kTenPercent});
}

// An exception: Toroid's program has up to 22 % fewer copies, since it turns what is sent in another way.
TEST(EstimatesTest, MoeLayersAndStepsAsToroidPartitionsThemTakeAsLong) {
  CheckMoeEstimates(PartitionedBy::kToroid, {.pair = kFivePercent,
                                             .pair_class = kFivePercent,
                                             .pair_copies = 0.23,
                                             .step = kFivePercent,
                                             .step_products = kFivePercent,
                                             .memory = kTenPercent});
}

double MeanError(const std::vector<MeasuredRate>& rates) {
  double error = 0;
  for (const MeasuredRate& rate : rates) error += std::abs(rate.model / rate.measured - 1);
  return error / static_cast<double>(rates.size());
}

TEST(EstimatesTest, DotsAreWithinTenPercentOfWhatWasMeasuredInTheMean) {
  ASSERT_OK_AND_ASSIGN(const std::vector<MeasuredRate> dots, MeasuredDots(TpuV3Core(Rates::kMeasured)));
  EXPECT_LE(MeanError(dots), kTenPercent);
}

TEST(EstimatesTest, VectorProgramsAreWithinTwentyPercentOfWhatWasMeasuredInTheMean) {
  ASSERT_OK_AND_ASSIGN(const std::vector<MeasuredRate> programs,
                       MeasuredElementwise(TpuV3Core(Rates::kMeasured)));
  EXPECT_LE(MeanError(programs), kTwentyPercent);
}

}  // namespace
}  // namespace toroid
