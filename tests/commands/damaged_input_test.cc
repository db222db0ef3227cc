// Truncated and bit-flipped inputs: every command ends by itself, with status 0 or 1, and describes the error
// in one line. Fixed seeds.
// BUILD: size = "medium"
// BUILD: data = ["//hlo:hlo-convert", "//partitioner:hlo-partition", "//runtime:hlo-run", "//tests/corpus:jax"]
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

// Address space is limited, so that an allocation in proportion to a damaged number fails the test; not under
// the address sanitizer, which reserves terabytes of it. A time limit detects hangs: commands take
// milliseconds.
#ifdef __SANITIZE_ADDRESS__
constexpr char kMemoryLimit[] = "";
#else
constexpr char kMemoryLimit[] = "ulimit -v 4000000; ";
#endif

// `command` reads the damaged file, $IN, and writes $OUT.
void ExpectOrderlyEnd(const std::string& bytes, const std::string& what,
                      absl::string_view command = "partitioner/hlo-partition $IN -o $OUT") {
  const std::string path = TempFile("damaged.pb", bytes);
  const std::string out = TempFile("keep.hlo", "keep");
  const Outcome outcome =
      RunShell(absl::StrCat(kMemoryLimit, "IN=", path, " OUT=", out, "; timeout 60 ", command));
  EXPECT_TRUE(outcome.exit == 0 || outcome.exit == 1) << what << ": status " << outcome.exit << "\n"
                                                      << outcome.err;
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
      // Flips one bit, or a few, in the module, which comes first.
      for (int flips = 1 + i % 4; flips > 0; --flips) {
        damaged[random() % std::min<size_t>(damaged.size(), 40000)] ^= static_cast<char>(1 << random() % 8);
      }
      ExpectOrderlyEnd(damaged, absl::StrCat(name, " flip ", i));
    }
  }
}

// The bytes with a few bits flipped, or truncated.
std::string Damage(const std::string& bytes, std::mt19937_64* random) {
  std::string damaged = bytes;
  if ((*random)() % 3 == 0) damaged.resize((*random)() % bytes.size());
  for (int flips = 1 + static_cast<int>((*random)() % 4); flips > 0 && !damaged.empty(); --flips) {
    damaged[(*random)() % damaged.size()] ^= static_cast<char>(1 << (*random)() % 8);
  }
  return damaged;
}

TEST(DamagedInputTest, FormsOfProtosConverted) {
  std::mt19937_64 random(4);
  for (const char* form : {"json", "pbtxt", "snapshot.pb", "hlo.gz"}) {
    const std::string whole = TempPath(absl::StrCat("whole.", form));
    ASSERT_EQ(RunShell(absl::StrCat("hlo/hlo-convert tests/corpus/jax/", kInputs[2], " -o ", whole)).exit, 0);
    const std::string bytes = ReadFile(whole).value();
    for (int i = 0; i < 15; ++i) {
      ExpectOrderlyEnd(Damage(bytes, &random), absl::StrCat(form, " ", i), "hlo/hlo-convert $IN -o $OUT");
    }
  }
}

TEST(DamagedInputTest, ProgramsAndArgumentsRun) {
  std::mt19937_64 random(5);
  const std::string bytes = Input(kInputs[3]);
  for (int i = 0; i < 15; ++i) {
    ExpectOrderlyEnd(Damage(bytes, &random), absl::StrCat("program ", i), "runtime/hlo-run $IN -o $OUT");
  }
  const std::string program = TempFile(
      "two.hlo", "ENTRY main { x = f32[3] parameter(0) y = f32[3] parameter(1) ROOT z = f32[3] add(x, y) }");
  const std::string pair =
      TempFile("pair.hlo", "ENTRY main { x = f32[3] parameter(0) ROOT t = (f32[3], f32[3]) tuple(x, x) }");
  const std::string arguments = TempPath("arguments.npz");
  ASSERT_EQ(RunShell(absl::StrCat("runtime/hlo-run ", pair, " -o ", arguments)).exit, 0);
  ASSERT_EQ(RunShell(absl::StrCat("runtime/hlo-run ", program, " --args=", arguments)).exit, 0);
  const std::string archive = ReadFile(arguments).value();
  for (int i = 0; i < 40; ++i) {
    ExpectOrderlyEnd(Damage(archive, &random), absl::StrCat("arguments ", i),
                     absl::StrCat("runtime/hlo-run ", program, " --args=$IN -o $OUT"));
  }
}

TEST(DamagedInputTest, TextWithChangedBytes) {
  ASSERT_EQ(RunShell(absl::StrCat("partitioner/hlo-partition tests/corpus/jax/", kInputs[1],
                                  " --num_partitions=1 -o ", TempPath("whole.hlo")))
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
