#include "partitioner/stages/search.h"

#include <algorithm>
#include <utility>

#include "hlo/analysis/peak_memory.h"
#include "hlo/base/status.h"
#include "partitioner/report/statistics.h"
#include "partitioner/search/changed_parts.h"
#include "partitioner/search/frontier_search.h"
#include "partitioner/search/neighbour_search.h"
#include "partitioner/stages/local_passes.h"

namespace toroid {
namespace {

// The number of source-target pairs that the permutes of a module list. On many devices, writing them takes
// longest.
int64_t PermutedPairs(const Module& module) {
  int64_t pairs = 0;
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions())
      pairs += instruction->attrs().source_target_pairs_size();
  }
  return pairs;
}

// Writing this many pairs of a permute takes about as long as writing an instruction.
constexpr int64_t kPairsOfAnInstruction = 64;

// Choices that SearchFrontier may consider for each of PartitionOptions::searched_instructions.
constexpr int64_t kStepsPerInstruction = 5;

// Moves that a search may consider to plan reshardings. They take some 0.1 s.
constexpr int64_t kSearchedPlanSteps = 200000;

// Up to 128 KiB of extra peak memory, or of extra bytes written, are ignored: a TPU v3 core writes them in
// 0.25 us, less than the start-up time of an op.
constexpr double kIgnoredBytes = 1 << 17;
// A candidate with more collectives than the best one must send at most 90 % of its bytes; a candidate that
// computes more ops on whole arrays, or splits an axis that the program uses whole, at most 75 %.
constexpr double kMaxSentWithMoreCollectives = 0.9, kMaxSentWithMoreReplication = 0.75;
// If a change that SearchFrontier found is no improvement as a whole, at most this many parts of it are tried
// one by one.
constexpr int64_t kMostParts = 12;
// In a mesh of at most this many prime-sized axes, a search also lets each axis cut factors by itself.
constexpr int kFewAxes = 3;

// The best program so far, which a candidate has to improve on.
class Judge {
 public:
  Judge(const Module& module, const CostModel& cost) : cost_(cost), best_(WorkOfWholeRun(module)) {
    peak_bytes_ = 1.05 * static_cast<double>(ComputePeakMemory(module).bytes) + kIgnoredBytes;
  }

  // True if a program sends less or computes less than the best one so far, and neither more; it then becomes
  // the best one. It may send at most `most` times the bytes of the best one; less if it has more
  // collectives, or if it computes more ops on whole arrays (`replicates`) and writes more bytes in all.
  // Repeated work that is no contraction shows as additional bytes written: the time to write and read them
  // must not exceed the time saved in sending. Peak memory may not grow over the first program's by more than
  // 5 % and kIgnoredBytes.
  bool Improves(const Module& module, bool replicates, double most) {
    const WholeRun now = WorkOfWholeRun(module);
    if (replicates && now.made_bytes > best_.made_bytes) most = std::min(most, kMaxSentWithMoreReplication);
    if (now.collectives > best_.collectives) most = std::min(most, kMaxSentWithMoreCollectives);
    if (now.sent_bytes > most * best_.sent_bytes) return false;
    const double repeated = cost_.MemoryTime(2 * (now.made_bytes - best_.made_bytes - kIgnoredBytes));
    if (!now.CostsLessThan(best_) || repeated > best_.sent_bytes - now.sent_bytes) return false;
    if (static_cast<double>(ComputePeakMemory(module).bytes) > peak_bytes_) return false;
    best_ = now;
    improved_ = true;
    return true;
  }
  bool improved() const { return improved_; }

 private:
  const CostModel& cost_;
  WholeRun best_;
  double peak_bytes_;
  bool improved_ = false;
};

}  // namespace

