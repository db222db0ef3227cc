#include "hlo/gradient/rules/control_flow.h"

#include <map>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/base/status.h"
#include "hlo/builder/counted_loop.h"
#include "hlo/gradient/rules/expansion.h"
#include "hlo/gradient/sweep/kept_values.h"
#include "hlo/gradient/sweep/leaves.h"
#include "hlo/gradient/sweep/pullback_computation.h"
#include "hlo/ir/edit.h"
#include "hlo/passes/expand_op.h"

namespace toroid {
namespace {

bool KeepsNothing(const Instruction&) { return false; }

// Leaves of the op's result that have cotangents.
std::vector<int> LeavesWithCotangents(Pullback& p) {
  std::vector<int> leaves;
  for (int leaf = 0; leaf < static_cast<int>(p.op().shape().NumLeaves()); ++leaf) {
    if (p.cotangent_or_null(leaf) != nullptr) leaves.push_back(leaf);
  }
  return leaves;
}

Dims Stacked(int64_t n, const Shape& shape) {
  Dims dims = {n};
  dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  return dims;
}

std::vector<Value> StartsAt(InstructionBuilder& b, Value trip, int rank) {
  std::vector<Value> starts(rank, b.Zero(xla::S32));
  starts[0] = trip;
  return starts;
}

class LoopPullback {
 public:
  LoopPullback(Pullback& p, int64_t trips)
      : p_(p), b_(p.b), body_(*p.op().called(0)), trips_(trips), shapes_(LeafShapes(p.op().shape())) {
    // A body with flat state hands a leaf on by the same get-tuple-element of its parameter.
    unchanged_.assign(shapes_.size(), false);
    const Instruction& root = *body_.root();
    if (root.opcode() != Opcode::kTuple) return;
    for (int i = 0, leaf = 0; i < root.num_operands();
         leaf += static_cast<int>(root.operand(i++)->shape().NumLeaves())) {
      const Instruction& value = *root.operand(i);
      unchanged_[leaf] = value.shape().IsArray() && value.opcode() == Opcode::kGetTupleElement &&
                         value.operand(0) == body_.parameter(0) && value.tuple_index() == i;
    }
  }

  absl::Status Run() {
    const ActiveLeaves active = p_.sweep().active(p_.op());
    std::vector<int> all;
    for (int leaf = 0; leaf < static_cast<int>(active.size()); ++leaf) {
      if (active[leaf]) all.push_back(leaf);
    }
    const auto keep = [this](const Instruction& value) { return IsKept(p_.sweep().options(), value); };
    ASSIGN_OR_RETURN(pullback_,
                     MakePullback(body_, {active}, all, p_.sweep().options(), p_.sweep().visit(), keep, b_));
    RunForward();
    RunBackward();
    return absl::OkStatus();
  }

 private:
  bool IsWritten(const ForwardValue& value) const {
    return value.instruction->opcode() != Opcode::kParameter || !unchanged_[value.leaf];
  }
  Shape ShapeOf(const ForwardValue& value) const {
    return value.instruction->opcode() == Opcode::kParameter ? shapes_[value.leaf]
                                                             : value.instruction->shape();
  }

  // State: trip, leaves of the loop's state, one array [trips, ...] for each recorded value.
  void RunForward() {
    const Value init = p_.sweep().ForwardOperand(p_.op(), 0);
    std::vector<Value> state = {b_.Zero(xla::S32)};
    for (const Value leaf : b_.Flatten(init)) state.push_back(leaf);
    const size_t first_array = state.size();
    for (const ForwardValue& value : pullback_.needed) {
      if (!IsWritten(value)) continue;
      const Shape shape = ShapeOf(value);
      state.push_back(b_.Zeros(shape.element_type(), Stacked(trips_, shape)));
    }
    std::vector<Shape> shapes;
    for (const Value leaf : state) shapes.push_back(leaf->shape());

    InstructionBuilder inner = b_.InNewComputation(absl::StrCat(body_.name(), ".forward"));
    const Value parameter = inner.Parameter(Shape::Tuple(shapes), "state");
    std::vector<Value> now;
    for (size_t i = 0; i < state.size(); ++i)
      now.push_back(inner.GetTupleElement(parameter, static_cast<int64_t>(i)));
    const Value before =
        inner.Unflatten(p_.op().shape(), absl::MakeConstSpan(now).subspan(1, first_array - 1));
    const std::vector<Instruction*> map = CloneInstructions(body_, {before}, inner.computation());
    std::vector<Value> next = {inner.Add(now[0], inner.IntScalar(1))};
    for (const Value leaf : inner.Flatten(map[body_.root()->index()])) next.push_back(leaf);
    size_t array = first_array;
    for (const ForwardValue& value : pullback_.needed) {
      if (!IsWritten(value)) continue;
      const Value written = value.instruction->opcode() == Opcode::kParameter
                                ? now[1 + value.leaf]
                                : map[value.instruction->index()];
      const Shape& shape = written->shape();
      next.push_back(inner.DynamicUpdateSlice(now[array], inner.Reshape(written, Stacked(1, shape)),
                                              StartsAt(inner, now[0], shape.rank() + 1)));
      ++array;
    }
    const Value loop = CountedLoop(b_, state, trips_, inner.Finish(inner.Tuple(next)));
    std::vector<Value> after;
    for (size_t i = 0; i < state.size(); ++i)
      after.push_back(b_.GetTupleElement(loop, static_cast<int64_t>(i)));
    p_.sweep().ReplaceForward(
        p_.op(), b_.Unflatten(p_.op().shape(), absl::MakeConstSpan(after).subspan(1, first_array - 1)));
    // The backward loop reads the arrays, and the leaves that no trip changes.
    array = first_array;
    for (const ForwardValue& value : pullback_.needed) {
      read_.push_back(IsWritten(value) ? after[array++] : state[1 + value.leaf]);
    }
  }

