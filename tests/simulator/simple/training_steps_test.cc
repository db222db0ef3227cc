// BUILD: data = ["//tests/corpus:training_steps"]
// Training steps of MaxText on TPU v5e, v5p, v6e and TPU7x: predicted times beside published ones.
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "hlo/io/file.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "simulator/machines/machine.h"
#include "simulator/stages/simulate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// benchmarks/results/training_runs.txt has the errors; a change of the model that makes one larger than this is no improvement.
constexpr double kLargestError = 0.15;

// Of steps whose settings are published in part.
constexpr double kLargestErrorOfAssumed = 0.30;

std::vector<std::vector<std::string>> RowsOf(const std::string& name) {
  const auto text = ReadFile(absl::StrCat("tests/corpus/training_steps/", name));
  EXPECT_OK(text);
  std::vector<std::vector<std::string>> rows;
  for (const absl::string_view line : absl::StrSplit(text.value_or(""), '\n', absl::SkipEmpty())) {
    rows.push_back(absl::StrSplit(line, '\t'));
  }
  if (!rows.empty()) rows.erase(rows.begin());
  return rows;
}

absl::StatusOr<Simulation> Simulated(const std::vector<std::string>& row) {
  ASSIGN_OR_RETURN(const HloFile file,
                   ReadHloFile(absl::StrCat("tests/corpus/training_steps/", row[0], ".shardy.hlo.pb.gz")));
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(*file.module, {}));
  SimulationOptions options;
  ASSIGN_OR_RETURN(options.machine, LoadMachine(row[1]));
  return Simulate(*partitioned.module, options);
}

double OverPublished(const Simulation& simulation, const std::vector<std::string>& row) {
  double published = 0;
  EXPECT_TRUE(absl::SimpleAtod(row[2], &published));
  return static_cast<double>(simulation.prediction.step_ps) * 1e-12 / published;
}

TEST(TrainingStepsTest, StepsOfAssumedSettingsAreNearThePublishedOnes) {
  const auto rows = RowsOf("assumed.tsv");
  ASSERT_EQ(rows.size(), 10u);
  for (const auto& row : rows) {
    SCOPED_TRACE(row[0]);
    ASSERT_OK_AND_ASSIGN(const Simulation simulation, Simulated(row));
    EXPECT_NEAR(OverPublished(simulation, row), 1, kLargestErrorOfAssumed);
  }
}

TEST(TrainingStepsTest, PredictedStepsAreNearThePublishedOnes) {
  const auto rows = RowsOf("index.tsv");
  ASSERT_EQ(rows.size(), 24u);
  for (const auto& row : rows) {
    SCOPED_TRACE(row[0]);
    ASSERT_OK_AND_ASSIGN(const Simulation simulation, Simulated(row));
    EXPECT_NEAR(OverPublished(simulation, row), 1, kLargestError);
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
