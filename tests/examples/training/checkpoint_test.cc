#include "examples/training/checkpoint.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "hlo/base/files.h"
#include "hlo/ir/native_types.h"
#include "runtime/arguments/npz.h"
#include "tests/fresh_path.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Checkpoint Sample() {
  Literal half(Shape(xla::BF16, {3}));
  half.mutable_data<bfloat16>()[1] = bfloat16(1.5f);
  return {{{"experts", 8}, {"model", "moe"}},
          {"step", "layer.w", "half"},
          {Literal::Scalar<int32_t>(7), Literal::Array<float>({2, 2}, {1, 2, 3, 4}), half}};
}

std::vector<NamedShape> Shapes(const Checkpoint& checkpoint) {
  std::vector<NamedShape> shapes;
  for (size_t i = 0; i < checkpoint.names.size(); ++i)
    shapes.push_back({checkpoint.names[i], checkpoint.arrays[i].shape()});
  return shapes;
}

// The one line of an error about this file.
auto IsError(const std::string& path, const std::string& part) {
  return StatusIs(absl::StatusCode::kInvalidArgument,
                  AllOf(HasSubstr(path + ": "), HasSubstr(part), HasSubstr("; "), Not(HasSubstr("\n"))));
}

TEST(CheckpointTest, LoadsWhatWasSavedToTheBit) {
  const std::string path = FreshPath("whole.npz");
  const Checkpoint saved = Sample();
  ASSERT_OK(SaveCheckpoint(path, saved));
  ASSERT_OK_AND_ASSIGN(const Checkpoint loaded, LoadCheckpoint(path, saved.configuration, Shapes(saved)));
  EXPECT_EQ(loaded.configuration, saved.configuration);
  EXPECT_EQ(loaded.names, saved.names);
  EXPECT_EQ(loaded.arrays, saved.arrays);
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
}

TEST(CheckpointTest, FurtherArraysComeBehindTheState) {
  const std::string path = FreshPath("further.npz");
  Checkpoint saved = Sample();
  const std::vector<NamedShape> state = Shapes(saved);
  saved.names.push_back("curve.loss");
  saved.arrays.push_back(Literal::Array<double>({1, 2}, {1, 0.5}));
  ASSERT_OK(SaveCheckpoint(path, saved));
  const std::string prefix = "curve.";
  ASSERT_OK_AND_ASSIGN(const Checkpoint loaded, LoadCheckpoint(path, saved.configuration, state, {prefix}));
  EXPECT_EQ(loaded.names, saved.names);
  EXPECT_EQ(loaded.arrays, saved.arrays);
  EXPECT_THAT(LoadCheckpoint(path, saved.configuration, state), IsError(path, "has an array curve.loss"));
}

TEST(CheckpointTest, CheckpointOfAnotherModelIsRefusedByWhatDiffers) {
  const std::string path = FreshPath("other.npz");
  const Checkpoint saved = Sample();
  ASSERT_OK(SaveCheckpoint(path, saved));
  const std::vector<NamedShape> shapes = Shapes(saved);

  nlohmann::json other = saved.configuration;
  other["experts"] = 64;
  EXPECT_THAT(LoadCheckpoint(path, other, shapes), IsError(path, "experts=8, this one has experts=64"));
  other = saved.configuration;
  other["layers"] = 4;
  EXPECT_THAT(LoadCheckpoint(path, other, shapes), IsError(path, "no layers, this one has layers=4"));

  std::vector<NamedShape> wanted = shapes;
  wanted[1].shape = Shape(xla::F32, {2, 3});
  EXPECT_THAT(LoadCheckpoint(path, saved.configuration, wanted),
              IsError(path, "array layer.w is f32[2,2], that of the model f32[2,3]"));
  wanted = shapes;
  wanted[1].shape = Shape(xla::F64, {2, 2});
  EXPECT_THAT(LoadCheckpoint(path, saved.configuration, wanted), IsError(path, "array layer.w: holds f32"));
  wanted = shapes;
  wanted.push_back({"layer.v", Shape(xla::F32, {2})});
  EXPECT_THAT(LoadCheckpoint(path, saved.configuration, wanted),
              IsError(path, "has no array layer.v f32[2]"));
  wanted = shapes;
  wanted.pop_back();
  EXPECT_THAT(LoadCheckpoint(path, saved.configuration, wanted), IsError(path, "has an array half"));
}