  // State: trips done, cotangents of the active leaves, values that are read.
  void RunBackward() {
    std::vector<Value> state = {b_.Zero(xla::S32)};
    for (const auto& [parameter, leaf] : pullback_.of_parameters) state.push_back(p_.cotangent(leaf));
    const size_t first_read = state.size();
    state.insert(state.end(), read_.begin(), read_.end());
    std::vector<Shape> shapes;
    for (const Value leaf : state) shapes.push_back(leaf->shape());

    InstructionBuilder inner = b_.InNewComputation(absl::StrCat(body_.name(), ".backward"));
    const Value parameter = inner.Parameter(Shape::Tuple(shapes), "state");
    std::vector<Value> now;
    for (size_t i = 0; i < state.size(); ++i)
      now.push_back(inner.GetTupleElement(parameter, static_cast<int64_t>(i)));
    const Value trip = inner.Subtract(inner.IntScalar(trips_ - 1), now[0]);
    std::map<int, Value> of_leaf;
    for (size_t i = 0; i < pullback_.of_parameters.size(); ++i)
      of_leaf[pullback_.of_parameters[i].second] = now[1 + i];
    std::vector<Value> arguments;
    for (const int leaf : pullback_.of_result) arguments.push_back(of_leaf.at(leaf));
    for (size_t i = 0; i < pullback_.needed.size(); ++i) {
      Value value = now[first_read + i];
      if (IsWritten(pullback_.needed[i])) {
        const Shape shape = ShapeOf(pullback_.needed[i]);
        value = inner.Reshape(
            inner.DynamicSlice(value, StartsAt(inner, trip, shape.rank() + 1), Stacked(1, shape)),
            shape.dims());
      }
      arguments.push_back(value);
    }
    std::vector<Value> next = {inner.Add(now[0], inner.IntScalar(1))};
    const std::vector<Instruction*> map =
        CloneInstructions(*pullback_.computation, arguments, inner.computation());
    for (const Value leaf : inner.Flatten(map[pullback_.computation->root()->index()])) next.push_back(leaf);
    next.insert(next.end(), now.begin() + static_cast<int64_t>(first_read), now.end());
    const Value loop = CountedLoop(b_, state, trips_, inner.Finish(inner.Tuple(next)));
    for (size_t i = 0; i < pullback_.of_parameters.size(); ++i) {
      p_.Add(0, b_.GetTupleElement(loop, static_cast<int64_t>(i) + 1), pullback_.of_parameters[i].second);
    }
  }

