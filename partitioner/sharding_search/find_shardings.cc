#include "partitioner/sharding_search/find_shardings.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "hlo/analysis/peak_memory.h"
#include "hlo/base/status.h"
#include "hlo/ir/edit.h"
#include "partitioner/choice/solve.h"
#include "partitioner/provenance/program_names.h"
#include "partitioner/search/strategies.h"
#include "partitioner/sharding_search/sharding_problem.h"
#include "partitioner/sharding_search/tensor_names.h"
#include "partitioner/stages/spmd_partitioner.h"

namespace toroid {
namespace {

constexpr double kPicoseconds = 1e12;
// Prices are corrected if what was measured differs by more than this part.
constexpr double kTrusted = 0.1;
// Prices do not see what a compiler fuses and in which order it puts a program, so that the best program may be that of other
// prices.
constexpr double kOtherPrices[] = {2, 4, 0.5};
// Other choices are written if their prices exceed those of the best one by no more than this part; how many are tried at a
// time, and the ops of all programs that are tried.
constexpr double kWorthWriting = 0.1;
constexpr int kMostOthers = 8;
constexpr int64_t kMostOpsOfOthers = 60000;
// Each of them is solved in this part of the steps.
constexpr int64_t kPartOfSteps = 3;
// The same part for choices that need half of the memory.
constexpr double kWorthSaving = 0.25;
// A limit that was exceeded is lowered a bit further than by what exceeded it.
constexpr double kMemoryMargin = 0.98;
constexpr double kLeastLowering = 0.8;

MeasuredProgram ByPrices(const Module& written, const CostModel& cost) {
  const Price price = PriceOf(written, cost);
  Price collectives;
  collectives.time = price.sent_bytes;
  collectives.collectives = price.collectives;
  return {SecondsOf(price, cost), SecondsOf(collectives, cost), ComputeCompiledPeakMemory(written).bytes};
}

class ShardingSearch {
 public:
  ShardingSearch(const Module& module, const ShardingSearchOptions& options)
      : module_(module), options_(options) {}

