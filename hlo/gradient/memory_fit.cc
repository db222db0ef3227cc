#include "hlo/gradient/memory_fit.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "hlo/analysis/peak_memory.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/analysis/work.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/devices/hlo_sharding.h"
#include "hlo/gradient/copied_options.h"
#include "hlo/gradient/gradient.h"
#include "hlo/gradient/remat/layer_plan.h"
#include "hlo/gradient/sweep/kept_values.h"
#include "hlo/ir/edit.h"
#include "hlo/passes/dce_pass.h"

namespace toroid {
namespace {

// Rounds over the values that the first bisection left out.
constexpr int kRounds = 3;
// Number of stretch lengths to try: halves, quarters, ... of all bytes that the backward pass needs.
constexpr int kLengths = 8;
// Number of layer choices that are filled up to the limit.
constexpr int kFilled = 3;

using Values = absl::flat_hash_set<const Instruction*>;

bool IsGiven(const Instruction& value) { return value.num_operands() == 0 && !TakesNoWork(value); }

int64_t ShareOnDevice(const Instruction& value) {
  const int64_t bytes = ArrayBytes(value.shape());
  if (value.sharding() == nullptr || !value.shape().IsArray()) return bytes;
  const auto sharding = HloSharding::FromProto(*value.sharding());
  if (!sharding.ok() || sharding->tiles().empty()) return bytes;
  int64_t tiles = 1;
  for (const int64_t n : sharding->tiles()) tiles = SaturatingMultiply(tiles, std::max<int64_t>(1, n));
  return bytes / tiles;
}

// A choice of values to keep, in addition to those of `least`.
struct Choice {
  GradientOptions least;  // Without the values that fill the memory.
  Values filled;
  int64_t peak_bytes = 0;
  double seconds_again = 0;

  GradientOptions Options() const {
    GradientOptions options = least;
    options.keep = [keep = least.keep, filled = filled](const Instruction& value) {
      return filled.contains(&value) || keep(value);
    };
    return options;
  }
};

class Fitter {
 public:
  Fitter(const Instruction& of, absl::Span<const Instruction* const> by, const MemoryFit& fit,
         const GradientOptions& given)
      : of_(of),
        by_(by.begin(), by.end()),
        computation_(*of.computation()),
        module_(*of.module()),
        fit_(fit),
        given_(given) {
    if (fit_.seconds == nullptr) fit_.seconds = OpSeconds(DefaultCostModel());
    if (fit_.bytes == nullptr) fit_.bytes = ShareOnDevice;
    if (fit_.peak_bytes == nullptr) {
      fit_.peak_bytes = [](const Module& step) -> absl::StatusOr<int64_t> {
        return ComputePeakMemory(step).bytes;
      };
    }
    CountTrips(computation_, 1);
  }

  absl::StatusOr<MemoryFitted> Run(GradientOptions* options) {
    MemoryFitted fitted;
    GradientOptions all = given_;
    all.keep = nullptr;
    all.layer = nullptr;
    ASSIGN_OR_RETURN(fitted.peak_bytes_keeping_all, Peak(all));
    fitted.peak_bytes = fitted.peak_bytes_keeping_all;
    if (fitted.peak_bytes_keeping_all <= fit_.limit_bytes) {
      *options = std::move(all);
      return fitted;
    }
    RETURN_IF_ERROR(FindAsked());
    ASSIGN_OR_RETURN(std::vector<Choice> choices, Choices());
    if (choices[0].peak_bytes > fit_.limit_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat(of_.Path(), ": its gradients do not fit into ", fit_.limit_bytes,
                       " bytes whatever is computed again: the least is ", choices[0].peak_bytes,
                       ", with all kept ", fitted.peak_bytes_keeping_all));
    }
    const Choice* best = nullptr;
    for (Choice& choice : choices) {
      if (choice.peak_bytes > fit_.limit_bytes) continue;
      RETURN_IF_ERROR(Fill(&choice));
      if (best == nullptr || choice.seconds_again < best->seconds_again) best = &choice;
    }
    fitted.peak_bytes = best->peak_bytes;
    fitted.seconds_again = best->seconds_again;
    *options = best->Options();
    return fitted;
  }

