// Truncated and bit-flipped inputs: every command ends by itself, with status 0 or 1, and says in one line what is
// wrong. Fixed seeds.
// BUILD: size = "medium"
// BUILD: data = ["//partitioner:hlo-partition", "//tests/corpus:jax"]
// BUILD: shard_count = 2
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/files.h"
#include "tests/commands/command_runner.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

const char* const kInputs[] = {"moe_layer_forward.gspmd.snapshot.pb", "decode_kv_cache.shardy.hlo.pb",
                               "shape_ops.shardy.hlo.pb", "manual_subgroup.gspmd.snapshot.pb"};

std::string Input(const char* name) {
  absl::StatusOr<std::string> bytes = ReadFile(absl::StrCat("tests/corpus/jax/", name));
  TOROID_CHECK(bytes.ok(), bytes.status().message());
  return *std::move(bytes);
}

// Address space is bounded, so that an allocation in proportion to a damaged number fails the test. A time limit
// stands for "hangs": programs take milliseconds.
void ExpectOrderlyEnd(const std::string& bytes, const std::string& what) {
  const std::string path = TempFile("damaged.pb", bytes);
  const std::string out = TempFile("keep.hlo", "keep");
  const Outcome outcome = RunShell(absl::StrCat("ulimit -v 4000000; timeout 60 partitioner/hlo-partition ", path, " -o ", out));
  EXPECT_TRUE(outcome.exit == 0 || outcome.exit == 1) << what << ": status " << outcome.exit << "\n" << outcome.err;
  if (outcome.exit == 1) {
    EXPECT_EQ(outcome.ErrorLines(), 1) << what << "\n" << outcome.err;
    EXPECT_EQ(ReadFile(out).value(), "keep") << what;
  }
}

TEST(DamagedInputTest, TruncatedProtos) {
  std::mt19937_64 random(1);
  for (const char* name : kInputs) {
    const std::string bytes = Input(name);
    for (int i = 0; i < 15; ++i) {
      const size_t length = i == 0 ? 1 : random() % bytes.size();
      ExpectOrderlyEnd(bytes.substr(0, length), absl::StrCat(name, " cut at ", length));
    }
  }
}

TEST(DamagedInputTest, ProtosWithFlippedBits) {
  std::mt19937_64 random(2);
  for (const char* name : kInputs) {
    const std::string bytes = Input(name);
    for (int i = 0; i < 25; ++i) {
      std::string damaged = bytes;
      // One bit, or a few; in the module, which stands first.
      for (int flips = 1 + i % 4; flips > 0; --flips) {
        damaged[random() % std::min<size_t>(damaged.size(), 40000)] ^= static_cast<char>(1 << random() % 8);
      }
      ExpectOrderlyEnd(damaged, absl::StrCat(name, " flip ", i));
    }
  }
}

TEST(DamagedInputTest, TextWithChangedBytes) {
  ASSERT_EQ(RunShell(absl::StrCat("partitioner/hlo-partition tests/corpus/jax/", kInputs[1], " --num_partitions=1 -o ",
                                  TempPath("whole.hlo")))
                .exit,
            0);
  const std::string text = ReadFile(TempPath("whole.hlo")).value();
  const std::string characters = "{}[](),=<>%\"0123456789-axT\n";
  std::mt19937_64 random(3);
  for (int i = 0; i < 40; ++i) {
    std::string damaged = text;
    if (i % 4 == 0) {
      damaged.resize(random() % text.size());
    } else {
      damaged[random() % text.size()] = characters[random() % characters.size()];
    }
    ExpectOrderlyEnd(damaged, absl::StrCat("text ", i));
  }
}

}  // namespace
}  // namespace toroid
