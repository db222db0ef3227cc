#include "hlo/passes/windowed_einsum_pass.h"
#include "partitioner/stages/spmd_partitioner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "hlo/analysis/peak_memory.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/passes/pass.h"
#include "partitioner/assign/assignment_policy.h"
#include "partitioner/prepare/prepared_program.h"
#include "partitioner/report/statistics.h"
#include "partitioner/rewrite/program_rewriter.h"
#include "partitioner/search/frontier_search.h"
#include "partitioner/search/neighbour_search.h"
#include "partitioner/stages/local_passes.h"
#include "partitioner/stages/record_partitioning.h"

namespace toroid {
namespace {

// Puts the sharding of every array on its instruction, for looking at.
void ShowShardings(const FlowGraph& graph, const Mesh& mesh, const std::vector<Sharding>& targets,
                   Module* module) {
  for (const auto& computation : module->computations()) {
    for (const auto& instruction : computation->instructions()) {
      const auto leaves = graph.Leaves(*instruction);
      if (leaves.size() != 1 || !instruction->shape().IsArray()) continue;
      auto* sharding = module->New<xla::OpSharding>();
      mesh.ToHlo(targets[leaves[0]]).ToProto(sharding);
      instruction->set_sharding(sharding);
    }
  }
}

// Tensors of the entry's parameters.
std::vector<int> ParameterLeaves(const Module& module, const FlowGraph& graph) {
  std::vector<int> leaves;
  for (const Instruction* parameter : module.entry()->parameters()) {
    for (const int leaf : graph.Leaves(*parameter)) leaves.push_back(leaf);
  }
  return leaves;
}

// Tensors that the caller sees: parameters and outputs.
std::vector<int> BoundaryTensors(const Module& module, const FlowGraph& graph) {
  std::vector<int> tensors = ParameterLeaves(module, graph);
  tensors.insert(tensors.end(), graph.outputs().begin(), graph.outputs().end());
  return tensors;
}

bool IsLookedAt(const PartitionOptions& options) { return options.after_phase || options.verify; }

// A partitioned program and what it was made by.
struct Candidate {
  Partitioned partitioned;
  ShardingPlan plan;
  const AssignmentPolicy* policy = nullptr;
  DecidedOps decisions;  // How its ops were computed,
  DecidedOps decided;    // and what of that a search has found.
};

const AssignmentPolicy& PolicyOf(const PartitionOptions& options) {
  return options.policy != nullptr ? *options.policy : CheapestAssignments();
}

std::vector<bool> AtBoundary(const PreparedProgram& program) {
  std::vector<bool> at_boundary(program.graph->num_tensors(), false);
  for (const int t : BoundaryTensors(*program.flat, *program.graph)) at_boundary[t] = true;
  return at_boundary;
}

ShardingPlan Propagate(const PreparedProgram& program, const AssignmentPolicy& policy) {
  ShardingPlan plan = ProposeShardings(program);
  policy.AdjustPlan(AtBoundary(program), &plan);
  return plan;
}

// The phases behind propagation.
absl::StatusOr<Candidate> RewriteUnder(const PreparedProgram& program, const PartitionOptions& options,
                                       ShardingPlan plan, const AssignmentPolicy& policy,
                                       const DecidedOps* decided = nullptr) {
  Module* flat = program.flat.get();
  const Annotations& annotations = program.annotations;
  Candidate candidate;
  Partitioned& result = candidate.partitioned;
  if (IsLookedAt(options)) {
    ShowShardings(*program.graph, annotations.mesh, plan, flat);
    RETURN_IF_ERROR(LookAfter("propagate", *flat, options.Looking()));
  }

  const Stopwatch middle;
  RewriteOptions rewrite;
  rewrite.policy = &policy;
  rewrite.decided = decided;
  rewrite.on_local_value = options.on_local_value;
  ASSIGN_OR_RETURN(RewrittenProgram rewritten, RewriteProgram(program, plan, rewrite));
  result.module = std::move(rewritten.module);
  for (size_t i = 0; i < rewritten.outputs.size(); ++i) plan[program.graph->outputs()[i]] = rewritten.outputs[i];
  RecordPartitioning(program, plan, result.module.get());
  result.num_partitions = annotations.mesh.num_devices();
  result.full_replications = std::move(rewritten.full_replications);
  result.made_up_axes = std::move(rewritten.made_up_axes);
  result.partition_seconds = middle.Seconds();
  RETURN_IF_ERROR(LookAfter("partition", *result.module, options.Looking()));

  const Stopwatch end;
  PassPipeline first;
  if (options.windowed_einsum_bytes < INT64_MAX) {
    first.Add<WindowedEinsumPass>(WindowedEinsumOptions{.least_bytes = options.windowed_einsum_bytes,
                                                        .both_directions = options.windowed_einsum_both_directions,
                                                        .unroll = options.windowed_einsum_unroll});
  }
  ASSIGN_OR_RETURN(PassPipeline listed, MakePipeline(options.passes, LocalPasses()));
  result.passes = program.passes;
  for (PassPipeline* pipeline : {&first, &listed}) {
    ASSIGN_OR_RETURN(const std::vector<PassReport> reports, pipeline->Run(&result.module, options.Looking()));
    result.passes.insert(result.passes.end(), reports.begin(), reports.end());
  }
  result.optimize_seconds = end.Seconds();
  candidate.plan = std::move(plan);
  candidate.policy = &policy;
  candidate.decisions = std::move(rewritten.decisions);
  return candidate;
}

// Propagation and the phases behind it.
absl::StatusOr<Candidate> Rewrite(const PreparedProgram& program, const PartitionOptions& options) {
  const Stopwatch start;
  ShardingPlan plan = Propagate(program, PolicyOf(options));
  const double seconds = start.Seconds();
  ASSIGN_OR_RETURN(Candidate candidate, RewriteUnder(program, options, std::move(plan), PolicyOf(options)));
  candidate.partitioned.propagate_seconds = seconds;
  return candidate;
}

// Parameters and outputs of which nobody said how they lie, and that propagation cuts into unequal parts.
std::vector<int> UnevenByChance(const Module& flat, const FlowGraph& graph, const Annotations& annotations,
                                const std::vector<Sharding>& targets) {
  std::vector<int> uneven;
  for (const int t : BoundaryTensors(flat, graph)) {
    const Shape& shape = graph.shape(t);
    const std::optional<Annotation>& asked = annotations.tensor[t];
    for (int d = 0; d < shape.rank(); ++d) {
      if (shape.dim(d) % annotations.mesh.Product(targets[t].dims[d]) == 0) continue;
      if (asked && asked->sharding.dims[d] == targets[t].dims[d]) continue;
      uneven.push_back(t);
      break;
    }
  }
  return uneven;
}

// Callers cannot always take arrays in unequal parts: where propagation would cut one so that nobody asked to
// cut, the program is partitioned again with even cuts alone there, and that one counts if it costs no more: for
// all such arrays, or else for outputs or parameters alone.
absl::Status TryEvenCuts(const PartitionOptions& options, PreparedProgram* program, Candidate* best) {
  const FlowGraph& graph = *program->graph;
  Annotations* annotations = &program->annotations;
  const std::vector<int> uneven = UnevenByChance(*program->flat, graph, *annotations, best->plan);
  if (uneven.empty()) return absl::OkStatus();
  const WholeRun run = WorkOfWholeRun(*best->partitioned.module);
  const absl::flat_hash_set<int> outputs(graph.outputs().begin(), graph.outputs().end());
  const auto is_output = [&](int t) { return outputs.contains(t); };
  enum Which { kAll, kOutputs, kParameters };
  for (const Which which : {kAll, kOutputs, kParameters}) {
    annotations->even.assign(graph.num_tensors(), false);
    bool any = false;
    for (const int t : uneven) {
      const bool chosen = which == kAll || (which == kOutputs && is_output(t)) ||
                          (which == kParameters && !is_output(t));
      annotations->even[t] = chosen;
      any |= chosen;
    }
    if (!any) continue;
    ASSIGN_OR_RETURN(Candidate even, Rewrite(*program, options));
    if (!WorkOfWholeRun(*even.partitioned.module).CostsNoMoreThan(run)) continue;
    *best = std::move(even);
    return absl::OkStatus();
  }
  annotations->even.clear();
  return absl::OkStatus();
}

// Programs of up to so many instructions are written more than once, to compare.
constexpr int64_t kFewInstructions = 4096;

// A program that computes at most so much of the flops may send so much more.
constexpr double kFewFlops = 0.5, kLittleMore = 1.05;

// Cuts contractions over idle axes, if the program then computes less and sends no more, or far less and little more.
absl::Status TryIdleAxes(const PreparedProgram& program, const PartitionOptions& options, Candidate* best) {
  const WholeRun run = WorkOfWholeRun(*best->partitioned.module);
  if (run.flops == 0 || run.sent_bytes == 0) return absl::OkStatus();
  for (const IdleAxes idle_axes : {IdleAxes::kCutForFlops, IdleAxes::kCut}) {
    ASSIGN_OR_RETURN(Candidate idle, RewriteUnder(program, options, best->plan, CheapestAssignmentsOnIdleAxes(idle_axes)));
    const WholeRun now = WorkOfWholeRun(*idle.partitioned.module);
    const bool pays = now.flops <= kFewFlops * run.flops && now.sent_bytes <= kLittleMore * run.sent_bytes;
    if (pays || now.CostsLessThan(run)) {
      *best = std::move(idle);
      break;
    }
    if (now.flops == run.flops) break;  // No axis is idle.
  }
  return absl::OkStatus();
}

// Pairs of source and target in all permutes of a module: on many devices, what it takes longest to write.
int64_t PermutedPairs(const Module& module) {
  int64_t pairs = 0;
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) pairs += instruction->attrs().source_target_pairs_size();
  }
  return pairs;
}

