// Two partitioned programs side by side: what each sends, computes and holds, and where they differ.
//
//   ASSIGN_OR_RETURN(const ProgramDiff diff, DiffPrograms({*a, "ours.hlo"}, {*b, "xla.hlo"}));
//   std::cout << DiffText(diff, /*width=*/120);
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "explain/diff/cost_diff.h"
#include "hlo/cost/predicted_times.h"
#include "hlo/diff/match.h"
#include "hlo/ir/module.h"

namespace toroid {

// One of the two programs.
struct DiffInput {
  const Module& module;
  std::string label;  // What to call it, such as the name of its file.
};

// What a program takes on one device, in one run.
struct DiffFigures {
  std::string label;
  int64_t devices = 1;       // Replicas by partitions; 1 if the module does not say.
  int64_t instructions = 0;  // Without calls and asynchronous pairs.
  int64_t collectives = 0, sent_bytes = 0;
  int64_t flops = 0;  // Of contractions.
  int64_t peak_bytes = 0;
  bool all_trips_known = true, all_groups_known = true;
  std::optional<double> step_seconds, collective_seconds;  // With a machine.
};

// An argument or result that the programs cut differently.
struct ShardingChange {
  std::string name, shape_a, shape_b, sharding_a, sharding_b;  // Shapes of one device.
};

// Instructions of one opcode without a partner.
struct OpcodeChange {
  std::string opcode;
  int64_t only_a = 0, only_b = 0;
};

struct ProgramDiff {
  DiffFigures a, b;
  std::string machine;  // Whose times these are; empty: none.
  // The same instructions over the same operands, names and order aside, with the same costs, and arguments and results cut
  // alike.
  bool same = false;
  MatchCounts instructions;
  CostDiff sent, flops, memory;
  std::vector<ShardingChange> shardings;
  std::vector<OpcodeChange> opcodes;  // Most first.
};

// Predicts the times of a program on a machine.
using PredictedTimesOf = std::function<absl::StatusOr<PredictedTimes>(const Module&)>;

// `times_of`: may be empty. Errors: kInvalidArgument if the programs are for different numbers of devices; those of inlining
// calls, and of `times_of`, behind the program's label.
absl::StatusOr<ProgramDiff> DiffPrograms(const DiffInput& a, const DiffInput& b,
                                         const PredictedTimesOf& times_of = nullptr);

}  // namespace toroid
