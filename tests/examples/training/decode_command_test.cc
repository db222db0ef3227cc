// BUILD: size = "medium"
#include "examples/training/decode_command.h"

#include <filesystem>
#include <string>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "examples/training/checkpoint.h"
#include "examples/training/train_command.h"
#include "hlo/base/files.h"
#include "runtime/arguments/npz.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The command's error for these flags; "" if they are right.
std::string ParseError(CLI::App& app, const std::string& flags) {
  try {
    app.parse(flags, /*program_name_included=*/false);
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "";
}

std::string DecodeError(const std::string& flags, DecodeCommand* command) {
  CLI::App app;
  AddDecodeFlags(app, command);
  return ParseError(app, flags);
}

absl::Status Decode(const std::string& flags) {
  DecodeCommand command;
  EXPECT_EQ(DecodeError(flags, &command), "") << flags;
  return RunDecodeCommand(command);
}

// A checkpoint of a tiny model after two steps, alone in its folder.
const std::string& Checkpoint1() {
  static const std::string* const path = [] {
    const std::string folder = absl::StrCat(::testing::TempDir(), "/trained");
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    TrainCommand command;
    CLI::App app;
    AddTrainFlags(app, &command);
    const std::string file = folder + "/moe.npz";
    EXPECT_EQ(
        ParseError(app,
                   absl::StrCat(
                       "--train --names=made-up --experts=4 --groups=4 --model_width=8 --hidden=8 --heads=2 "
                       "--head_dim=4 --length=12 --steps=2 --evaluate_every=0 --beam=0 --checkpoint=",
                       file)),
        "");
    EXPECT_OK(RunTrainCommand(command));
    return new std::string(file);
  }();
  return *path;
}

// The checkpoint's configuration with these entries changed; null removes an entry.
std::string WithEntries(const nlohmann::json& entries) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/changed.npz");
  auto configuration = LoadConfiguration(Checkpoint1());
  EXPECT_OK(configuration);
  Checkpoint changed;
  changed.configuration = *configuration;
  changed.configuration.merge_patch(entries);
  EXPECT_OK(SaveCheckpoint(path, changed));
  return path;
}

TEST(DecodeCommandTest, WrongUsageIsToldBeforeAnythingRuns) {
  DecodeCommand command;
  EXPECT_THAT(DecodeError("", &command),
              AllOf(HasSubstr("--checkpoint"), HasSubstr("moe_transformer -- --train --checkpoint=")));
  EXPECT_THAT(DecodeError("--checkpoint=x --beam=0", &command), HasSubstr("--beam"));
  EXPECT_THAT(DecodeError("--checkpoint=x --sentence=Haus", &command), HasSubstr("--language"));
  EXPECT_THAT(DecodeError("--checkpoint=x --language=de", &command), HasSubstr("--sentence"));
  EXPECT_THAT(DecodeError("--predict --checkpoint=x", &command), HasSubstr("excludes"));
  EXPECT_THAT(DecodeError("--checkpoint=x --model=2048e_36l", &command), HasSubstr("--predict"));
  EXPECT_THAT(DecodeError("--predict --capacity=-1", &command), HasSubstr("--capacity"));
  EXPECT_THAT(DecodeError("--checkpoint=x --devices=0", &command), HasSubstr("--devices"));
}

TEST(DecodeCommandTest, TranslatesWithACheckpointFromAFileOrFolderOnOtherDevices) {
  EXPECT_OK(Decode(absl::StrCat("--names=3 --beam=2 --checkpoint=", Checkpoint1())));
  EXPECT_OK(Decode(absl::StrCat("--names=3 --devices=2 --checkpoint=",
                                std::filesystem::path(Checkpoint1()).parent_path().string())));
  EXPECT_THAT(Decode(absl::StrCat("--language=xx --sentence=abc --checkpoint=", Checkpoint1())),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("not trained on xx; it knows "), Not(HasSubstr("\n")))));
}