  absl::StatusOr<FoundShardings> Run() {
    RETURN_IF_ERROR(Prepare());
    // With prices as they are corrected; then, from what fits best, with communication dearer and cheaper than that.
    bool goes_on = true;
    for (int round = 0; round < options_.rounds && goes_on && !Cancelled(); ++round) {
      ASSIGN_OR_RETURN(const std::optional<Tried> tried, Round());
      goes_on = tried && (CorrectMemory(*tried) | CorrectPrices(*tried));
    }
    const SearchSpace corrected = space_;
    for (const double dearer : kOtherPrices) {
      if (Cancelled()) break;
      space_ = corrected;
      space_.scales.collectives *= dearer;
      ASSIGN_OR_RETURN(const std::optional<Tried> tried, Round());
      if (tried && CorrectMemory(*tried)) RETURN_IF_ERROR(Round().status());
    }
    space_ = corrected;
    RETURN_IF_ERROR(TryLessMemory());
    RETURN_IF_ERROR(TryInputs());
    RETURN_IF_ERROR(TryGiven());
    RETURN_IF_ERROR(TryOthers());
    RETURN_IF_ERROR(CompareWithGiven());
    if (!best_) return absl::CancelledError("cancelled before a program was found");
    if (options_.memory && best_->measured.peak_bytes > *options_.memory) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "no program was found that needs at most ", *options_.memory,
          " bytes on each device; the least that was reached is ", best_->measured.peak_bytes, " bytes"));
    }
    if (!best_choice_.empty()) RETURN_IF_ERROR(AddBound());
    best_->rounds = rounds_;
    best_->memory = options_.memory;
    return *std::move(best_);
  }

  absl::StatusOr<PricedShardings> Price() {
    RETURN_IF_ERROR(Prepare());
    ASSIGN_OR_RETURN(const ShardingProblem problem, ShardingProblem::Make(base_, space_, memo_.get()));
    ASSIGN_OR_RETURN(const Solution solution, Solve(problem.problem(), options_.solve));
    return PricedShardings{static_cast<double>(solution.cost) / kPicoseconds,
                           static_cast<double>(solution.bound) / kPicoseconds};
  }

 private:
  bool Cancelled() const { return options_.solve.cancelled && options_.solve.cancelled(); }

  absl::Status Prepare() {
    ASSIGN_OR_RETURN(program_, PrepareProgram(module_, options_.partition));
    if (program_->annotations.mesh.num_devices() <= 1) {
      return absl::FailedPreconditionError(
          "there is one device, so nothing is to be cut; give --mesh=NAME=SIZE,... or --num_partitions");
    }
    memo_ = std::make_unique<PlanMemo>(*program_);
    tensor_names_ = GivenNamesOfTensors(module_, *program_);
    if (!HasFreeArrays()) {
      return absl::FailedPreconditionError(
          "nothing is to be chosen: the program has no array without a sharding; --free names those to choose anew");
    }
    names_ = std::make_unique<ProgramNames>(*program_->flat, *program_->graph, program_->annotations,
                                            program_->relabeled);
    std::optional<PricedPlan> base = Propagated(CheapestAssignments(), memo_.get());
    if (!base)
      return absl::InvalidArgumentError("no plan: a value cannot be brought to a sharding that an op needs");
    base_ = std::move(base->plan);
    lives_ = LivesOf(*program_, ProgramSteps(base_, memo_.get()));
    space_.units = names_->Axes();
    std::erase_if(space_.units,
                  [&](const AxisList& unit) { return program_->annotations.mesh.Product(unit) == 1; });
    if (space_.units.empty()) space_.units = SingleAxes(program_->annotations.mesh);
    space_.memory = options_.memory;
    space_.repeats = options_.repeats.value_or(static_cast<int>(program_->graph->ops().size()) > kFewOps);
    return absl::OkStatus();
  }

  // Whether there is anything to annotate.
  bool HasFreeArrays() const {
    const Annotations& annotations = program_->annotations;
    for (int t = 0; t < program_->graph->num_tensors(); ++t) {
      if (tensor_names_[t].empty() || annotations.tensor[t] || annotations.manual[t] != 0) continue;
      if (program_->graph->shape(t).rank() > 0) return true;
    }
    return false;
  }

  // With all choices that are known as starts: prices and limits may be others, nodes are the same.
  absl::StatusOr<Solution> Solved(const ShardingProblem& problem, SolveOptions solve) {
    solve.starts = known_;
    absl::StatusOr<Solution> solution = Solve(problem.problem(), solve);
    if (solution.ok()) known_.push_back(solution->choice);
    return solution;
  }

  // What a program takes, and what its prices said.
  struct Tried {
    MeasuredProgram measured;
    PricedRun priced;
  };

  // Searches once, and writes what was found. nullopt if that had been written before.
  absl::StatusOr<std::optional<Tried>> Round() {
    ASSIGN_OR_RETURN(const ShardingProblem problem, ShardingProblem::Make(base_, space_, memo_.get()));
    const absl::StatusOr<Solution> solution = Solved(problem, options_.solve);
    if (!solution.ok()) {
      if (best_) return std::nullopt;
      return solution.status();
    }
    bounds_[KeyOf(space_)] = solution->bound;
    std::optional<Tried> tried;
    RETURN_IF_ERROR(Consider(problem, *solution, &tried));
    return tried;
  }

  // What bounds hold for: prices and memory.
  using SpaceKey = std::tuple<double, double, int64_t>;
  static SpaceKey KeyOf(const SearchSpace& space) {
    return {space.scales.collectives, space.scales.compute, space.memory.value_or(-1)};
  }

  // No choice costs less in the present space. `problem`: of this space, with nothing fixed or forbidden.
  absl::StatusOr<int64_t> BoundOf(const ShardingProblem& problem) {
    const auto known = bounds_.find(KeyOf(space_));
    if (known != bounds_.end()) return known->second;
    ASSIGN_OR_RETURN(const Solution solution, Solved(problem, options_.solve));
    return bounds_[KeyOf(space_)] = solution.bound;
  }

  // For choices that need not be the best of their kind.
  SolveOptions Quickly() const {
    SolveOptions quick = options_.solve;
    quick.steps = std::max<int64_t>(1, quick.steps / kPartOfSteps);
    quick.patience = std::max<int64_t>(1, quick.patience / kPartOfSteps);
    if (quick.seconds) *quick.seconds /= static_cast<double>(kPartOfSteps);
    return quick;
  }

  // What no choice within the memory that was given costs less than, by the prices of the best one.
  absl::Status AddBound() {
    space_ = best_space_;
    space_.scales = best_scales_;
    space_.memory = options_.memory;
    ASSIGN_OR_RETURN(const ShardingProblem problem, ShardingProblem::Make(base_, space_, memo_.get()));
    ASSIGN_OR_RETURN(const int64_t bound, BoundOf(problem));
    best_->bound_seconds = std::min(best_->priced_seconds, static_cast<double>(bound) / kPicoseconds);
    return absl::OkStatus();
  }

  // What holds less memory also moves less of it, which prices see in part: the best choices within a half of what the best one
  // needs, a quarter, and so on, as long as they cost little more.
  absl::Status TryLessMemory() {
    ASSIGN_OR_RETURN(const ShardingProblem whole, ShardingProblem::Make(base_, space_, memo_.get()));
    SolveOptions solve = Quickly();
    solve.explains_failure = false;
    const absl::StatusOr<Solution> best = Solved(whole, solve);
    if (!best.ok()) return absl::OkStatus();
    int64_t limit = Evaluate(whole.problem(), best->choice).peak;
    while (!Cancelled() && (limit /= 2) > 0) {
      space_.memory = limit;
      ASSIGN_OR_RETURN(const ShardingProblem problem, ShardingProblem::Make(base_, space_, memo_.get()));
      const absl::StatusOr<Solution> solution = Solved(problem, solve);
      const bool is_worth_it = solution.ok() && static_cast<double>(solution->cost) <=
                                                    (1 + kWorthSaving) * static_cast<double>(best->cost);
      if (!is_worth_it) break;
      RETURN_IF_ERROR(Consider(problem, *solution));
      limit = std::min(limit, Evaluate(problem.problem(), solution->choice).peak);
    }
    return absl::OkStatus();
  }

  // What people try first, and what prices of ops may underrate: the largest array that is no state is cut, and everything else
  // follows.
  absl::Status TryInputs() {
    if (!options_.measure) return absl::OkStatus();  // Prices would judge prices.
    const ProgramState state = StateOf(*program_);
    const std::optional<int> input = LargestInput(state);
    if (!input) return absl::OkStatus();
    const Shape& shape = program_->graph->shape(*input);
    int64_t ops = 0;
    for (const Sharding& sharding : EvenCuts(shape)) {
      ops += static_cast<int64_t>(program_->graph->ops().size());
      if (Cancelled() || ops > kMostOpsOfOthers) break;
      FewAnnotations few;
      few.annotations.push_back({{*input}, sharding});
      std::optional<PricedPlan> plan = PlanOfAnnotations(few.annotations, base_.form, state, memo_.get());
      if (!plan) continue;
      few.plan = *std::move(plan);
      space_.scales = best_space_.scales;
      const StepPrices prices(*program_, lives_, space_.scales);
      FoundShardings found;
      found.priced_seconds = prices.OfPlan(few.plan, memo_.get()).sum() / kPicoseconds;
      if (best_) found.nodes = best_->nodes, found.costs = best_->costs;
      RETURN_IF_ERROR(Keep(few, state, &found).status());
    }
    return absl::OkStatus();
  }

  // The argument of most bytes that can be annotated and is no state.
  std::optional<int> LargestInput(const ProgramState& state) const {
    std::optional<int> largest;
    int64_t most = 0;
    for (const Instruction* parameter : program_->flat->entry()->parameters()) {
      for (const int t : program_->graph->Leaves(*parameter)) {
        const bool is_state = absl::c_any_of(state, [&](const auto& pair) { return pair.first == t; });
        if (is_state || tensor_names_[t].empty() || program_->annotations.tensor[t]) continue;
        const Shape& shape = program_->graph->shape(t);
        if (!shape.IsArray() || shape.rank() == 0) continue;
        const int64_t bytes = LocalBytes(*program_, t, Sharding::Replicated(shape.rank()));
        if (bytes > most) most = bytes, largest = t;
      }
    }
    return largest;
  }

  // The shardings in which all units cut an array into equal parts.
  std::vector<Sharding> EvenCuts(const Shape& shape) const {
    std::vector<Sharding> cuts = {Sharding::Replicated(shape.rank())};
    for (const AxisList& unit : space_.units) {
      std::vector<Sharding> next;
      for (const Sharding& cut : cuts) {
        for (int d = 0; d < shape.rank(); ++d) {
          Sharding more = cut;
          more.dims[d].Append(unit);
          if (shape.dim(d) % program_->annotations.mesh.Product(more.dims[d]) == 0)
            next.push_back(std::move(more));
        }
      }
      cuts = std::move(next);
    }
    return cuts;
  }

  // The best choice in which the arguments are cut as in the module that was given.
  absl::Status TryGiven() {
    if (options_.given == nullptr || Cancelled()) return absl::OkStatus();
    const auto given = PrepareProgram(*options_.given, options_.partition);
    const FlowGraph& graph = *program_->graph;
    if (!given.ok() || (*given)->graph->num_tensors() != graph.num_tensors() ||
        !HaveSameAxes((*given)->annotations.mesh, program_->annotations.mesh)) {
      return absl::OkStatus();
    }
    const ShardingPlan shardings = ProposeShardings(**given, (*given)->annotations);
    ASSIGN_OR_RETURN(ShardingProblem problem, ShardingProblem::Make(base_, space_, memo_.get()));
    for (const Instruction* parameter : program_->flat->entry()->parameters()) {
      for (const int t : graph.Leaves(*parameter)) problem.Fix(t, shardings[t]);
    }
    const absl::StatusOr<Solution> solution = Solved(problem, options_.solve);
    return solution.ok() ? Consider(problem, *solution) : absl::OkStatus();
  }

  // The module as it was given, if that is better than what was found.
  absl::Status CompareWithGiven() {
    if (options_.given == nullptr || Cancelled()) return absl::OkStatus();
    absl::StatusOr<Partitioned> partitioned = PartitionModule(*options_.given, options_.partition);
    // Of other devices it is no answer.
    if (!partitioned.ok() || partitioned->num_partitions != program_->annotations.mesh.num_devices())
      return absl::OkStatus();
    FoundShardings given;
    if (best_) {
      given.nodes = best_->nodes;
      given.costs = best_->costs;
    }
    given.is_given = true;
    given.partitioned = *std::move(partitioned);
    ASSIGN_OR_RETURN(given.measured, Measured(*given.partitioned.module));
    if (!best_ || IsBetter(given.measured, best_->measured)) best_ = std::move(given);
    return absl::OkStatus();
  }

  static bool HaveSameAxes(const Mesh& a, const Mesh& b) {
    if (a.num_axes() != b.num_axes()) return false;
    for (int axis = 0; axis < a.num_axes(); ++axis) {
      if (a.size(axis) != b.size(axis)) return false;
    }
    return true;
  }

  // Programs whose prices are close to those of the best one may be better when they are written: for the arrays that weigh
  // most, the best choice in which the array is not cut as it is now.
  absl::Status TryOthers() {
    int64_t ops = 0;
    SolveOptions solve = Quickly();
    solve.explains_failure = false;
    for (bool has_changed = true; has_changed && best_;) {
      has_changed = false;
      space_ = best_space_;
      ASSIGN_OR_RETURN(ShardingProblem problem, ShardingProblem::Make(base_, space_, memo_.get()));
      const std::vector<int> choice = best_choice_;
      const int64_t cost = Evaluate(problem.problem(), choice).cost;
      for (const int node : problem.WeightiestTensors(kMostOthers)) {
        ops += static_cast<int64_t>(program_->graph->ops().size());
        if (Cancelled() || ops > kMostOpsOfOthers) return absl::OkStatus();
        int64_t& of_choice = problem.problem().nodes[node].costs[choice[node]];
        const int64_t before = std::exchange(of_choice, kForbidden);
        const absl::StatusOr<Solution> solution = Solved(problem, solve);
        of_choice = before;
        if (!solution.ok()) continue;
        if (static_cast<double>(solution->cost) > (1 + kWorthWriting) * static_cast<double>(cost)) continue;
        RETURN_IF_ERROR(Consider(problem, *solution));
        has_changed = best_choice_ != choice;
        if (has_changed) break;
      }
    }
    return absl::OkStatus();
  }

  // Writes the program of a solution unless it has been, and keeps it if it is the best.
  absl::Status Consider(const ShardingProblem& problem, const Solution& solution,
                        std::optional<Tried>* tried = nullptr) {
    if (!considered_.insert(solution.choice).second) return absl::OkStatus();
    ++rounds_;
    std::optional<PricedPlan> wanted = DecideGreedily(problem.PlanOf(solution.choice), CheapestAssignments(),
                                                      /*fixed_outputs=*/true, memo_.get());
    if (!wanted) return absl::OkStatus();
    ProgramSteps steps(wanted->plan, memo_.get());
    const Kinds kinds = space_.repeats ? RepeatedKinds(steps, *memo_) : AllApart(steps);
    const StepPrices prices(*program_, lives_, space_.scales);
    std::optional<FewAnnotations> few =
        FindFewAnnotations({*wanted, kinds, problem.state(), tensor_names_, prices, lives_,
                            options_.memory.has_value(), options_.tolerance},
                           memo_.get());
    if (!few) return absl::OkStatus();
    FoundShardings found;
    found.priced_seconds = static_cast<double>(solution.cost) / kPicoseconds;
    found.nodes = static_cast<int>(problem.problem().nodes.size());
    for (const ChoiceEdge& edge : problem.problem().edges)
      found.costs += static_cast<int64_t>(edge.costs.size());
    const PricedRun priced = prices.OfPlan(few->plan, memo_.get());
    ASSIGN_OR_RETURN(const MeasuredProgram measured, Keep(*few, problem.state(), &found));
    if (tried != nullptr) *tried = Tried{measured, priced};
    if (!best_choice_.empty() && !IsBetter(measured, best_of_choices_)) return absl::OkStatus();
    best_of_choices_ = measured;
    best_space_ = space_;
    best_choice_ = solution.choice;
    return absl::OkStatus();
  }

  // Writes the program of annotations, which becomes the best one if it is. Returns what it takes.
  absl::StatusOr<MeasuredProgram> Keep(const FewAnnotations& few, const ProgramState& state,
                                       FoundShardings* found) {
    found->annotations = NameAnnotations(*program_, *names_, tensor_names_, few, state);
    RETURN_IF_ERROR(Write(found));
    const MeasuredProgram measured = found->measured;
    if (!best_ || IsBetter(measured, best_->measured)) {
      best_ = std::move(*found);
      best_scales_ = space_.scales;
    }
    return measured;
  }

  bool IsBetter(const MeasuredProgram& a, const MeasuredProgram& b) const {
    if (options_.memory) {
      const bool a_fits = a.peak_bytes <= *options_.memory, b_fits = b.peak_bytes <= *options_.memory;
      if (a_fits != b_fits) return a_fits;
      if (!a_fits) return a.peak_bytes < b.peak_bytes;
    }
    return a.seconds < b.seconds;
  }

  absl::StatusOr<MeasuredProgram> Measured(const Module& written) const {
    return options_.measure ? options_.measure(written) : ByPrices(written, *options_.partition.cost);
  }

  absl::Status Write(FoundShardings* found) {
    const std::unique_ptr<Module> annotated = CloneModule(module_);
    RETURN_IF_ERROR(GiveAnnotations(found->annotations, annotated.get()));
    ASSIGN_OR_RETURN(found->partitioned, PartitionModule(*annotated, options_.partition));
    ASSIGN_OR_RETURN(found->measured, Measured(*found->partitioned.module));
    return absl::OkStatus();
  }

  // Lowers the limit by what exceeded it. False if nothing did.
  bool CorrectMemory(const Tried& tried) {
    const int64_t peak = tried.measured.peak_bytes;
    if (!options_.memory || peak <= *options_.memory) return false;
    const double ratio =
        std::max(kLeastLowering, static_cast<double>(*options_.memory) / static_cast<double>(peak));
    space_.memory = static_cast<int64_t>(kMemoryMargin * ratio * static_cast<double>(*space_.memory));
    return true;
  }

  // Scales prices by what was measured. False if they were right.
  bool CorrectPrices(const Tried& tried) {
    if (!options_.measure) return false;  // Other prices would correct prices.
    const auto& [measured, priced] = tried;
    const double compute = measured.seconds - measured.collective_seconds;
    const double collectives = measured.collective_seconds;
    if (compute <= 0 || collectives <= 0 || priced.compute <= 0 || priced.collectives <= 0) return false;
    PriceScales scales;
    scales.collectives = space_.scales.collectives * collectives * kPicoseconds / priced.collectives;
    scales.compute = space_.scales.compute * compute * kPicoseconds / priced.compute;
    // Only their ratio decides.
    const double before = space_.scales.collectives / space_.scales.compute;
    const double now = scales.collectives / scales.compute;
    if (std::max(before, now) <= (1 + kTrusted) * std::min(before, now)) return false;
    space_.scales = scales;
    return true;
  }

  const Module& module_;
  const ShardingSearchOptions& options_;
  std::unique_ptr<PreparedProgram> program_;
  std::unique_ptr<PlanMemo> memo_;
  std::unique_ptr<ProgramNames> names_;
  std::vector<std::string> tensor_names_;  // By tensor: for annotations; empty: none.
  Plan base_;
  SearchSpace space_;
  std::vector<TensorLife> lives_;
  absl::flat_hash_map<SpaceKey, int64_t> bounds_;
  absl::flat_hash_set<std::vector<int>> considered_;
  std::vector<std::vector<int>> known_;  // What was solved.
  std::optional<FoundShardings> best_;
  PriceScales best_scales_;
  SearchSpace best_space_;  // In which the best choice was found.
  std::vector<int> best_choice_;
  MeasuredProgram best_of_choices_;
  int rounds_ = 0;
};

}  // namespace

absl::StatusOr<PricedShardings> PriceShardings(const Module& module, const ShardingSearchOptions& options) {
  return ShardingSearch(module, options).Price();
}

absl::StatusOr<FoundShardings> FindShardings(const Module& module, const ShardingSearchOptions& options) {
  return ShardingSearch(module, options).Run();
}

}  // namespace toroid
