// BUILD: size = "medium"
#include "examples/training/train_command.h"

#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "hlo/base/files.h"
#include "tests/fresh_path.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kTiny[] =
    "--train --names=made-up --experts=4 --groups=4 --model_width=8 --hidden=8 --heads=2 --head_dim=4 --length=12 "
    "--evaluate_every=0 --report_every=2 ";

// The error of the flags, "" if there is none.
std::string ParseError(const std::string& flags, TrainCommand* command) {
  CLI::App app;
  AddTrainFlags(app, command);
  try {
    app.parse(flags, /*program_name_included=*/false);
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "";
}

absl::Status RunFlags(const std::string& flags) {
  TrainCommand command;
  EXPECT_EQ(ParseError(flags, &command), "") << flags;
  return RunTrainCommand(command);
}

TEST(TrainCommandTest, WrongUsageIsToldBeforeAnythingRuns) {
  TrainCommand command;
  EXPECT_THAT(ParseError("--experts=8", &command), HasSubstr("--train"));
  EXPECT_THAT(ParseError("--train --resume", &command), HasSubstr("--checkpoint"));
  EXPECT_THAT(ParseError("--train --experts=1", &command), HasSubstr("--experts"));
  EXPECT_THAT(ParseError("--train --steps=x", &command), HasSubstr("--steps"));
  EXPECT_THAT(ParseError("--train --aux_weight=-1", &command), HasSubstr("--aux_weight"));
  EXPECT_THAT(ParseError("--train --names=none", &command), HasSubstr("--names"));
  EXPECT_THAT(ParseError("--train --curves=out.png", &command), HasSubstr("must end in .svg"));
}

TEST(TrainCommandTest, CheckpointIsResumedAndRefusedToAnotherModel) {
  const std::string path = FreshPath("run.npz"), whole = FreshPath("whole.npz");
  ASSERT_OK(RunFlags(absl::StrCat(kTiny, "--steps=6 --checkpoint=", whole)));
  ASSERT_OK(RunFlags(absl::StrCat(kTiny, "--steps=3 --checkpoint=", path)));
  EXPECT_THAT(RunFlags(absl::StrCat(kTiny, "--steps=6 --checkpoint=", path)),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("run.npz: exists")));
  EXPECT_THAT(RunFlags(absl::StrCat(kTiny, "--steps=6 --resume --dropout=0.5 --checkpoint=", path)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("run.npz: "), HasSubstr("dropout=0.0, this one has dropout=0.5"))));
  ASSERT_OK(RunFlags(absl::StrCat(kTiny, "--steps=6 --resume --checkpoint=", path)));
  // The weights are equal; the curve of the stopped run has one evaluation more, at its end.
  TrainCommand command;
  ASSERT_EQ(ParseError(kTiny, &command), "");
  command.options.model.devices = 4;
  std::string says;
  ASSERT_OK_AND_ASSIGN(const auto training, MoeTraining::Create(command.options, &says));
  const std::string prefix(LearningCurve::kPrefix);
  const auto load = [&](const std::string& from) {
    return LoadCheckpoint(from, training->trainer().configuration(), training->trainer().arrays(), {prefix});
  };
  ASSERT_OK_AND_ASSIGN(const Checkpoint resumed, load(path));
  ASSERT_OK_AND_ASSIGN(const Checkpoint straight, load(whole));
  for (size_t i = 0; i < training->trainer().arrays().size(); ++i)
    EXPECT_EQ(resumed.arrays[i], straight.arrays[i]) << resumed.names[i];
}

TEST(TrainCommandTest, CurvesAreDrawnWithTheirNumbersBeside) {
  const std::string path = FreshPath("curve.svg");
  ASSERT_OK(RunFlags(absl::StrCat(kTiny, "--steps=4 --curves=", path)));
  EXPECT_THAT(ReadFile(path), IsOkAndHolds(HasSubstr("<svg")));
  EXPECT_THAT(ReadFile(absl::StrCat(::testing::TempDir(), "/curve.tsv")),
              IsOkAndHolds(HasSubstr("step\tloss\tcross_entropy")));
}

TEST(TrainCommandTest, FirstStepsAreDumpedWithTheirLosses) {
  const std::string folder = absl::StrCat(::testing::TempDir(), "/steps");
  std::filesystem::remove_all(folder);
  ASSERT_OK(RunFlags(absl::StrCat(kTiny, "--steps=2 --beam=0 --dump_step=", folder)));
  for (const char* name : {"step.hlo.pb", "state.npz", "inputs_0.npz", "inputs_1.npz", "losses.tsv"}) {
    EXPECT_TRUE(std::filesystem::exists(absl::StrCat(folder, "/", name))) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(absl::StrCat(folder, "/inputs_2.npz")));
  TrainCommand command;
  EXPECT_THAT(ParseError(absl::StrCat("--train --checkpoint=x --resume --dump_step=", folder), &command),
              HasSubstr("excludes"));
  EXPECT_THAT(ParseError("--train --beam=65", &command), HasSubstr("--beam"));
}

TEST(TrainCommandTest, BeamWiderThanTheAlphabetIsRefusedBeforeTraining) {
  EXPECT_OK(RunFlags(absl::StrCat(kTiny, "--steps=1 --beam=2")));
  EXPECT_THAT(RunFlags(absl::StrCat(kTiny, "--steps=1 --beam=64")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a beam of 64 hypotheses")));
}

TEST(TrainCommandTest, SharedFlagsAreTaken) {
  TrainCommand command;
  ASSERT_EQ(ParseError(absl::StrCat(kTiny, "--steps=1"), &command), "");
  command.devices = 2;
  command.layers = 3;
  EXPECT_THAT(RunTrainCommand(command), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("even")));
}

}  // namespace
}  // namespace toroid