 private:
  void CountTrips(const Computation& computation, int64_t trips) {
    trips_[&computation] = std::max(trips_[&computation], trips);
    for (const auto& op : computation.instructions()) {
      if (op->opcode() == Opcode::kWhile)
        CountTrips(*op->called(0), SaturatingMultiply(trips, TripCount(*op).value_or(1)));
    }
  }
  int64_t Trips(const Instruction& value) const {
    const auto found = trips_.find(value.computation());
    return found == trips_.end() ? 1 : found->second;
  }
  int64_t Bytes(const Instruction& value) const {
    return SaturatingMultiply(fit_.bytes(value), Trips(value));
  }
  double Seconds(const Instruction& value) const {
    return fit_.seconds(value) * static_cast<double>(Trips(value));
  }

  // The step, as a module of its own.
  absl::StatusOr<std::unique_ptr<Module>> Step(std::unique_ptr<Module> copy,
                                               const GradientOptions& of_copy) const {
    Computation* computation = copy->computation(computation_.index());
    copy->set_entry(computation);
    InstructionBuilder b(computation);
    std::vector<Value> by;
    for (const Instruction* value : by_) by.push_back(InCopy(*value, *copy));
    std::vector<Value> results = {InCopy(of_, *copy)};
    ASSIGN_OR_RETURN(const std::vector<Value> gradients, Gradients(results[0], by, of_copy, &b));
    results.insert(results.end(), gradients.begin(), gradients.end());
    b.Finish(b.Tuple(results));
    if (!b.status().ok()) return b.status();
    EliminateDeadCode(copy.get());
    copy->RemoveUnreachableComputations();
    return copy;
  }

  absl::StatusOr<int64_t> Peak(const GradientOptions& options) const {
    if (fit_.step != nullptr) {
      ASSIGN_OR_RETURN(const std::unique_ptr<Module> step, fit_.step(options));
      return fit_.peak_bytes(*step);
    }
    std::unique_ptr<Module> copy = CloneModule(module_);
    const GradientOptions of_copy = OptionsInCopy(options, module_, *copy);
    ASSIGN_OR_RETURN(const std::unique_ptr<Module> step, Step(std::move(copy), of_copy));
    return fit_.peak_bytes(*step);
  }

  // Finds the values that take work and that the backward pass needs.
  absl::Status FindAsked() {
    std::unique_ptr<Module> copy = CloneModule(module_);
    GradientOptions all = given_;
    all.keep = nullptr;
    all.layer = nullptr;
    GradientOptions of_copy = OptionsInCopy(all, module_, *copy);
    Values asked;
    of_copy.keep = [&](const Instruction& value) {
      if (value.opcode() != Opcode::kGetTupleElement && TakesNoWork(value)) return false;
      // Bodies added by the backward pass are not part of the forward pass.
      const Computation& computation = *value.computation();
      if (computation.index() >= module_.num_computations()) return true;
      if (value.shape().IsArray()) asked.insert(InCopy(value, module_));
      return true;
    };
    of_copy.layer = [](const Instruction&) { return 0; };
    RETURN_IF_ERROR(Step(std::move(copy), of_copy).status());
    asked_.assign(asked.begin(), asked.end());
    std::sort(asked_.begin(), asked_.end(), [](const Instruction* a, const Instruction* b) {
      return std::pair(a->computation()->index(), a->index()) <
             std::pair(b->computation()->index(), b->index());
    });
    is_asked_ = std::move(asked);
    return absl::OkStatus();
  }

