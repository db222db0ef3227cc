#include "hlo/gradient/sweep/activity.h"

#include <algorithm>

#include "hlo/analysis/custom_call_targets.h"
#include "hlo/gradient/sweep/leaves.h"

namespace toroid {
namespace {

void Join(const ActiveLeaves& from, ActiveLeaves* to) {
  for (size_t i = 0; i < to->size() && i < from.size(); ++i) {
    if (from[i]) (*to)[i] = true;
  }
}

class Walk {
 public:
  Walk(const Computation& computation, const ActivityProblem& problem)
      : computation_(computation), problem_(problem) {}

  std::vector<ActiveLeaves> Run() {
    active_.resize(computation_.size());
    for (const auto& op : computation_.instructions()) active_[op->index()] = ActiveLeavesOf(*op);
    return std::move(active_);
  }

 private:
  ActiveLeaves ActiveLeavesOf(const Instruction& op) const {
    const std::vector<Shape> shapes = LeafShapes(op.shape());
    ActiveLeaves active(shapes.size(), false);
    if (problem_.stopped != nullptr && problem_.stopped->contains(&op)) return active;
    if (problem_.sources.contains(&op)) {
      active.assign(shapes.size(), true);
    } else {
      active = Derived(op, std::move(active));
    }
    for (size_t i = 0; i < shapes.size(); ++i) {
      if (!shapes[i].IsArray() || !IsDifferentiable(shapes[i].element_type())) active[i] = false;
    }
    return active;
  }

  const ActiveLeaves& Operand(const Instruction& op, int i) const { return active_[op.operand(i)->index()]; }

  ActiveLeaves Derived(const Instruction& op, ActiveLeaves none) const {
    switch (op.opcode()) {
      case Opcode::kParameter:
        if (op.parameter_number() < static_cast<int64_t>(problem_.parameters.size())) {
          Join(problem_.parameters[op.parameter_number()], &none);
        }
        return none;
      case Opcode::kTuple: {
        ActiveLeaves all;
        for (int i = 0; i < op.num_operands(); ++i) {
          all.insert(all.end(), Operand(op, i).begin(), Operand(op, i).end());
        }
        return all;
      }
      case Opcode::kGetTupleElement: {
        const int64_t first = LeafOffset(op.operand(0)->shape(), op.tuple_index());
        for (size_t i = 0; i < none.size(); ++i) none[i] = Operand(op, 0)[first + i];
        return none;
      }
      case Opcode::kWhile:
        return ActivityInLoop(op, Operand(op, 0), problem_.stopped);
      case Opcode::kConditional:
        for (size_t i = 0; i < op.called().size(); ++i) {
          Join(OfCall(*op.called(static_cast<int64_t>(i)), {Operand(op, static_cast<int>(i) + 1)}), &none);
        }
        return none;
      case Opcode::kCall: {
        std::vector<ActiveLeaves> arguments;
        for (int i = 0; i < op.num_operands(); ++i) arguments.push_back(Operand(op, i));
        return OfCall(*op.called(0), std::move(arguments));
      }
      default:
        break;
    }
    if (HandsLeavesOn(op)) return Operand(op, 0);
    for (int i = 0; i < op.num_operands(); ++i) {
      if (AnyActive(Operand(op, i))) return ActiveLeaves(none.size(), true);
    }
    return none;
  }

  ActiveLeaves OfCall(const Computation& callee, std::vector<ActiveLeaves> arguments) const {
    ActivityProblem inner;
    inner.parameters = std::move(arguments);
    inner.stopped = problem_.stopped;
    return ComputeActivity(callee, inner)[callee.root()->index()];
  }

  const Computation& computation_;
  const ActivityProblem& problem_;
  std::vector<ActiveLeaves> active_;
};

}  // namespace

bool AnyActive(const ActiveLeaves& leaves) {
  return std::find(leaves.begin(), leaves.end(), true) != leaves.end();
}

std::vector<ActiveLeaves> ComputeActivity(const Computation& computation, const ActivityProblem& problem) {
  return Walk(computation, problem).Run();
}

ActiveLeaves ActivityInLoop(const Instruction& loop, ActiveLeaves at_first,
                            const absl::flat_hash_set<const Instruction*>* stopped) {
  const Computation& body = *loop.called(0);
  for (;;) {
    ActivityProblem inner;
    inner.parameters = {at_first};
    inner.stopped = stopped;
    ActiveLeaves after = ComputeActivity(body, inner)[body.root()->index()];
    Join(at_first, &after);
    if (after == at_first) return after;
    at_first = std::move(after);
  }
}

}  // namespace toroid
