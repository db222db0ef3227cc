#include "simulator/schedule/schedule.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

bool RunsBody(const Instruction& instruction) {
  return HasTrait(instruction.opcode(), kRunsBody) && instruction.opcode() != Opcode::kAsyncStart &&
         !instruction.called().empty();
}

// Of each callee: how often it runs when the caller runs once.
using Weights = std::vector<std::pair<const Computation*, double>>;

class Scheduler {
 public:
  Scheduler(const Module& module, const OpTimes& times, const ScheduleOptions& options)
      : module_(module), times_(times), options_(options) {}

  absl::StatusOr<Schedule> Run() {
    schedule_.computations.resize(module_.num_computations());
    MarkReached();
    // Callees stand before their callers.
    for (int c = 0; c < module_.num_computations(); ++c) {
      if (reached_[c]) RETURN_IF_ERROR(ScheduleComputation(*module_.computation(c)));
    }
    schedule_.step_ps = Of(*module_.entry()).duration_ps;
    CountExecutions();
    return std::move(schedule_);
  }

 private:
  ComputationSchedule& Of(const Computation& computation) {
    return schedule_.computations[computation.index()];
  }

  // Computations that run as programs do: the entry and bodies, not the insides of fusions and reducers.
  void MarkReached() {
    reached_.assign(module_.num_computations(), false);
    is_loop_.assign(module_.num_computations(), false);
    reached_[module_.entry()->index()] = true;
    for (int c = module_.num_computations() - 1; c >= 0; --c) {
      if (!reached_[c]) continue;
      for (const auto& instruction : module_.computation(c)->instructions()) {
        if (!RunsBody(*instruction)) continue;
        for (const Computation* callee : instruction->called()) {
          reached_[callee->index()] = true;
          if (instruction->opcode() == Opcode::kWhile) is_loop_[callee->index()] = true;
        }
      }
    }
  }

  // When each stream of a computation can take its next op.
  struct Streams {
    int64_t compute = 0, communication = 0, to_host = 0, to_device = 0, to_chip = 0;

    int64_t& Of(const ScheduledOp& op) {
      if (op.host_copy == HostCopy::kToHost) return to_host;
      if (op.host_copy == HostCopy::kToDevice) return to_device;
      if (op.host_copy == HostCopy::kToChip) return to_chip;
      return op.is_communication ? communication : compute;
    }
    int64_t All() const { return std::max({compute, communication, to_host, to_device, to_chip}); }
  };

  // Of a loop's trip: each op whose result is known when it begins: its state, and numbers made of it.
  static bool IsKnownBefore(const Instruction& op, const std::vector<bool>& known) {
    if (op.opcode() == Opcode::kParameter || op.opcode() == Opcode::kConstant) return true;
    if (op.opcode() != Opcode::kGetTupleElement && (!op.shape().IsArray() || op.shape().NumElements() > 1)) {
      return false;
    }
    return absl::c_all_of(op.operands(), [&](const Instruction* operand) { return known[operand->index()]; });
  }

