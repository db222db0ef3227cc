// Programs as StableHLO in both forms and as HLO: one module, the same values, the same communication.
// BUILD: data = ["//tests/corpus:stablehlo"]
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "runtime/arguments/random_arguments.h"
#include "runtime/numerics/compare.h"
#include "runtime/partitioned/run_partitioned.h"
#include "tests/corpus_files.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

std::vector<std::string> Programs() {
  std::vector<std::string> stems;
  for (const std::string& path : CorpusFiles("stablehlo", ".hlo"))
    stems.emplace_back(absl::StripSuffix(path, ".hlo"));
  return stems;
}

absl::StatusOr<std::unique_ptr<Module>> Read(const std::string& path) {
  ASSIGN_OR_RETURN(HloFile file, ReadHloFile(path));
  RETURN_IF_ERROR(VerifyModule(*file.module));
  return std::move(file.module);
}

struct Outcome {
  Literal result;
  int collectives = 0;
};

absl::StatusOr<Outcome> PartitionAndRun(const Module& module) {
  std::vector<Shape> shapes;
  for (const Instruction* parameter : module.entry()->parameters()) shapes.push_back(parameter->shape());
  const std::vector<Literal> arguments = RandomLiterals(shapes, 3, /*seed=*/1);
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(module, PartitionOptions()));
  Outcome run;
  for (const auto& computation : partitioned.module->computations()) {
    for (const auto& i : computation->instructions()) run.collectives += IsCollective(i->opcode());
  }
  ASSIGN_OR_RETURN(run.result,
                   RunPartitioned(*partitioned.module, arguments, module.entry()->root()->shape()));
  return run;
}

TEST(StableHloCorpusTest, BothFormsGiveOneModule) {
  for (const std::string& stem : Programs()) {
    SCOPED_TRACE(stem);
    const auto pretty = Read(absl::StrCat(stem, ".mlir")),
               generic = Read(absl::StrCat(stem, ".generic.mlir"));
    ASSERT_OK(pretty.status());
    ASSERT_OK(generic.status());
    EXPECT_GT((*pretty)->NumInstructions(), 3);
    EXPECT_EQ((*pretty)->NumInstructions(), (*generic)->NumInstructions());
  }
}

TEST(StableHloCorpusTest, ThePartitionedProgramComputesWhatThatOfTheDumpComputes) {
  for (const std::string& stem : Programs()) {
    SCOPED_TRACE(stem);
    const auto dump = Read(absl::StrCat(stem, ".hlo"));
    ASSERT_OK(dump.status());
    const absl::StatusOr<Outcome> expected = PartitionAndRun(**dump);
    ASSERT_OK(expected.status());
    for (const char* form : {".mlir", ".generic.mlir"}) {
      const auto module = Read(absl::StrCat(stem, form));
      ASSERT_OK(module.status());
      const absl::StatusOr<Outcome> run = PartitionAndRun(**module);
      ASSERT_OK(run.status());
      EXPECT_TRUE(Compare(run->result, expected->result).equal) << form;
      EXPECT_EQ(run->collectives, expected->collectives) << form;
    }
  }
}

TEST(StableHloCorpusTest, WhatIsReadIsWrittenAsHloText) {
  for (const std::string& stem : Programs()) {
    SCOPED_TRACE(stem);
    const auto module = Read(absl::StrCat(stem, ".mlir"));
    ASSERT_OK(module.status());
    const std::string text = PrintModule(**module);
    const auto again = ParseModule(text);
    ASSERT_OK(again.status());
    EXPECT_EQ(PrintModule(**again), text);
  }
}

// Damaged text is an error or another program, never a crash.
TEST(StableHloCorpusTest, DamagedTextIsAnError) {
  std::mt19937 random(7);
  int errors = 0;
  for (const std::string& stem : Programs()) {
    for (const char* form : {".mlir", ".generic.mlir"}) {
      const std::string text = ReadCorpusFile(absl::StrCat(stem, form));
      for (size_t at = text.find('\n'); at != std::string::npos;
           at = text.find('\n', at + 1 + text.size() / 20)) {
        errors += !ReadHlo(text.substr(0, at)).ok();
      }
      for (int i = 0; i < 20; ++i) {
        std::string damaged = text;
        for (int n = 0; n < 3; ++n)
          damaged[random() % damaged.size()] = static_cast<char>(32 + random() % 95);
        errors += !ReadHlo(damaged).ok();
      }
    }
  }
  EXPECT_GT(errors, 100);
}

}  // namespace
}  // namespace toroid