// So many take about as long as an instruction.
constexpr int64_t kPairsOfAnInstruction = 64;

// Choices looked at to compute ops together, for each instruction that may be searched.
constexpr int64_t kStepsPerInstruction = 5;

// Moves looked at for the reshardings of a search, some 0.1 s.
constexpr int64_t kSearchedPlanSteps = 200000;

// So many bytes more are no matter, at once or written in all: a core of TPU v3 writes them in a quarter of a microsecond, less
// than an op takes to begin.
constexpr double kLittleMemory = 1 << 17;
// Of what is sent: what is worth more collectives; and what is worth ops on whole arrays, or axes cut in two that the program
// uses whole.
constexpr double kLess = 0.9, kMuchLess = 0.75;
// So many axes of prime size are also tried one by one.
constexpr int kFewAxes = 3;

// What a search has to improve on.
class Judge {
 public:
  Judge(const Module& module, const CostModel& cost) : cost_(cost), best_(WorkOfWholeRun(module)) {
    peak_bytes_ = 1.05 * static_cast<double>(ComputePeakMemory(module).bytes) + kLittleMemory;
  }

  // True if a program sends less or computes less than the best one so far, and neither more; it is then the best one. It may
  // send at most so much of what that sends. To gather what can be cut, and so to repeat work that is no contraction, is
  // no way to send less, unless it is little.
  bool Improves(const Module& module, double most = 1) {
    const WholeRun now = WorkOfWholeRun(module);
    if (now.collectives > best_.collectives) most = std::min(most, kLess);
    if (now.sent_bytes > most * best_.sent_bytes) return false;
    const double repeated = cost_.MemoryTime(2 * (now.made_bytes - best_.made_bytes - kLittleMemory));
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

// The caller sees what propagation found, and results as they were made by then: cutting them further would leave what is
// not sent here to be sent by whoever takes them.
void FixBoundary(const ShardingPlan& plan, PreparedProgram* program) {
  for (const int t : BoundaryTensors(*program->flat, *program->graph)) {
    std::optional<Annotation>& annotation = program->annotations.tensor[t];
    if (annotation && annotation->foreign) continue;
    Annotation fixed;
    fixed.sharding = plan[t];
    fixed.closed = ~uint64_t{0};
    annotation = std::move(fixed);
  }
}

// Looks for a plan, and for ways to compute all ops together, under which the program sends less or computes less, and
// neither more.
absl::Status Search(const PartitionOptions& options, PreparedProgram* program, Candidate* best) {
  if (WorkOfWholeRun(*best->partitioned.module).sent_bytes == 0) return absl::OkStatus();
  PartitionOptions plain = options;
  // Those that change what is sent.
  plain.passes = {"dead_code", "duplicates", "loop_collectives", "reduce_scatter", "dead_code", "product_order"};
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
    if (!judge.Improves(*candidate.partitioned.module)) return false;
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
    ASSIGN_OR_RETURN(Candidate candidate, RewriteUnder(*program, plain, plan, policy, &*decided));
    const bool replicates =
        candidate.partitioned.full_replications.size() > now.partitioned.full_replications.size();
    if (judge.Improves(*candidate.partitioned.module, finer || replicates ? kMuchLess : 1)) {
      best->decided = *decided;
      now = std::move(candidate);
    } else {
      program->annotations.early = std::move(early);
    }
  }
  if (!judge.improved()) return absl::OkStatus();
  DecidedOps kept = std::move(best->decided);
  ASSIGN_OR_RETURN(*best, RewriteUnder(*program, options, std::move(plan), policy, &kept));
  best->decided = std::move(kept);
  return absl::OkStatus();
}

// The best of what is tried.
absl::StatusOr<Partitioned> RewriteBest(const PartitionOptions& options, PreparedProgram* program) {
  const Stopwatch start;
  PartitionOptions silent = options;
  silent.after_phase = nullptr;
  silent.verify = false;
  ASSIGN_OR_RETURN(Candidate best, Rewrite(*program, silent));
  const double propagate_seconds = best.partitioned.propagate_seconds;
  RETURN_IF_ERROR(TryEvenCuts(silent, program, &best));
  if (options.policy == nullptr && options.searched_instructions > 0 &&
      program->flat->NumInstructions() <= kFewInstructions) {
    RETURN_IF_ERROR(TryIdleAxes(*program, silent, &best));
    RETURN_IF_ERROR(Search(silent, program, &best));
  }
  if (IsLookedAt(options)) {
    ASSIGN_OR_RETURN(best, RewriteUnder(*program, options, best.plan, *best.policy, &best.decided));
  }
  // What was tried and not taken took time as well.
  Partitioned result = std::move(best.partitioned);
  result.propagate_seconds = propagate_seconds;
  result.partition_seconds = start.Seconds() - propagate_seconds - result.optimize_seconds;
  return result;
}

}  // namespace

absl::StatusOr<Partitioned> PartitionModule(const Module& module, const PartitionOptions& options,
                                            const GivenShardings& given) {
  const Stopwatch start;
  ASSIGN_OR_RETURN(const std::unique_ptr<PreparedProgram> program, PrepareProgram(module, options, given));
  const double before = start.Seconds();
  ASSIGN_OR_RETURN(Partitioned result, RewriteBest(options, program.get()));
  result.propagate_seconds += before;
  return result;
}

}  // namespace toroid