  // Ways to cut the program into layers, the one that needs the least memory first.
  absl::StatusOr<std::vector<Choice>> Choices() const {
    std::vector<Choice> choices;
    if (given_.keep != nullptr) {
      choices.push_back({given_});
    } else {
      int64_t all = 0;
      for (const Instruction* value : asked_) all = SaturatingAdd(all, Bytes(*value));
      std::vector<std::vector<int>> seen;
      for (int k = 0; k <= kLengths; ++k) {
        const std::vector<int> cuts = k == 0 ? std::vector<int>() : Cuts(all >> k);
        if (std::find(seen.begin(), seen.end(), cuts) != seen.end()) continue;
        seen.push_back(cuts);
        GradientOptions options = given_;
        KeepWhatLayersHandOn(computation_, PlanOf(cuts), &options);
        choices.push_back({std::move(options)});
      }
    }
    for (Choice& choice : choices) {
      ASSIGN_OR_RETURN(choice.peak_bytes, Peak(choice.Options()));
    }
    std::stable_sort(choices.begin(), choices.end(),
                     [](const Choice& a, const Choice& b) { return a.peak_bytes < b.peak_bytes; });
    if (choices.size() > kFilled) choices.resize(kFilled);
    return choices;
  }

  // Instructions at which layers begin, so that each layer has about `length` needed bytes, cut where the
  // fewest bytes are handed on.
  std::vector<int> Cuts(int64_t length) const {
    const int n = computation_.size();
    std::vector<int64_t> asked_at(n + 1, 0), handed_on(n + 2, 0);
    std::vector<int> until(n, -1);
    for (const Instruction* value : asked_) {
      if (value->computation() == &computation_) asked_at[value->index()] += Bytes(*value);
    }
    for (int i = n - 1; i >= 0; --i) {
      const Instruction& op = *computation_.instruction(i);
      const int used_until = TakesNoWork(op) ? until[i] : i;
      for (const Instruction* operand : op.operands()) {
        until[operand->index()] = std::max(until[operand->index()], used_until);
      }
    }
    for (int i = 0; i < n; ++i) {
      const Instruction& op = *computation_.instruction(i);
      if (TakesNoWork(op) || IsGiven(op) || until[i] <= i) continue;
      handed_on[i + 1] += fit_.bytes(op);
      handed_on[until[i] + 1] -= fit_.bytes(op);
    }
    for (int i = 1; i <= n; ++i) handed_on[i] += handed_on[i - 1];
    std::vector<int> cuts;
    int64_t since = 0;
    int begin = 0;
    for (int i = 0; i < n; ++i) {
      since += asked_at[i];
      if (since < length || length <= 0) continue;
      // Cut in the second half of the stretch; among equal places, at the last.
      int best = i + 1;
      int64_t behind = 0;
      for (int p = i; p > begin && 2 * (since - behind) > length; --p) {
        behind += asked_at[p];
        if (handed_on[p] < handed_on[best]) best = p;
      }
      if (best >= n) break;
      cuts.push_back(best);
      begin = best;
      since = 0;
      for (int p = best; p <= i; ++p) since += asked_at[p];
    }
    return cuts;
  }

  // The backward pass starts with the last layer, so recomputing that saves nothing unless it has loops.
  LayerPlan PlanOf(const std::vector<int>& cuts) const {
    LayerPlan plan;
    bool loops = false;
    size_t layer = 0;
    for (int i = 0; i < computation_.size(); ++i) {
      while (layer < cuts.size() && cuts[layer] <= i) ++layer;
      plan.of_op.push_back(static_cast<int64_t>(layer));
      loops |= layer == cuts.size() && computation_.instruction(i)->opcode() == Opcode::kWhile;
    }
    plan.computed_again.assign(cuts.size() + 1, true);
    if (!loops && !cuts.empty()) plan.computed_again.back() = false;
    return plan;
  }

  // Calls `visit` for each value that recomputing `value` computes, as long as `visit` returns true.
  template <typename Visit>
  void Walk(const Instruction& value, const GradientOptions& options, Visit visit) const {
    std::vector<const Instruction*> todo = {&value};
    while (!todo.empty()) {
      const Instruction& now = *todo.back();
      todo.pop_back();
      if (!visit(now)) continue;
      for (const Instruction* operand : now.operands()) {
        if (!IsGiven(*operand) && !IsKept(options, *operand)) todo.push_back(operand);
      }
    }
  }

