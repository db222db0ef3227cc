// BUILD: size = "small"
// BUILD: data = ["//tests/corpus:once_crashed"]
// Whole programs that ended the simulator by a signal.
#include "gtest/gtest.h"
#include "hlo/io/file.h"
#include "hlo/ops/verify_module.h"
#include "simulator/machines/machine.h"
#include "simulator/stages/simulate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// A group that had taken others in was asked for the dimensions that its values share, and has none.
TEST(OnceCrashedTest, AGroupWithoutASpaceOfItsOwnTakesNoOthers) {
  ASSERT_OK_AND_ASSIGN(const HloFile file,
                       ReadHloFile("tests/corpus/once_crashed/group_without_space.hlo.pb.gz"));
  SimulationOptions options;
  ASSERT_OK_AND_ASSIGN(options.machine, LoadMachine("tpu-v3-8"));
  ASSERT_OK_AND_ASSIGN(const Simulation simulation, Simulate(*file.module, options));
  EXPECT_OK(VerifyModule(*simulation.lowered));
  EXPECT_GT(simulation.prediction.step_ps, 0);
}

}  // namespace
}  // namespace toroid
