// Finds the shardings of a program: by a choice among all cuts (sharding_problem.h, ../choice), told to the partitioner by few
// annotations (few_annotations.h), and judged by the program that it then writes.
//
//   module with a mesh -> problem -> choice and bound -> annotations -> partitioned program -> its seconds and memory
//                             ^------------- corrected prices and memory ------------------------------'
//
// What is written may take another time than its prices said, or more memory. Then the prices of communication and of
// computation are scaled by what was measured, the limit is lowered by what was exceeded, and the search is repeated, at most
// `rounds` times in all. The best program that keeps the limit is the answer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "partitioner/choice/solve_options.h"
#include "partitioner/prepare/partition_options.h"
#include "partitioner/sharding_search/named_annotations.h"
#include "partitioner/stages/partitioned.h"

namespace toroid {

// Of one step on one device.
struct MeasuredProgram {
  double seconds = 0;
  double collective_seconds = 0;  // Included.
  int64_t peak_bytes = 0;
};

struct ShardingSearchOptions {
  PartitionOptions partition;
  std::optional<int64_t> memory;  // Bytes that a device has.
  // Measures a written program. Null: its prices, in seconds, and the peak of hlo/analysis/peak_memory.h.
  std::function<absl::StatusOr<MeasuredProgram>(const Module& written)> measure;
  SolveOptions solve = {.steps = 60, .gap = 0.001, .patience = 16};
  int rounds = 3;
  // Whether layers that repeat share their shardings. nullopt: in programs of more than kFewOps ops.
  std::optional<bool> repeats;
  // The module with shardings that someone gave it: one more start. The others must be the same but for those. Null: none.
  const Module* given = nullptr;
  double tolerance = 0.01;  // By which part the program of few annotations may be priced above the plan.
};

inline constexpr int kFewOps = 600;

struct FoundShardings {
  std::vector<FoundAnnotation> annotations;
  bool is_given =
      false;  // No choice was better than the shardings of ShardingSearchOptions::given: they are the answer.
  Partitioned partitioned;
  MeasuredProgram measured;
  double priced_seconds = 0;      // Of the choice, by prices as they were at last.
  double bound_seconds = 0;       // No choice costs less, by these prices.
  std::optional<int64_t> memory;  // Bytes that a device was said to have.
  int rounds = 0;
  int nodes = 0;  // Of the problem, and its costs.
  int64_t costs = 0;
};

// What the best choice costs by prices, and its bound, without writing a program.
struct PricedShardings {
  double seconds = 0, bound_seconds = 0;
};
absl::StatusOr<PricedShardings> PriceShardings(const Module& module, const ShardingSearchOptions& options);

// Errors: those of PartitionModule; kFailedPrecondition if there is nothing to choose, as where one device or no array is
// there, or all is fixed; kResourceExhausted if no program keeps the limit of memory, with the least that was reached.
absl::StatusOr<FoundShardings> FindShardings(const Module& module, const ShardingSearchOptions& options);

}  // namespace toroid
