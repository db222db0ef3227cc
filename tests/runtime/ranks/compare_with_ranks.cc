#include "tests/runtime/ranks/compare_with_ranks.h"

#include <random>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "examples/moe/transformer.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "runtime/numerics/compare.h"
#include "runtime/partitioned/run_partitioned.h"
#include "tests/corpus_files.h"
#include "tests/random/random_program.h"
#include "tests/runtime/ranks/thread_ranks.h"

namespace toroid {

std::string CompareWithRanks(Transport& transport, const Module& module, const PartitionOptions& options,
                             absl::Span<const Literal> arguments) {
  const auto partitioned = PartitionModule(module, options);
  if (!partitioned.ok()) return absl::StrCat("partitioning: ", partitioned.status().message());
  RunPartitionedOptions run;
  run.assemble.check_replicas = true;
  const auto expected = RunPartitioned(*partitioned->module, arguments, run);
  run.run.transport = &transport;
  const auto actual = RunPartitioned(*partitioned->module, arguments, run);
  if (!actual.ok()) return absl::StrCat("over ranks: ", actual.status().message());
  if (!expected.ok()) return absl::StrCat("only in one process: ", expected.status().message());
  return SameBits(*actual, *expected) ? "" : "other bits over ranks";
}

RanksReport CompareCorpus(Transport& transport) {
  RanksReport report;
  for (const std::string& path : CorpusFiles("jax", ".snapshot.pb")) {
    const auto snapshot = ReadHloFile(path);
    if (!snapshot.ok()) report.differences.emplace_back(snapshot.status().message());
    if (!snapshot.ok()) continue;
    const auto arguments = snapshot->Arguments();
    for (const std::string& form :
         {path, absl::StrReplaceAll(path, {{".gspmd.snapshot.pb", ".shardy.hlo.pb"}})}) {
      const auto file = ReadHloFile(form);
      const std::string difference = !file.ok() ? std::string(file.status().message())
                                     : !arguments.ok()
                                         ? std::string(arguments.status().message())
                                         : CompareWithRanks(transport, *file->module, {}, *arguments);
      ++report.programs;
      if (!difference.empty()) report.differences.push_back(absl::StrCat(form, ": ", difference));
    }
  }
  return report;
}

RanksReport CompareMoeLayer(Transport& transport, int64_t devices) {
  MoeTransformerConfig config;
  config.devices = config.experts = config.groups = devices;
  config.sequences = 1;
  config.sequence_length = 16;
  config.model = 16;
  config.hidden = 32;
  RanksReport report{1, {}};
  const absl::StatusOr<std::unique_ptr<Module>> module = BuildMoeLayer(config);
  if (!module.ok()) report.differences.emplace_back(module.status().message());
  if (!module.ok()) return report;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<float> distribution(-0.5f, 0.5f);
  std::vector<Literal> arguments;
  for (const Instruction* parameter : (*module)->entry()->parameters()) {
    Literal literal(parameter->shape());
    for (float& value : literal.mutable_data<float>()) value = distribution(random);
    arguments.push_back(std::move(literal));
  }
  std::string difference = CompareWithRanks(transport, **module, {}, arguments);
  if (!difference.empty()) report.differences.push_back(std::move(difference));
  return report;
}

RanksReport CompareRandomPrograms(Transport& transport, uint64_t from, uint64_t count) {
  RanksReport report;
  for (uint64_t seed = from; seed < from + count; ++seed) {
    const RandomProgram program = MakeRandomProgram(seed);
    const auto module = ParseModule(program.text);
    const std::string difference =
        !module.ok() ? std::string(module.status().message())
                     : CompareWithRanks(transport, **module, program.options, program.arguments);
    ++report.programs;
    if (difference.empty()) continue;
    report.differences.push_back(absl::StrCat("seed ", seed, ", ", program.kind, " on ",
                                              program.options.num_partitions, " partitions: ", difference,
                                              "\n", program.text));
    // Ranks that have failed do not continue.
    if (absl::StrContains(difference, "over ranks: ")) break;
  }
  return report;
}

}  // namespace toroid