TEST(CheckpointTest, FileThatIsNotThereIsNotFound) {
  EXPECT_THAT(LoadCheckpoint(FreshPath("nothing.npz"), {}, {}), StatusIs(absl::StatusCode::kNotFound));
}

TEST(CheckpointTest, FileThatIsNoCheckpointIsRefused) {
  const std::string path = FreshPath("no.npz");
  ASSERT_OK(WriteFile(path, "hello"));
  EXPECT_THAT(LoadCheckpoint(path, {}, {}), IsError(path, "is no checkpoint"));
  ASSERT_OK_AND_ASSIGN(const std::string archive, WriteNpz({Literal::Scalar<float>(1)}));
  ASSERT_OK(WriteFile(path, archive));
  EXPECT_THAT(LoadCheckpoint(path, {}, {}), IsError(path, "has no configuration.json"));
  for (const std::string& text : {std::string("{"), std::string("[1]"), std::string(100000, '[')}) {
    const Literal bytes =
        Literal::Array<uint8_t>({static_cast<int64_t>(text.size())},
                                absl::MakeSpan(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
    const std::string name = "configuration.json";
    ASSERT_OK_AND_ASSIGN(const std::string other, WriteNpz({bytes}, {name}));
    ASSERT_OK(WriteFile(path, other));
    EXPECT_THAT(LoadCheckpoint(path, {}, {}), IsError(path, "is no JSON object"));
  }
}

// Every byte flipped, or every length truncated: the file is refused, or (if the byte has no meaning) the
// arrays are the same.
TEST(CheckpointTest, DamageNeverGivesOtherValues) {
  const std::string path = FreshPath("damaged.npz");
  const Checkpoint saved = Sample();
  ASSERT_OK(SaveCheckpoint(path, saved));
  ASSERT_OK_AND_ASSIGN(const std::string whole, ReadFile(path));
  const auto check = [&](const std::string& bytes) {
    ASSERT_OK(WriteFile(path, bytes));
    const auto loaded = LoadCheckpoint(path, saved.configuration, Shapes(saved));
    if (loaded.ok()) {
      EXPECT_EQ(loaded->arrays, saved.arrays);
    } else {
      EXPECT_THAT(loaded, IsError(path, ""));
    }
  };
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
    check(bytes);
  }
  for (size_t size = 0; size < whole.size(); ++size) check(whole.substr(0, size));
}

// A child process saves one checkpoint after the other until it is killed, at a moment that varies between
// rounds.
TEST(CheckpointTest, KilledWhileSavingNothingIsLost) {
  const std::string path = FreshPath("killed.npz");
  const auto numbered = [](int n) {
    return Checkpoint{
        {{"model", "m"}},
        {"n", "w"},
        {Literal::Scalar<int32_t>(n), Literal::Array<int32_t>({50000}, std::vector<int32_t>(50000, n))}};
  };
  ASSERT_OK(SaveCheckpoint(path, numbered(0)));
  int last = 0, interrupted = 0;
  for (int round = 0; round < 60; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int n = last + 1;; ++n) {
        if (!SaveCheckpoint(path, numbered(n)).ok()) _exit(1);
      }
    }
    usleep(500 + 977 * (round % 17));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    interrupted += std::filesystem::exists(path + ".part");
    ASSERT_OK_AND_ASSIGN(const Checkpoint loaded,
                         LoadCheckpoint(path, numbered(0).configuration, Shapes(numbered(0))));
    const int n = loaded.arrays[0].data<int32_t>()[0];
    EXPECT_GE(n, last);
    EXPECT_EQ(loaded.arrays[1], numbered(n).arrays[1]);
    last = n;
  }
  EXPECT_GT(interrupted, 0);
  // Leftovers of an interrupted save do no harm, and are removed.
  ASSERT_OK(SaveCheckpoint(path, numbered(-1)));
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
}

TEST(CheckpointTest, PlaceThatCannotBeWrittenIsAnError) {
  EXPECT_THAT(SaveCheckpoint("/nowhere/at/all.npz", Sample()),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nowhere/at/all.npz: ")));
  EXPECT_THAT(SaveCheckpoint("/dev/null", Sample()),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("no regular file")));
}

}  // namespace
}  // namespace toroid