  double SecondsAgain(const GradientOptions& options) const {
    Values again;
    double seconds = 0;
    for (const Instruction* value : asked_) {
      if (IsKept(options, *value)) continue;
      Walk(*value, options, [&](const Instruction& op) {
        if (!again.insert(&op).second) return false;
        if (!TakesNoWork(op)) seconds += Seconds(op);
        return true;
      });
    }
    return seconds;
  }

  // Values that are not kept, in the order of time saved per byte, largest first. Among equal ones the last
  // in the program comes first, since it is held for the shortest time.
  std::vector<const Instruction*> ByTimePerByte(const GradientOptions& options) const {
    std::vector<std::pair<double, const Instruction*>> found;
    for (const Instruction* value : asked_) {
      if (IsKept(options, *value)) continue;
      Values seen;
      double seconds = 0;
      Walk(*value, options, [&](const Instruction& op) {
        if (!seen.insert(&op).second || (&op != value && is_asked_.contains(&op))) return false;
        if (!TakesNoWork(op)) seconds += Seconds(op);
        return true;
      });
      found.push_back({seconds / static_cast<double>(std::max<int64_t>(1, Bytes(*value))), value});
    }
    std::reverse(found.begin(), found.end());
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<const Instruction*> values;
    for (const auto& [time_per_byte, value] : found) values.push_back(value);
    return values;
  }

  bool IsEnough(int64_t peak_bytes) const {
    return static_cast<double>(peak_bytes) >= fit_.enough * static_cast<double>(fit_.limit_bytes);
  }

  absl::Status Fill(Choice* choice) const {
    std::vector<const Instruction*> left = ByTimePerByte(choice->least);
    for (int round = 0; round < kRounds && !left.empty() && !IsEnough(choice->peak_bytes); ++round) {
      // Bisection for the longest prefix of `left` that fits: `fits` values do, `too_many` may not.
      size_t fits = 0, too_many = left.size() + 1;
      while (fits + 1 < too_many) {
        const size_t count = too_many == left.size() + 1 && fits == 0 ? left.size() : (fits + too_many) / 2;
        Choice trial = *choice;
        trial.filled.insert(left.begin(), left.begin() + static_cast<int64_t>(count));
        ASSIGN_OR_RETURN(trial.peak_bytes, Peak(trial.Options()));
        if (trial.peak_bytes <= fit_.limit_bytes) {
          fits = count;
          *choice = std::move(trial);
          if (IsEnough(choice->peak_bytes)) break;
        } else {
          too_many = count;
        }
      }
      left.erase(left.begin(), left.begin() + static_cast<int64_t>(std::min(left.size(), fits + 1)));
    }
    choice->seconds_again = SecondsAgain(choice->Options());
    return absl::OkStatus();
  }

  const Instruction& of_;
  const std::vector<const Instruction*> by_;
  const Computation& computation_;
  const Module& module_;
  MemoryFit fit_;
  const GradientOptions& given_;
  absl::flat_hash_map<const Computation*, int64_t> trips_;
  std::vector<const Instruction*> asked_;
  Values is_asked_;
};

}  // namespace

absl::StatusOr<MemoryFitted> FitMemory(const Instruction& of, absl::Span<const Instruction* const> by,
                                       const MemoryFit& fit, GradientOptions* options) {
  const GradientOptions given = *options;
  return Fitter(of, by, fit, given).Run(options);
}

std::function<double(const Instruction&)> OpSeconds(const CostModel& model) {
  const auto seconds = [&model](const auto& self, const Instruction& op) -> double {
    if (!HasTrait(op.opcode(), kRunsBody)) return model.OpTime(WorkOf(op)) * model.SecondsPerLinkByte();
    double most = 0;  // The most expensive branch.
    for (const Computation* callee : op.called()) {
      double sum = 0;
      for (const auto& inner : callee->instructions()) sum += self(self, *inner);
      most = std::max(most, sum);
    }
    return op.opcode() == Opcode::kWhile ? most * static_cast<double>(TripCount(op).value_or(1)) : most;
  };
  return [seconds](const Instruction& op) { return seconds(seconds, op); };
}

}  // namespace toroid
