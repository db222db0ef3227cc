// hlo-diff as a user sees it: exit status, messages, output.
// BUILD: size = "medium"
// BUILD: data = ["//explain:hlo-diff", "//hlo:hlo-convert", "//partitioner:hlo-partition", "//tests/corpus:jax", "//tests/corpus:xla_partitioned"]
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "hlo/base/files.h"
#include "nlohmann/json.hpp"
#include "tests/commands/command_runner.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const char kDiff[] = "explain/hlo-diff ";
const char kTheirs[] = "tests/corpus/xla_partitioned/moe_layer_gradient.gspmd.spmd.hlo.pb.gz";
const char kGlobal[] = "tests/corpus/jax/moe_layer_gradient.gspmd.snapshot.pb";

// The program that hlo-partition makes, in the format of `name`.
std::string Ours(const std::string& name) {
  const std::string path = TempPath(name);
  EXPECT_EQ(RunShell(absl::StrCat("partitioner/hlo-partition ", kGlobal, " -o ", path)).exit, 0);
  return path;
}

void ExpectFailure(const std::string& arguments, const std::string& message) {
  const Outcome outcome = RunShell(kDiff + arguments);
  EXPECT_EQ(outcome.exit, 2) << arguments << "\n" << outcome.err;
  EXPECT_EQ(outcome.ErrorLines(), 1) << arguments << "\n" << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(message)) << arguments;
  EXPECT_EQ(outcome.out, "");
}

TEST(HloDiffTest, TheExitStatusIsThatOfDiff) {
  const std::string ours = Ours("ours.hlo.pb"), text = Ours("ours.hlo"), json = Ours("ours.json");
  EXPECT_EQ(RunShell(absl::StrCat(kDiff, "--help")).exit, 0);
  EXPECT_EQ(RunShell(absl::StrCat(kDiff, "--version")).exit, 0);
  for (const std::string& other : {ours, text, json}) {
    const Outcome same = RunShell(absl::StrCat(kDiff, ours, " ", other));
    EXPECT_EQ(same.exit, 0) << same.out << same.err;
    EXPECT_THAT(same.out, StartsWith("the same program: "));
  }
  const Outcome differs = RunShell(absl::StrCat(kDiff, ours, " ", kTheirs));
  EXPECT_EQ(differs.exit, 1);
  EXPECT_EQ(differs.err, "");
  EXPECT_THAT(differs.out, StartsWith("B (moe_layer_gradient.gspmd.spmd.hlo.pb.gz) sends "));
  EXPECT_THAT(differs.out, HasSubstr("programs/jax_programs.py:79"));
  EXPECT_EQ(RunShell(absl::StrCat(kDiff, "- ", kTheirs, " < ", ours)).exit, 1);
  EXPECT_THAT(RunShell(absl::StrCat(kDiff, ours, " ", kTheirs, " --label ours --label theirs")).out,
              StartsWith("B (theirs) sends "));
}

TEST(HloDiffTest, ErrorsAreOneLine) {
  const std::string ours = Ours("ours.hlo.pb");
  ExpectFailure("", "A is required");
  ExpectFailure(ours, "B is required");
  ExpectFailure(ours + " " + ours + " --jsn=-", "did you mean --json?");
  ExpectFailure(ours + " " + ours + " --label x", "give it twice");
  ExpectFailure(ours + " /nonexistent.hlo", "/nonexistent.hlo");
  ExpectFailure("- -", "standard input");
  ExpectFailure(absl::StrCat(ours, " ", kGlobal), "is not partitioned yet; hlo-partition FILE -o OUT");
  ExpectFailure(ours + " " + TempFile("empty.hlo", ""), "is empty");
  ExpectFailure(ours + " " + TempFile("one.hlo", "HloModule m\nENTRY e { ROOT x = f32[8] parameter(0) }"),
                "is for 8 devices, one.hlo for 1");
  ExpectFailure(ours + " " + ours + " --machine=tpu-v3-7", "did you mean tpu-v3-8?");
  ExpectFailure(absl::StrCat(ours, " ", kTheirs, " --json=/nonexistent/x.json"), "/nonexistent/x.json");
}

TEST(HloDiffTest, StableHloIsRead) {
  const std::string program =
      TempFile("step.mlir", R"(module @jit_f attributes {mhlo.num_partitions = 8 : i32} {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
})");
  const std::string text = TempPath("step.hlo");
  EXPECT_EQ(RunShell(absl::StrCat("hlo/hlo-convert ", program, " -o ", text)).exit, 0);
  EXPECT_EQ(RunShell(absl::StrCat(kDiff, program, " ", text)).exit, 0);
}