TEST(DecodeCommandTest, SentenceIsTranslatedUnlessItIsTooLong) {
  DecodeCommand command;
  command.checkpoint = Checkpoint1();
  const std::string tried = RunDecodeCommand([&] {
                              DecodeCommand one = command;
                              one.language = "?";
                              return one;
                            }())
                                .ToString();
  // The first language that the message lists.
  const size_t at = tried.find("it knows ") + 9;
  command.language = tried.substr(at, tried.find(' ', at) - at);
  command.sentence = "abc";
  EXPECT_OK(RunDecodeCommand(command));
  command.sentence = "abcdefghijklmno";
  EXPECT_THAT(RunDecodeCommand(command),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--sentence: the sentence has 15 characters, the model takes at most 11")));
}

TEST(DecodeCommandTest, MissingForeignAndDamagedCheckpointsAreRefusedInALine) {
  const std::string folder = ::testing::TempDir();
  const auto refused = [](const std::string& path, absl::StatusCode code, const std::string& why) {
    EXPECT_THAT(Decode("--checkpoint=" + path), StatusIs(code, AllOf(HasSubstr(why), Not(HasSubstr("\n")))))
        << path;
  };
  refused(folder + "/absent.npz", absl::StatusCode::kNotFound, "absent.npz: ");
  std::filesystem::create_directories(folder + "/empty");
  refused(folder + "/empty", absl::StatusCode::kNotFound, "empty: a folder with no .npz file");
  ASSERT_OK(WriteFile(folder + "/text.npz", "no archive"));
  refused(folder + "/text.npz", absl::StatusCode::kInvalidArgument, "text.npz: is no checkpoint");
  ASSERT_OK_AND_ASSIGN(const std::string other, WriteNpz({Literal::Scalar<float>(1)}));
  ASSERT_OK(WriteFile(folder + "/other.npz", other));
  refused(folder + "/other.npz", absl::StatusCode::kInvalidArgument,
          "other.npz: is no checkpoint: has no configuration.json");
  ASSERT_OK_AND_ASSIGN(std::string bytes, ReadFile(Checkpoint1()));
  ASSERT_OK(WriteFile(folder + "/cut.npz", bytes.substr(0, bytes.size() / 2)));
  refused(folder + "/cut.npz", absl::StatusCode::kInvalidArgument, "cut.npz: is no checkpoint");
  // In the middle of some weight.
  const size_t at = bytes.find("decoder.softmax");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 400] ^= 1;
  ASSERT_OK(WriteFile(folder + "/flipped.npz", bytes));
  refused(folder + "/flipped.npz", absl::StatusCode::kInvalidArgument, "flipped.npz: ");
}

TEST(DecodeCommandTest, ConfigurationsThatFitNoWeightsAreRefusedInALine) {
  const auto refused = [](const std::string& key, const nlohmann::json& value, const std::string& why) {
    const absl::Status status = Decode("--checkpoint=" + WithEntries({{key, value}}));
    EXPECT_FALSE(status.ok()) << key;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("changed.npz: "), HasSubstr(why), Not(HasSubstr("\n"))));
  };
  refused("layers", nullptr, "has no layers");
  refused("layers", int64_t{1} << 60, "layers is no whole number from 2 to 1000");
  refused("layers", 3, "even");
  refused("heads", "four", "heads is no whole number");
  refused("seed", -1, "seed is no whole number from 0 on");
  refused("hidden", 1 << 20, "has no array");
  refused("temperature", "x", "temperature is no number");
  refused("sentences", 5, "sentences is no text");
  refused("sentences", "letters\n", "was trained on letters\\n, which are not here");
  refused("sentences_sum", "0", "was trained on other sentences");
  refused("target_vocabulary", 5, "");
  refused("experts", 8, "has no array");
  EXPECT_THAT(Decode("--checkpoint=" + WithEntries({{"layers", 1000}, {"hidden", 1 << 20}})),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than a checkpoint holds")));
}

TEST(DecodeCommandTest, ModelOfWhichAnArrayIsTooLargeIsToldInOneLine) {
  EXPECT_THAT(Decode("--predict --model=2048e_36l --beam=256 --sentences=4096 --steps=65536"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("the bytes of the result"), Not(HasSubstr("\n")))));
}

TEST(DecodeCommandTest, PodIsPredictedForATableOneModel) {
  EXPECT_THAT(Decode("--predict --model=12l"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no model '12l'")));
  DecodePredictionOptions options;
  options.model = "128e_12l";
  options.steps = 64;
  ASSERT_OK_AND_ASSIGN(const DecodePrediction four, PredictDecoding(options));
  EXPECT_EQ(four.sentences, 512);
  EXPECT_EQ(four.capacity, 1);
  EXPECT_GT(four.tokens_per_second, 0);
  options.beam = 1;
  ASSERT_OK_AND_ASSIGN(const DecodePrediction one, PredictDecoding(options));
  EXPECT_GT(one.tokens_per_second, four.tokens_per_second);
  options.capacity = 0;
  ASSERT_OK_AND_ASSIGN(const DecodePrediction roomy, PredictDecoding(options));
  EXPECT_EQ(roomy.capacity, 4);
  EXPECT_LT(roomy.tokens_per_second, one.tokens_per_second);
}

}  // namespace
}  // namespace toroid
