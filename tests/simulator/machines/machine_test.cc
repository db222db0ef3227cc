#include "simulator/machines/machine.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kSmall[] = R"(
name: "small" cores_per_chip: 2
core {
  memory_bytes: 1000 clock_hertz: 1e9
  matrix { units: 1 tile: 128 cycles_per_row: 1 cycles_per_float32_row: 1 full_precision_passes: 6 }
  vector { lanes: 128 sublanes: 8 slots: 2 cycles_per_register: 2 }
  memory {
    bytes_per_second: 4e11 stream_efficiency: 0.9 window_budget_bytes: 8388608
    window_bytes: 4194304 single_window_bytes: 1048576
  }
  movement { transpose_window_tiles: 768 running_window_tiles: 3700 }
}
network { link_bytes_per_second: 1e9 injection_bytes_per_second: 2e9 }
slices { name: "one" chips: [1] }
slices { name: "ring" chips: [4] wrap: [true] }
)";

std::string Small(const std::string& more) { return std::string(kSmall) + more; }
std::string WithLinkRate(const std::string& rate) {
  return absl::StrReplaceAll(kSmall, {{"link_bytes_per_second: 1e9", "link_bytes_per_second: " + rate}});
}

void ExpectRefused(const std::string& text, const std::string& what) {
  EXPECT_THAT(
      ParseMachine(text, "", "m.textproto").status(),
      StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("m.textproto:"), HasSubstr(what))));
}

TEST(MachineTest, EverySliceBuiltInLoadsAndKeepsItsName) {
  const auto names = BuiltInSlices();
  EXPECT_THAT(names, Contains("tpu-v3-2048"));
  for (const std::string& name : names) {
    ASSERT_OK_AND_ASSIGN(const Machine machine, LoadMachine(name));
    EXPECT_EQ(machine.slice.name(), name);
    EXPECT_GT(machine.cores(), 0);
  }
}

// Peaks as their maker publishes them: bf16 TFLOP/s and GB/s of a chip; slices by chips, those of v5p by cores.
TEST(MachineTest, ChipsOfTodayHaveThePublishedRates) {
  struct Chip {
    std::string slice;
    int64_t chips;
    double teraflops, gigabytes, link;
  };
  const Chip kChips[] = {{"tpu-v5e-256", 256, 197, 819, 45},
                         {"tpu-v5p-2048", 1024, 459, 2765, 90},
                         {"tpu-v6e-256", 256, 918, 1640, 90},
                         {"tpu7x-128", 128, 2307, 7380, 100}};
  for (const Chip& chip : kChips) {
    ASSERT_OK_AND_ASSIGN(const Machine machine, LoadMachine(chip.slice));
    const CoreSpec& core = machine.family.core();
    EXPECT_EQ(machine.chips(), chip.chips);
    const double cores = static_cast<double>(machine.family.cores_per_chip());
    const double tile = static_cast<double>(core.matrix().tile());
    const double peak = 2 * tile * tile * static_cast<double>(core.matrix().units()) * core.clock_hertz();
    EXPECT_NEAR(cores * peak, chip.teraflops * 1e12, 1e12) << chip.slice;
    EXPECT_EQ(cores * core.memory().bytes_per_second(), chip.gigabytes * 1e9);
    EXPECT_EQ(machine.family.network().link_bytes_per_second(), chip.link * 1e9);
  }
  ASSERT_OK_AND_ASSIGN(const Machine small, LoadMachine("tpu-v5e-128"));
  EXPECT_FALSE(small.slice.wrap(0)) << "a side of 8 is no ring";
  EXPECT_TRUE(small.slice.wrap(1));
}

TEST(MachineTest, PlainRulesNeedFewNumbers) {
  const std::string text = R"(name: "m" cores_per_chip: 1
core { memory_bytes: 1 clock_hertz: 1 matrix { units: 1 tile: 8 cycles_per_row: 1 } vector { lanes: 8 sublanes: 8 slots: 1 }
       memory { bytes_per_second: 1 stream_efficiency: 1 } simple { product_efficiency: )";
  const std::string rest = R"( } }
network { link_bytes_per_second: 1e9 injection_bytes_per_second: 1e9 }
slices { name: "one" chips: [1] })";
  EXPECT_OK(ParseMachine(text + "0.9" + rest, "", "m.textproto").status());
  ExpectRefused(text + "0" + rest, "core.simple.product_efficiency is 0 or missing");
}

TEST(MachineTest, SlicesOfTpuV3HaveTheCoresTheyAreNamedFor) {
  for (const int64_t cores : {8, 16, 32, 64, 128, 256, 512, 1024, 2048}) {
    ASSERT_OK_AND_ASSIGN(const Machine machine, LoadMachine(absl::StrCat("tpu-v3-", cores)));
    EXPECT_EQ(machine.cores(), cores);
  }
}

TEST(MachineTest, UnknownNameIsAnsweredWithTheNearest) {
  EXPECT_THAT(LoadMachine("tpuv3-128").status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("did you mean tpu-v3-128?")));
  EXPECT_THAT(LoadMachine("no/such.textproto").status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no/such")));
}