  absl::Status ScheduleComputation(const Computation& computation) {
    ComputationSchedule& own = Of(computation);
    std::vector<int64_t> ends(computation.size(), 0);
    std::vector<bool> known(computation.size(), false);
    const bool is_loop = is_loop_[computation.index()];
    Streams free;
    for (const auto& instruction : computation.instructions()) {
      int64_t ready = 0;
      for (const Instruction* operand : instruction->operands())
        ready = std::max(ready, ends[operand->index()]);
      for (const Instruction* before : instruction->control_predecessors()) {
        if (before->index() < instruction->index()) ready = std::max(ready, ends[before->index()]);
      }
      known[instruction->index()] = is_loop && IsKnownBefore(*instruction, known);
      ScheduledOp op;
      op.instruction = instruction.get();
      const bool runs_body = RunsBody(*instruction);
      int64_t duration = 0;
      bool waits = runs_body;  // For all streams, and holds them.
      bool is_apart = false;   // A copy that lasts into the next trip, or was begun in the one before.
      if (runs_body) {
        ASSIGN_OR_RETURN(duration, BodiesDuration(*instruction, &op.trips));
      } else {
        ASSIGN_OR_RETURN(const OpTime time, times_(*instruction));
        duration = time.picoseconds;
        op.is_communication = time.is_communication;
        op.host_copy = time.host_copy;
        waits = op.is_communication && !time.is_asynchronous && !options_.overlap;
        is_apart = is_loop && (op.host_copy == HostCopy::kToHost ||
                               (op.host_copy == HostCopy::kToDevice &&
                                absl::c_all_of(instruction->operands(), [&](const Instruction* operand) {
                                  return known[operand->index()];
                                })));
      }
      if (duration == 0 && !runs_body) {
        ends[instruction->index()] = ready;
        continue;
      }
      if (waits) {
        // Copies to the host do not hold up what is sent.
        op.start_ps = std::max({ready, free.compute, free.communication});
        if (runs_body) op.start_ps = std::max(op.start_ps, free.All());
      } else {
        op.start_ps = is_apart ? free.Of(op) : std::max(ready, free.Of(op));
      }
      const std::optional<int64_t> end = CheckedAdd(op.start_ps, duration);
      if (!end.has_value()) return TooLong(*instruction);
      op.end_ps = *end;
      ends[instruction->index()] = is_apart ? ready : *end;
      if (runs_body) {
        free = {*end, *end, *end, *end, *end};
      } else if (waits) {
        free.compute = free.communication = *end;
      } else {
        free.Of(op) = *end;
      }
      own.ops.push_back(op);
    }
    own.duration_ps = free.All();
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> BodiesDuration(const Instruction& instruction, int64_t* trips) {
    if (instruction.opcode() == Opcode::kConditional) {
      double expected = 0;
      for (const auto& [branch, weight] : BranchWeights(instruction)) {
        expected += weight * static_cast<double>(Of(*branch).duration_ps);
      }
      return static_cast<int64_t>(std::min(expected, 9e18));
    }
    int64_t once = 0;
    for (const Computation* callee : instruction.called())
      once = SaturatingAdd(once, Of(*callee).duration_ps);
    if (instruction.opcode() != Opcode::kWhile) return once;
    *trips = Trips(instruction);
    const std::optional<int64_t> all = CheckedMultiply(once, *trips);
    if (!all.has_value()) return TooLong(instruction);
    return *all;
  }

  int64_t Trips(const Instruction& loop) {
    const std::optional<int64_t> known = TripCount(loop);
    if (!known.has_value()) schedule_.unknown_loops.push_back(&loop);
    return known.value_or(options_.unknown_trip_count);
  }

  // The costliest branch, of equal ones the first, and the others.
  Weights BranchWeights(const Instruction& conditional) {
    const auto branches = conditional.called();
    size_t costliest = 0;
    for (size_t b = 1; b < branches.size(); ++b) {
      if (Of(*branches[b]).duration_ps > Of(*branches[costliest]).duration_ps) costliest = b;
    }
    if (branches.size() == 1) return {{branches[0], 1.0}};
    const double p = options_.costliest_branch_probability;
    Weights weights;
    for (size_t b = 0; b < branches.size(); ++b) {
      weights.push_back(
          {branches[b], b == costliest ? p : (1 - p) / static_cast<double>(branches.size() - 1)});
    }
    return weights;
  }

  void CountExecutions() {
    Of(*module_.entry()).executions = 1;
    for (int c = module_.num_computations() - 1; c >= 0; --c) {
      const ComputationSchedule& caller = schedule_.computations[c];
      for (const ScheduledOp& op : caller.ops) {
        if (!RunsBody(*op.instruction)) continue;
        if (op.instruction->opcode() == Opcode::kConditional) {
          for (const auto& [branch, weight] : BranchWeights(*op.instruction)) {
            Of(*branch).executions += weight * caller.executions;
          }
        } else {
          for (const Computation* callee : op.instruction->called()) {
            Of(*callee).executions += static_cast<double>(op.trips) * caller.executions;
          }
        }
      }
    }
  }

  absl::Status TooLong(const Instruction& instruction) const {
    return absl::InvalidArgumentError(
        absl::StrCat(instruction.Path(),
                     ": the program takes more than 106 days here, the most that is simulated; does a loop ",
                     "count to the right number?"));
  }

  const Module& module_;
  const OpTimes& times_;
  const ScheduleOptions& options_;
  Schedule schedule_;
  std::vector<bool> reached_, is_loop_;  // By computation.
};

}  // namespace

absl::StatusOr<Schedule> ComputeSchedule(const Module& module, const OpTimes& times,
                                         const ScheduleOptions& options) {
  return Scheduler(module, times, options).Run();
}

}  // namespace toroid
