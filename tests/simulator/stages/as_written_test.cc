// BUILD: size = "small", data = ["//tests/corpus:tpu_optimized", "//tests/corpus:tpu_v3"]
// Programs that a TPU compiler has optimized, simulated as they are written.
#include "simulator/stages/as_written.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmarks/program_set.h"
#include "gtest/gtest.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "simulator/machines/machine.h"
#include "simulator/stages/simulate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

Simulation Predicted(const Module& module, const std::string& machine) {
  SimulationOptions options;
  options.machine = *LoadMachine(machine);
  auto simulation = Simulate(module, options);
  EXPECT_OK(simulation.status());
  return *std::move(simulation);
}

double Seconds(const std::string& text, const std::string& machine = "tpu-v6e-4") {
  const auto module = ParseModule(text);
  EXPECT_OK(module.status());
  return static_cast<double>(Predicted(**module, machine).prediction.step_ps) * 1e-12;
}

double Seconds(const HloFile& file, const std::string& machine) {
  return static_cast<double>(Predicted(*file.module, machine).prediction.step_ps) * 1e-12;
}

// `ops` of bf16[4096,4096] w and x; a product of such takes 161 us on a v6e.
std::string Program(const std::string& ops) {
  return absl::StrCat(R"(HloModule m, is_scheduled=true, num_partitions=4
product { a = bf16[4096,4096]{1,0:T(8,128)(2,1)} parameter(0)
  b = bf16[4096,4096]{1,0:T(8,128)(2,1)} parameter(1)
  ROOT c = bf16[4096,4096]{1,0:T(8,128)(2,1)} convolution(a, b), dim_labels=bf_io->bf }
outer { a = bf16[4096,4096]{1,0:T(8,128)(2,1)} parameter(0)
  b = bf16[4096,4096]{1,0:T(8,128)(2,1)} parameter(1)
  p = bf16[4096,4096]{1,0:T(8,128)(2,1)} fusion(a, b), kind=kOutput, calls=product
  ROOT n = bf16[4096,4096]{1,0:T(8,128)(2,1)} negate(p) }
ENTRY main {
  x = bf16[4096,4096]{1,0:T(8,128)(2,1)} parameter(0)
  w = bf16[4096,4096]{1,0:T(8,128)(2,1)} parameter(1)
)",
                      ops, "}");
}
constexpr double kProduct = 2.0 * 4096 * 4096 * 4096 / (917.5e12 * 0.84);
constexpr double kStart = 1.21e-6;

TEST(AsWrittenTest, FusionsInFusionsAreOneGroup) {
  const std::string text =
      Program("ROOT y = bf16[4096,4096]{1,0:T(8,128)(2,1)} fusion(x, w), kind=kOutput, calls=outer");
  EXPECT_NEAR(Seconds(text), kProduct + kStart, 1e-7);
  const auto module = ParseModule(text);
  ASSERT_OK(module.status());
  EXPECT_EQ(Predicted(**module, "tpu-v6e-4").prediction.groups.size(), 1u);
}

TEST(AsWrittenTest, CopiesToTheChipRunBesideTheCore) {
  const std::string body = R"(
  s = (bf16[4096,4096]{1,0:T(8,128)(2,1)S(1)}, bf16[4096,4096]{1,0:T(8,128)(2,1)}, u32[]{:S(2)}) copy-start(w)
  y = bf16[4096,4096]{1,0:T(8,128)(2,1)} fusion(x, x), kind=kOutput, calls=outer
  d = bf16[4096,4096]{1,0:T(8,128)(2,1)S(1)} copy-done(s)
  z = bf16[4096,4096]{1,0:T(8,128)(2,1)} negate(d)
  ROOT t = (bf16[4096,4096]{1,0:T(8,128)(2,1)}, bf16[4096,4096]{1,0:T(8,128)(2,1)}) tuple(y, z))";
  // The negation reads what is on the chip, and writes 33.5 MB.
  const double write = 2.0 * 4096 * 4096 / (0.92 * 1640e9);
  EXPECT_NEAR(Seconds(Program(body)), kProduct + write + 2 * kStart, 2e-7);
}