TEST(MachineTest, SeveralSlicesHaveTheirNumberBeforeTheName) {
  ASSERT_OK_AND_ASSIGN(const Machine machine, LoadMachine("4xtpu-v5e-256"));
  EXPECT_EQ(machine.cores(), 1024);
  EXPECT_EQ(machine.slice.copies(), 4);
  EXPECT_EQ(machine.slice.name(), "4xtpu-v5e-256");
  EXPECT_THAT(
      LoadMachine("4xtpu-v5e-257").status(),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("no machine is named tpu-v5e-257; did you mean")));
  const auto expect_invalid = [](const std::string& name, const std::string& what) {
    EXPECT_THAT(LoadMachine(name).status(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(what)));
  };
  expect_invalid("0xtpu-v5e-256", "0xtpu-v5e-256: 0 slices; use 1 to");
  expect_invalid("99999999999999999999xtpu-v5e-256", "slices; use 1 to");
  expect_invalid("10000xtpu-v5e-256", "has 2560000 cores; at most 1048576");
  expect_invalid("2xtpu-v3-8", "tpu-v3 has no network between slices");
}

// A TPU v4 chip has two cores, by which its slices are named, and programs see them as one.
TEST(MachineTest, ProgramsSeeThePairsOfCoresOfAChipAsOne) {
  ASSERT_OK_AND_ASSIGN(const Machine machine, LoadMachine("tpu-v4-8"));
  EXPECT_OK(CheckHasCores(machine, 4));
  EXPECT_THAT(CheckHasCores(machine, 5),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("for 5 devices, and tpu-v4-8 has 4 cores as programs see them")));
}

TEST(MachineTest, ASliceOfAFileIsChosenByName) {
  ASSERT_OK_AND_ASSIGN(const Machine first, ParseMachine(kSmall, "", "m"));
  EXPECT_EQ(first.slice.name(), "one");
  ASSERT_OK_AND_ASSIGN(const Machine ring, ParseMachine(kSmall, "ring", "m"));
  EXPECT_EQ(ring.cores(), 8);
  EXPECT_THAT(ParseMachine(kSmall, "rign", "m").status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("did you mean ring?")));
}

TEST(MachineTest, BadFilesAreRefusedInOneLine) {
  ExpectRefused("name: ", "1:");
  ExpectRefused(Small("speed: 3"), "no field named \"speed\"");
  ExpectRefused(R"(name: "m" cores_per_chip: 1 slices { name: "a" chips: [1] })",
                "core.memory_bytes is 0 or missing");
  ExpectRefused(WithLinkRate("0"), "network.link_bytes_per_second is 0 or missing");
  ExpectRefused(absl::StrReplaceAll(kSmall, {{"lanes: 128", "lanes: 0"}}),
                "core.vector.lanes is 0 or missing");
  ExpectRefused(WithLinkRate("-1"), "network.link_bytes_per_second is negative: -1");
  ExpectRefused(WithLinkRate("nan"), "is no finite number");
  ExpectRefused(WithLinkRate("inf"), "is no finite number");
  ExpectRefused(Small(R"(slices { name: "one" chips: [1] })"), "two slices are named one");
  ExpectRefused(Small(R"(slices { name: "x" })"), "x has no chips");
  ExpectRefused(Small(R"(slices { name: "x" chips: [0] })"), "chips[0] is 0");
  ExpectRefused(Small(R"(slices { name: "x" chips: [2] wrap: [true, true] })"), "x has 1 axes");
  ExpectRefused(Small(R"(slices { name: "x" chips: [4000000000, 4000000000, 4000000000] })"),
                "at most 1048576");
}

TEST(MachineTest, MeasuredValuesReplaceTheCompilersWhereTheyAreAskedFor) {
  const std::string text = Small("measured { memory { write_efficiency: 0.5 } }");
  ASSERT_OK_AND_ASSIGN(Machine machine, ParseMachine(text, "", "m"));
  UseRates(Rates::kCompiler, &machine);
  EXPECT_EQ(machine.family.core().memory().write_efficiency(), 0);
  UseRates(Rates::kMeasured, &machine);
  EXPECT_EQ(machine.family.core().memory().write_efficiency(), 0.5);
  EXPECT_EQ(machine.family.core().memory().stream_efficiency(), 0.9);
  EXPECT_THAT(ParameterPaths(machine.family), Contains("measured.memory.write_efficiency"));
  EXPECT_THAT(ParameterPaths(machine.family), Not(Contains("measured.memory.stream_efficiency")));
  ExpectRefused(Small("measured { memory { write_efficiency: -0.5 } }"),
                "measured.memory.write_efficiency is negative: -0.5");
  // Of the built-in slices, only those of TPU v3 have measured rates.
  for (const std::string& name : BuiltInSlices()) {
    ASSERT_OK_AND_ASSIGN(const Machine counted, LoadMachine(name));
    ASSERT_OK_AND_ASSIGN(const Machine measured, LoadMachine(name, Rates::kMeasured));
    EXPECT_EQ(counted.family.core().SerializeAsString() == measured.family.core().SerializeAsString(),
              name.rfind("tpu-v3", 0) != 0);
  }
}

TEST(MachineTest, ParametersAreSetByPath) {
  ASSERT_OK_AND_ASSIGN(Machine machine, ParseMachine(kSmall, "ring", "m"));
  ASSERT_OK(SetParameter("network.link_bytes_per_second", 5e9, &machine.family));
  EXPECT_EQ(machine.family.network().link_bytes_per_second(), 5e9);
  ASSERT_OK_AND_ASSIGN(const double value, GetParameter("network.link_bytes_per_second", machine.family));
  EXPECT_EQ(value, 5e9);
  EXPECT_THAT(
      SetParameter("network.link_byte_per_second", 1, &machine.family),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("did you mean network.link_bytes_per_second?")));
  EXPECT_THAT(SetParameter("cores_per_chip", 1.5, &machine.family),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is an integer")));
  EXPECT_THAT(SetParameter("core.memory_bytes", 0, &machine.family),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("must be more")));
  EXPECT_THAT(ParameterPaths(machine.family), Contains("core.memory_bytes"));
}

}  // namespace
}  // namespace toroid
