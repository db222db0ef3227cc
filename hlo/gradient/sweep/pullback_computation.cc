#include "hlo/gradient/sweep/pullback_computation.h"

#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/gradient/sweep/leaves.h"
#include "hlo/gradient/sweep/primals.h"

namespace toroid {
namespace {

// The leaf of a parameter that `value` is, through get-tuple-elements only; nullopt if it is none.
std::optional<ForwardValue> LeafOfParameter(const Instruction& value) {
  int64_t offset = 0;
  const Instruction* at = &value;
  while (at->opcode() == Opcode::kGetTupleElement) {
    offset += LeafOffset(at->operand(0)->shape(), at->tuple_index());
    at = at->operand(0);
  }
  if (at->opcode() != Opcode::kParameter) return std::nullopt;
  return ForwardValue{at, static_cast<int>(offset)};
}

// Makes a parameter for each value of the forward pass that the backward pass needs, in the order of
// requests.
class Needed {
 public:
  Needed(const std::function<bool(const Instruction&)>& keep, InstructionBuilder* b) : keep_(keep), b_(*b) {}

  Value Get(const Instruction& value) {
    if (const std::optional<ForwardValue> leaf = LeafOfParameter(value)) {
      if (!value.shape().IsTuple()) return Parameter(*leaf, value.shape());
      std::vector<Value> leaves;
      const std::vector<Shape> shapes = LeafShapes(value.shape());
      for (size_t i = 0; i < shapes.size(); ++i) {
        leaves.push_back(Parameter({leaf->instruction, leaf->leaf + static_cast<int>(i)}, shapes[i]));
      }
      return b_.Unflatten(value.shape(), leaves);
    }
    if (value.shape().IsArray() && keep_(value)) return Parameter({&value, 0}, value.shape());
    return nullptr;
  }

  const std::vector<ForwardValue>& all() const { return all_; }

 private:
  Value Parameter(ForwardValue value, const Shape& shape) {
    Value& parameter = known_[{value.instruction, value.leaf}];
    if (parameter == nullptr) {
      parameter = b_.Parameter(shape, "");
      all_.push_back(value);
    }
    return parameter;
  }

  const std::function<bool(const Instruction&)>& keep_;
  InstructionBuilder& b_;
  std::map<std::pair<const Instruction*, int>, Value> known_;
  std::vector<ForwardValue> all_;
};

}  // namespace

Value LeafOf(InstructionBuilder& b, Value value, int leaf) {
  while (value->shape().IsTuple()) {
    int64_t element = 0;
    while (leaf >= value->shape().tuple_shape(element).NumLeaves()) {
      leaf -= static_cast<int>(value->shape().tuple_shape(element++).NumLeaves());
    }
    value = b.GetTupleElement(value, element);
  }
  return value;
}

absl::StatusOr<PullbackComputation> MakePullback(const Computation& forward,
                                                 const std::vector<ActiveLeaves>& active,
                                                 absl::Span<const int> of_result,
                                                 const GradientOptions& options, VisitOp visit,
                                                 const std::function<bool(const Instruction&)>& keep,
                                                 const InstructionBuilder& b) {
  ActivityProblem problem;
  problem.parameters = active;
  problem.stopped = &options.stopped;
  const std::vector<ActiveLeaves> activity = ComputeActivity(forward, problem);

  PullbackComputation pullback;
  InstructionBuilder inner = b.InNewComputation(absl::StrCat(forward.name(), ".gradient"));
  Needed needed(keep, &inner);
  Primals primals([&](const Instruction& value) { return needed.Get(value); }, &inner);
  const absl::flat_hash_set<const Instruction*> no_sources;
  ReverseSweep sweep(forward, activity, no_sources, options, visit, &primals, &inner);
  const std::vector<Shape> shapes = LeafShapes(forward.root()->shape());
  for (const int leaf : of_result) {
    if (!activity[forward.root()->index()][leaf]) continue;
    pullback.of_result.push_back(leaf);
    sweep.Add(*forward.root(), leaf, inner.Parameter(shapes[leaf], ""));
  }
  RETURN_IF_ERROR(sweep.Run());
  std::vector<Value> cotangents;
  for (int i = 0; i < forward.num_parameters(); ++i) {
    const Instruction& parameter = *forward.parameter(i);
    for (size_t leaf = 0; leaf < activity[parameter.index()].size(); ++leaf) {
      if (!activity[parameter.index()][leaf]) continue;
      pullback.of_parameters.push_back({i, static_cast<int>(leaf)});
      cotangents.push_back(sweep.CotangentOrZeros(parameter, static_cast<int>(leaf)));
    }
  }
  pullback.needed = needed.all();
  pullback.computation = inner.Finish(inner.Tuple(cotangents));
  if (!inner.status().ok()) return inner.status();
  return pullback;
}

}  // namespace toroid