TEST(AsWrittenTest, WhatIsThereBeforeTheProgramBeginsTakesNoTime) {
  const std::string body = R"(
  s = (bf16[4096,4096]{1,0:T(8,128)(2,1)S(1)}, bf16[4096,4096]{1,0:T(8,128)(2,1)}, u32[]{:S(2)}) copy-start(w)%s
  d = bf16[4096,4096]{1,0:T(8,128)(2,1)S(1)} copy-done(s)
  ROOT z = bf16[4096,4096]{1,0:T(8,128)(2,1)} negate(d))";
  const auto with = [&](const std::string& attribute) {
    std::string text = body;
    return Seconds(Program(text.replace(text.find("%s"), 2, attribute)));
  };
  EXPECT_NEAR(with("") - with(", cross_program_prefetch_index=0"), 2.0 * 4096 * 4096 / (0.92 * 1640e9), 1e-7);
}

TEST(AsWrittenTest, ExchangesRunBesideTheCoreOnlyBetweenStartAndDone) {
  const std::string group = "replica_groups=[1,4]<=[4], use_global_device_ids=true, dimensions={0}";
  const std::string product =
      "y = bf16[4096,4096]{1,0:T(8,128)(2,1)} fusion(x, x), kind=kOutput, calls=outer\n";
  const std::string result = "bf16[16384,4096]{1,0:T(8,128)(2,1)}";
  const double waits = Seconds(
      Program(absl::StrCat("g = ", result, " all-gather(w), channel_id=1, ", group, "\n", product,
                           "ROOT t = (", result, ", bf16[4096,4096]{1,0:T(8,128)(2,1)}) tuple(g, y)")));
  const double hidden = Seconds(Program(absl::StrCat(
      "s = (bf16[4096,4096]{1,0:T(8,128)(2,1)}, ", result, ") all-gather-start(w), channel_id=1, ", group,
      "\n", product, "g = ", result, " all-gather-done(s)\n", "ROOT t = (", result,
      ", bf16[4096,4096]{1,0:T(8,128)(2,1)}) tuple(g, y)")));
  EXPECT_NEAR(waits, hidden + kProduct + kStart, 1e-6);
}

// A batch dimension of 8 as a window that picks one of 8: as much work as 8 products.
TEST(AsWrittenTest, ConvolutionsThatStandForProducts) {
  const std::string text = R"(HloModule m, is_scheduled=true
ENTRY main {
  x = bf16[8,2048,2048]{2,1,0:T(8,128)(2,1)} parameter(0)
  w = bf16[8,2048,2048]{2,1,0:T(8,128)(2,1)} parameter(1)
  ROOT y = bf16[8,2048,2048]{2,1,0:T(8,128)(2,1)} convolution(x, w), window={size=8 stride=7 lhs_dilate=8}, dim_labels=0bf_0io->0bf
})";
  EXPECT_NEAR(Seconds(text), kProduct + kStart, 1e-6);
}

// What the compiler keeps on the chip, and a product in a product, save traffic; nothing takes longer.
TEST(AsWrittenTest, ProgramsBeforeAndAfterTheCompiler) {
  struct Row {
    const char *name, *chip;
    double least;
  };
  ASSERT_OK_AND_ASSIGN(const Batch batch, FindBatch("tests/corpus", "calibration"));
  ASSERT_OK_AND_ASSIGN(const std::vector<EstimatedProgram> programs,
                       ReadPrograms(batch.path, Programs::kAll));
  for (const Row& row : {Row{"attention_out", "v6e", 0.7}, Row{"expert_ffn", "v6e", 0.6},
                         Row{"ffn", "v6e", 0.5}, Row{"ffn_gradient", "v6e", 0.6},
                         Row{"ffn_gradient", "v5e", 0.8}, Row{"attention_2x1024x8x64", "v6e", 0.08}}) {
    SCOPED_TRACE(absl::StrCat(row.name, " ", row.chip));
    const std::string machine = absl::StrCat("tpu-", row.chip, "-1");
    const auto program = std::find_if(programs.begin(), programs.end(),
                                      [&](const EstimatedProgram& other) { return other.name == row.name; });
    ASSERT_NE(program, programs.end());
    ASSERT_OK_AND_ASSIGN(
        const HloFile optimized,
        ReadHloFile(absl::StrCat("tests/corpus/tpu_optimized/", row.chip, "_", row.name, ".txt.gz")));
    const double before = Seconds(program->file, machine), after = Seconds(optimized, machine);
    EXPECT_LT(after, 1.02 * before);
    EXPECT_GT(after, row.least * before);
  }
}

}  // namespace
}  // namespace toroid
