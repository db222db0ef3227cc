// BUILD: size = "medium"
#include "examples/training/step_dump.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "examples/training/moe_training.h"
#include "hlo/base/files.h"
#include "hlo/io/file.h"
#include "runtime/arguments/npz.h"
#include "runtime/engine/executor.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<Literal> ReadArrays(const std::string& path) {
  const auto bytes = ReadFile(path);
  EXPECT_OK(bytes);
  auto members = ReadNpz(*bytes);
  EXPECT_OK(members);
  std::vector<Literal> arrays;
  for (NpzMember& member : *members) arrays.push_back(std::move(member.array.values));
  return arrays;
}

// The files alone reproduce the losses of training on four devices.
TEST(StepDumpTest, FilesRepeatTheRun) {
  MoeTrainingOptions options = SmallMoeTraining(4);
  options.names = "made-up";
  options.model.groups = 4;
  options.model.model = 8;
  options.model.hidden = 16;
  options.task.length = 12;
  options.model.dropout = 0.1;
  std::string says;
  ASSERT_OK_AND_ASSIGN(const auto training, MoeTraining::Create(options, &says));
  const std::string folder = absl::StrCat(::testing::TempDir(), "/dump/of_steps");
  std::filesystem::remove_all(folder);
  ASSERT_OK(DumpSteps(training->trainer(), training->Data(), 3, folder));
  LoopOptions loop;
  loop.steps = 4;
  loop.evaluate_every = 0;
  ASSERT_OK_AND_ASSIGN(const LearningCurve curve, RunTraining(training->trainer(), training->Data(), loop));
  ASSERT_OK(DumpLosses(curve, "loss", 3, folder));

  ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHloFile(folder + "/step.hlo.pb"));
  std::vector<Literal> state = ReadArrays(folder + "/state.npz");
  const auto& losses = curve.Find("loss")->points;
  for (int step = 0; step < 3; ++step) {
    std::vector<Literal> arguments = state;
    for (Literal& input : ReadArrays(absl::StrCat(folder, "/inputs_", step, ".npz")))
      arguments.push_back(std::move(input));
    ASSERT_OK_AND_ASSIGN(const Literal result, RunSingle(*file.module, arguments));
    for (size_t i = 0; i < state.size(); ++i) state[i] = result.element(static_cast<int>(i));
    EXPECT_NEAR(result.element(static_cast<int>(state.size())).data<float>()[0], losses[step].value,
                1e-4 * losses[step].value);
  }
  EXPECT_THAT(ReadFile(folder + "/losses.tsv"), IsOkAndHolds(HasSubstr("step\tloss\n1\t")));
  EXPECT_THAT(ReadFile(folder + "/losses.tsv"), IsOkAndHolds(Not(HasSubstr("\n4\t"))));
  EXPECT_THAT(DumpSteps(training->trainer(), training->Data(), 3, "/dev/null/x"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("/dev/null/x")));
}

}  // namespace
}  // namespace toroid