absl::Status SearchCandidates(const PartitionOptions& options, PreparedProgram* program, Candidate* best) {
  if (WorkOfWholeRun(*best->partitioned.module).sent_bytes == 0) return absl::OkStatus();
  PartitionOptions plain = options;
  plain.passes = PassesThatChangeWhatIsSent(options.passes);
  FixBoundary(best->plan, program);
  const AssignmentPolicy& policy = *best->policy;
  ASSIGN_OR_RETURN(Candidate now, RewriteUnder(*program, plain, best->plan, policy));
  Judge judge(*now.partitioned.module, program->planner->cost());
  const size_t replications = best->partitioned.full_replications.size();
  const int64_t instructions =
      program->flat->NumInstructions() + PermutedPairs(*best->partitioned.module) / kPairsOfAnInstruction;

  NeighbourSearch neighbours;
  neighbours.program = program;
  neighbours.fixed = AtBoundary(*program);
  neighbours.max_programs = options.searched_instructions / std::max<int64_t>(1, instructions);
  neighbours.max_plan_steps = kSearchedPlanSteps;
  neighbours.improves = [&](const ShardingPlan& plan) -> absl::StatusOr<bool> {
    for (size_t t = 0; t < plan.size(); ++t) {
      if (neighbours.fixed[t] && plan[t] != best->plan[t]) return false;
    }
    ASSIGN_OR_RETURN(Candidate candidate, RewriteUnder(*program, plain, plan, policy));
    if (candidate.partitioned.full_replications.size() > replications) return false;
    if (!judge.Improves(*candidate.partitioned.module, /*replicates=*/false, /*most=*/1)) return false;
    now = std::move(candidate);
    return true;
  };
  ShardingPlan plan = best->plan;
  RETURN_IF_ERROR(SearchNeighbours(neighbours, &plan));

  const Mesh& mesh = program->annotations.mesh;
  std::vector<AxisUnits> tried = {UnitsOf(mesh, plan)};
  if (mesh.num_axes() <= kFewAxes && tried[0] != SingleAxes(mesh)) tried.push_back(SingleAxes(mesh));
  for (const AxisUnits& units : tried) {
    const bool finer = &units != &tried[0];
    FrontierSearch frontier;
    frontier.program = program;
    frontier.plan = &plan;
    frontier.current = &now.decisions;
    frontier.units = units;
    frontier.max_steps = kStepsPerInstruction * options.searched_instructions;
    frontier.max_plan_steps = kSearchedPlanSteps;
    const std::optional<DecidedOps> decided = SearchFrontier(frontier);
    if (!decided) continue;
    auto early = std::exchange(program->annotations.early, {});
    bool taken = false;
    const auto take = [&](const DecidedOps& ops) -> absl::Status {
      ASSIGN_OR_RETURN(Candidate candidate, RewriteUnder(*program, plain, plan, policy, &ops));
      const bool replicates =
          candidate.partitioned.full_replications.size() > now.partitioned.full_replications.size();
      if (!judge.Improves(*candidate.partitioned.module, replicates, finer ? kMaxSentWithMoreReplication : 1))
        return absl::OkStatus();
      best->decided = ops;
      now = std::move(candidate);
      taken = true;
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(take(*decided));
    if (!taken) {
      // A part of the change may be an improvement by itself.
      const std::vector<DecidedOps> parts = ChangedParts(*program->graph, now.decisions, *decided);
      const size_t most =
          std::min<size_t>(parts.size(), std::min<int64_t>(kMostParts, neighbours.max_programs));
      for (size_t i = 0; i < most && parts.size() > 1; ++i) {
        DecidedOps mixed = now.decisions;
        for (const auto& [op, decision] : parts[i]) mixed[op] = decision;
        RETURN_IF_ERROR(take(mixed));
      }
    }
    if (!taken) program->annotations.early = std::move(early);
  }
  if (!judge.improved()) return absl::OkStatus();
  DecidedOps kept = std::move(best->decided);
  ASSIGN_OR_RETURN(*best, RewriteUnder(*program, options, std::move(plan), policy, &kept));
  best->decided = std::move(kept);
  return absl::OkStatus();
}

}  // namespace toroid