TEST(HloDiffTest, JsonHoldsTheTextAndRowsThatAddUp) {
  const std::string ours = Ours("ours.hlo.pb");
  const Outcome text = RunShell(absl::StrCat(kDiff, ours, " ", kTheirs));
  const Outcome outcome = RunShell(absl::StrCat(kDiff, ours, " ", kTheirs, " --json=-"));
  EXPECT_EQ(outcome.exit, 1);
  const auto json = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["table"], text.out);
  EXPECT_EQ(json["summary"], text.out.substr(0, text.out.find('\n')));
  int64_t sum = 0;
  for (const auto& row : json["sent"]["rows"]) sum += row["difference"].get<int64_t>();
  EXPECT_EQ(sum, json["b"]["sent_bytes"].get<int64_t>() - json["a"]["sent_bytes"].get<int64_t>());
  EXPECT_NE(sum, 0);
  // A file, and the text beside it.
  const std::string path = TempPath("diff.json");
  EXPECT_EQ(RunShell(absl::StrCat(kDiff, ours, " ", kTheirs, " --json=", path)).out, text.out);
  EXPECT_EQ(ReadFile(path).value(), outcome.out);
}

TEST(HloDiffTest, APageHoldsTheJson) {
  const std::string ours = Ours("ours.hlo.pb"), page = TempPath("diff.html");
  const Outcome outcome = RunShell(absl::StrCat(kDiff, ours, " ", kTheirs, " --html=", page));
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.out, StartsWith("B ("));
  const std::string html = ReadFile(page).value();
  EXPECT_THAT(html, StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(html, HasSubstr("programs/jax_programs.py:79"));
  EXPECT_EQ(RunShell(absl::StrCat(kDiff, ours, " ", kTheirs, " --html=-")).out, html);
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));  // Nothing from elsewhere.
}

TEST(HloDiffTest, AMachineAddsTimes) {
  const std::string ours = Ours("ours.hlo.pb");
  const Outcome outcome = RunShell(absl::StrCat(kDiff, ours, " ", kTheirs, " --machine=tpu-v3-8"));
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.out, HasSubstr("\n  step "));
  EXPECT_THAT(outcome.out, HasSubstr(" us  programs/jax_programs.py:79"));
  // The rows' times add up to that of all collectives, those of the machine's compiler, too.
  const auto json = nlohmann::json::parse(
      RunShell(absl::StrCat(kDiff, ours, " ", kTheirs, " --machine=tpu-v3-8 --json=-")).out, nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  double sum = 0;
  for (const auto& row : json["sent"]["rows"])
    sum += row["seconds_b"].get<double>() - row["seconds_a"].get<double>();
  EXPECT_NEAR(sum,
              json["b"]["collective_seconds"].get<double>() - json["a"]["collective_seconds"].get<double>(),
              1e-11);
}

TEST(HloDiffTest, FullPrintsMore) {
  const std::string ours = Ours("ours.hlo.pb");
  const std::string some = RunShell(absl::StrCat(kDiff, ours, " ", kTheirs)).out;
  const std::string all = RunShell(absl::StrCat(kDiff, ours, " ", kTheirs, " --full")).out;
  EXPECT_GT(all.size(), some.size());
  EXPECT_THAT(some, HasSubstr(" other place"));
  EXPECT_EQ(all.find(" other place"), std::string::npos);
}

// Damaged programs end in one line, too.
TEST(HloDiffTest, DamagedFilesAreRefusedOrCompared) {
  const std::string ours = Ours("ours.hlo.pb");
  const std::string bytes = ReadFile(ours).value();
  std::mt19937_64 random(1);
  for (int i = 0; i < 60; ++i) {
    std::string damaged = bytes;
    if (i % 3 == 0) {
      damaged.resize(random() % bytes.size());
    } else {
      for (int flips = 1 + i % 4; flips > 0; --flips) {
        damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
      }
    }
    const Outcome outcome =
        RunShell(absl::StrCat("timeout 60 ", kDiff, ours, " ", TempFile("damaged.pb", damaged)));
    EXPECT_TRUE(outcome.exit >= 0 && outcome.exit <= 2) << i << ": " << outcome.exit << outcome.err;
    if (outcome.exit == 2) {
      EXPECT_EQ(outcome.ErrorLines(), 1) << i << "\n" << outcome.err;
    }
  }
}

}  // namespace
}  // namespace toroid
