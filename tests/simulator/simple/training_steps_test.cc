// BUILD: data = ["//tests/corpus:training_steps"]
// Training steps of MaxText on TPU v5e, v5p and v6e: predicted times beside published ones.
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "hlo/base/files.h"
#include "hlo/io/file.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "simulator/machines/machine.h"
#include "simulator/stages/simulate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// benchmarks/results/training_runs.txt has the errors; a change of the model that makes one larger than this is no improvement.
constexpr double kLargestError = 0.12;

TEST(TrainingStepsTest, PredictedStepsAreNearThePublishedOnes) {
  ASSERT_OK_AND_ASSIGN(const std::string text, ReadFile("tests/corpus/training_steps/index.tsv"));
  std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 25u);
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> row = absl::StrSplit(lines[i], '\t');
    SCOPED_TRACE(row[0]);
    ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHloFile(absl::StrCat("tests/corpus/training_steps/", row[0],
                                                                      ".shardy.hlo.pb.gz")));
    ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*file.module, {}));
    SimulationOptions options;
    ASSERT_OK_AND_ASSIGN(options.machine, LoadMachine(row[1]));
    ASSERT_OK_AND_ASSIGN(const Simulation simulation, Simulate(*partitioned.module, options));
    double published = 0;
    ASSERT_TRUE(absl::SimpleAtod(row[2], &published));
    EXPECT_NEAR(static_cast<double>(simulation.prediction.step_ps) * 1e-12 / published, 1, kLargestError);
    // What MaxText keeps on the host between layers takes nothing of the device's memory.
    if (row[0] == "v6e_llama3.1_8b_16") {
      EXPECT_LT(simulation.prediction.memory.peak, simulation.prediction.memory.capacity);
      EXPECT_GT(simulation.prediction.memory.host_peak, int64_t{20} << 30);
      // What is kept there comes back once, beside the layers.
      EXPECT_EQ(simulation.prediction.memory.to_device, simulation.prediction.memory.to_host);
      EXPECT_GT(simulation.prediction.host_ps, 0);
      EXPECT_LT(simulation.prediction.exposed_host_ps, simulation.prediction.host_ps / 10);
      // The copies are hidden, also from what would do at full rates.
      EXPECT_LT(simulation.prediction.roofline_ps, simulation.prediction.step_ps);
    }
    for (const std::string& note : simulation.prediction.notes) {
      EXPECT_EQ(note.find("custom call"), std::string::npos) << "the kernels of these steps are known";
    }
  }
}

}  // namespace
}  // namespace toroid
