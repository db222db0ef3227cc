// Compares the same program in one process and over ranks.
#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "partitioner/prepare/partition_options.h"
#include "runtime/transport/transport.h"

namespace toroid {

// Partitions the module and runs it in one process and, as rank 0, over the ranks. Empty if both give the
// same bits or both fail with the same error; else the difference.
std::string CompareWithRanks(Transport& transport, const Module& module, const PartitionOptions& options,
                             absl::Span<const Literal> arguments);

// Runs every program of tests/corpus/jax, in both of its forms: their number, and the differences.
struct RanksReport {
  int programs = 0;
  std::vector<std::string> differences;
};
RanksReport CompareCorpus(Transport& transport);

// One MoE layer with `experts` experts, one on each device.
RanksReport CompareMoeLayer(Transport& transport, int64_t devices);

// Random programs with these seeds.
RanksReport CompareRandomPrograms(Transport& transport, uint64_t from, uint64_t count);

}  // namespace toroid