  Pullback& p_;
  InstructionBuilder& b_;
  const Computation& body_;
  const int64_t trips_;
  const std::vector<Shape> shapes_;  // Shapes of the state's leaves.
  std::vector<bool> unchanged_;      // Leaves that every trip hands on.
  PullbackComputation pullback_;
  std::vector<Value> read_;
};

}  // namespace

absl::Status CallGradient(Pullback& p) { return CalleeGradient(p, *p.op().called(0)); }

absl::Status MapGradient(Pullback& p) {
  return GradientByExpansion(
      p, [&](InstructionBuilder& b, absl::Span<const Value> operands) -> absl::StatusOr<Value> {
        const absl::Span<const int64_t> dims = p.op().shape().dims();
        const Computation& of_element = *p.op().called(0);
        std::vector<Value> now;
        for (const auto& op : of_element.instructions()) {
          if (op->opcode() == Opcode::kParameter) {
            now.push_back(operands[op->parameter_number()]);
          } else if (op->opcode() == Opcode::kConstant && op->shape().IsScalar()) {
            now.push_back(b.Broadcast(b.Clone(*op, op->shape(), {}), dims));
          } else if (IsElementwise(op->opcode())) {
            std::vector<Value> of_op;
            for (const Instruction* operand : op->operands()) of_op.push_back(now[operand->index()]);
            now.push_back(b.Clone(*op, Shape(op->shape().element_type(), dims), of_op));
          } else {
            return absl::UnimplementedError(absl::StrCat("a map by ", of_element.name(), ", which holds ",
                                                         op->opcode_name(), ", has no gradient"));
          }
        }
        return now[of_element.root()->index()];
      });
}

absl::Status ScanGradient(Pullback& p) {
  return GradientByExpansion(
      p, [&](InstructionBuilder& b, absl::Span<const Value> operands) -> absl::StatusOr<Value> {
        return ExpandScan(p.op(), operands, *p.op().called(0), b);
      });
}

absl::Status ConditionalGradient(Pullback& p) {
  InstructionBuilder& b = p.b;
  const std::vector<int> with_cotangents = LeavesWithCotangents(p);
  // Every branch returns cotangents for the active leaves of all branches' operands; zeros for those of other
  // branches.
  std::vector<std::pair<int, int>> outputs;
  std::vector<Shape> output_shapes;
  for (int i = 1; i < p.op().num_operands(); ++i) {
    const ActiveLeaves& active = p.sweep().active(*p.op().operand(i));
    const std::vector<Shape> shapes = LeafShapes(p.operand_shape(i));
    for (int leaf = 0; leaf < static_cast<int>(active.size()); ++leaf) {
      if (!active[leaf]) continue;
      outputs.push_back({i, leaf});
      output_shapes.push_back(shapes[leaf]);
    }
  }
  std::vector<Value> operands;
  std::vector<Computation*> branches;
  for (int k = 0; k < static_cast<int>(p.op().called().size()); ++k) {
    const int operand = k + 1;
    ASSIGN_OR_RETURN(const PullbackComputation pullback,
                     MakePullback(*p.op().called(k), {p.sweep().active(*p.op().operand(operand))},
                                  with_cotangents, p.sweep().options(), p.sweep().visit(), KeepsNothing, b));
    std::vector<Value> arguments;
    for (const int leaf : pullback.of_result) arguments.push_back(p.cotangent(leaf));
    for (const ForwardValue& value : pullback.needed)
      arguments.push_back(LeafOf(b, p.operand(operand), value.leaf));
    operands.push_back(b.Tuple(arguments));
    InstructionBuilder branch =
        b.InNewComputation(absl::StrCat(p.op().called(k)->name(), ".branch_gradient"));
    const std::vector<Value> given = branch.Flatten(branch.Parameter(operands.back()->shape(), "arguments"));
    const Value own = branch.Call(pullback.computation, given);
    std::vector<Value> results;
    for (size_t i = 0; i < outputs.size(); ++i) {
      Value result = nullptr;
      for (size_t o = 0; o < pullback.of_parameters.size(); ++o) {
        const bool is_this =
            outputs[i].first == operand && outputs[i].second == pullback.of_parameters[o].second;
        if (is_this) result = branch.GetTupleElement(own, static_cast<int64_t>(o));
      }
      results.push_back(result != nullptr
                            ? result
                            : branch.Zeros(output_shapes[i].element_type(), output_shapes[i].dims()));
    }
    branches.push_back(branch.Finish(branch.Tuple(results)));
  }
  const Value cotangents = b.Conditional(p.operand(0), operands, branches);
  for (size_t i = 0; i < outputs.size(); ++i) {
    p.Add(outputs[i].first, b.GetTupleElement(cotangents, static_cast<int64_t>(i)), outputs[i].second);
  }
  return absl::OkStatus();
}

absl::Status WhileGradient(Pullback& p) {
  const std::optional<int64_t> trips = TripCount(p.op());
  if (!trips) {
    return absl::UnimplementedError(
        "the number of trips of a loop must be known for its gradient: a counter that begins, "
        "steps and ends at constants, or known_trip_count in its backend_config");
  }
  if (*trips > 0) return LoopPullback(p, *trips).Run();
  for (const int leaf : LeavesWithCotangents(p)) p.Add(0, p.cotangent(leaf), leaf);
  return absl::OkStatus();
}

}  // namespace toroid
