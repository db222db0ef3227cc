#include "hlo/passes/expand_op.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/builder/counted_loop.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/edit.h"
#include "hlo/ops/constraint.h"

namespace toroid {
namespace {

// Arrays [.., F, ..] and their features [F].
class BatchNorm {
 public:
  BatchNorm(const Instruction& op, InstructionBuilder& b)
      : b_(b),
        op_(op),
        narrow_(op.operand(0)->shape().element_type()),
        wide_(narrow_ == xla::F64 ? xla::F64 : xla::F32),
        feature_(op.attrs().feature_index()) {
    const Shape& x = op.operand(0)->shape();
    for (int64_t d = 0; d < x.rank(); ++d) {
      if (d == feature_) continue;
      others_.push_back(d);
      count_ *= static_cast<double>(x.dim(static_cast<int>(d)));
    }
  }

  Value Training(absl::Span<const Value> operands) {
    const Value x = Wide(operands[0]);
    const Value mean = Mean(x), centered = b_.Subtract(x, Spread(mean, x));
    const Value variance = Mean(b_.Multiply(centered, centered));
    const Value y = Normal(centered, Wide(operands[1]), Wide(operands[2]), variance);
    return b_.Tuple({Narrow(y), Narrow(mean), Narrow(variance)});
  }

  Value Inference(absl::Span<const Value> operands) {
    const Value x = Wide(operands[0]), centered = b_.Subtract(x, Spread(Wide(operands[3]), x));
    return Narrow(Normal(centered, Wide(operands[1]), Wide(operands[2]), Wide(operands[4])));
  }

  Value Grad(absl::Span<const Value> operands) {
    const Value x = Wide(operands[0]), scale = Wide(operands[1]), t = Wide(operands[4]);
    const Value centered = b_.Subtract(x, Spread(Wide(operands[2]), x)), inverse = Inverse(Wide(operands[3]));
    const Value to_offset = Sum(t), along = Sum(b_.Multiply(t, centered));
    const Value slope = Spread(b_.Multiply(along, b_.Multiply(inverse, inverse)), x);
    const Value mean =
        b_.MultiplyNumber(b_.Add(Spread(to_offset, x), b_.Multiply(centered, slope)), 1 / count_);
    const Value to_x = b_.Multiply(Spread(b_.Multiply(scale, inverse), x), b_.Subtract(t, mean));
    return b_.Tuple({Narrow(to_x), Narrow(b_.Multiply(along, inverse)), Narrow(to_offset)});
  }

 private:
  Value Wide(Value x) { return b_.Convert(x, wide_); }
  Value Narrow(Value x) { return b_.Convert(x, narrow_); }
  Value Spread(Value of_feature, Value like) {
    return b_.Broadcast(of_feature, like->shape().dims(), {feature_});
  }
  Value Sum(Value x) { return b_.Sum(x, others_); }
  Value Mean(Value x) { return b_.MultiplyNumber(Sum(x), 1 / count_); }
  Value Inverse(Value variance) { return b_.Rsqrt(b_.AddNumber(variance, op_.attrs().epsilon())); }
  Value Normal(Value centered, Value scale, Value offset, Value variance) {
    const Value factor = b_.Multiply(scale, Inverse(variance));
    return b_.Add(b_.Multiply(centered, Spread(factor, centered)), Spread(offset, centered));
  }

  InstructionBuilder& b_;
  const Instruction& op_;
  const PrimitiveType narrow_, wide_;
  const int64_t feature_;
  std::vector<int64_t> others_;
  double count_ = 1;
};

// The reducer r of a step (x, carry) -> (r(x, carry), r(x, carry)); nullopt for other steps.
std::optional<Opcode> FoldOf(const Instruction& scan, const Computation& step) {
  if (scan.attrs().is_associative() != xla::TRI_STATE_TRUE || step.num_parameters() != 2) return std::nullopt;
  const Instruction& root = *step.root();
  if (root.opcode() != Opcode::kTuple || root.num_operands() != 2 || root.operand(0) != root.operand(1))
    return std::nullopt;
  const Instruction& fold = *root.operand(0);
  switch (fold.opcode()) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
      break;
    default:
      return std::nullopt;
  }
  const bool on_both = (fold.operand(0) == step.parameter(0) && fold.operand(1) == step.parameter(1)) ||
                       (fold.operand(0) == step.parameter(1) && fold.operand(1) == step.parameter(0));
  if (!on_both || !fold.shape().Compatible(step.parameter(0)->shape())) return std::nullopt;
  return fold.opcode();
}

// Operands: x, the first carry. y[t] = carry r x[0] r .. r x[t]; the last y is the final carry.
Value ExpandFold(const Instruction& scan, Opcode reducer, absl::Span<const Value> operands,
                 InstructionBuilder& b) {
  const Value x = operands[0], carry = operands[1];
  const int64_t along = scan.dimension(), n = x->shape().dim(static_cast<int>(along));
  const bool is_reverse = scan.attrs().is_reverse();
  xla::Window window;
  for (int d = 0; d < x->shape().rank(); ++d) {
    WindowDim bounds;
    if (d == along) {
      bounds.size = n;
      (is_reverse ? bounds.padding_high : bounds.padding_low) = n - 1;
    }
    xla::WindowDimension* dimension = window.add_dimensions();
    dimension->set_size(bounds.size);
    dimension->set_stride(1);
    dimension->set_padding_low(bounds.padding_low);
    dimension->set_padding_high(bounds.padding_high);
    dimension->set_base_dilation(1);
    dimension->set_window_dilation(1);
  }
  const Value rows = b.ReduceWindow(reducer, x, window);
  const Value all = b.Binary(reducer, b.BroadcastOver(carry, x->shape().dims(), {along}), rows);
  const int64_t last = is_reverse ? 0 : n - 1;
  return b.Tuple({all, b.Reshape(b.SliceAlong(all, along, last, last + 1), carry->shape().dims())});
}

}  // namespace

Value ExpandScan(const Instruction& scan, absl::Span<const Value> operands, const Computation& step,
                 InstructionBuilder& b) {
  const int64_t carries = scan.attrs().num_carries(),
                inputs = static_cast<int64_t>(operands.size()) - carries;
  const int64_t outputs = static_cast<int64_t>(scan.shape().tuple_shapes().size()) - carries;
  const int64_t d = scan.dimension();
  const int64_t n = operands[0]->shape().dim(static_cast<int>(d));
  std::vector<Value> state = {b.Zero(xla::S32)};
  state.insert(state.end(), operands.begin(), operands.begin() + inputs);
  for (int64_t i = 0; i < outputs; ++i) {
    const Shape& output = scan.shape().tuple_shape(static_cast<int>(i));
    state.push_back(b.Zeros(output.element_type(), output.dims()));
  }
  state.insert(state.end(), operands.begin() + inputs, operands.end());
  std::vector<Shape> shapes;
  shapes.reserve(state.size());
  for (const Value leaf : state) shapes.push_back(leaf->shape());

  InstructionBuilder inner = b.InNewComputation(absl::StrCat(step.name(), ".trip"));
  inner.set_metadata(b.metadata());
  const Value parameter = inner.Parameter(Shape::Tuple(shapes), "state");
  std::vector<Value> now;
  for (size_t i = 0; i < state.size(); ++i)
    now.push_back(inner.GetTupleElement(parameter, static_cast<int64_t>(i)));
  const Value trip = scan.attrs().is_reverse() ? inner.Subtract(inner.IntScalar(n - 1), now[0]) : now[0];
  std::vector<Value> arguments;
  for (int64_t i = 0; i < inputs; ++i) {
    const Value row = inner.DynamicSliceAlong(now[1 + i], d, trip, 1);
    Dims dims(row->shape().dims().begin(), row->shape().dims().end());
    dims.erase(dims.begin() + d);
    arguments.push_back(inner.Reshape(row, dims));
  }
  arguments.insert(arguments.end(), now.end() - carries, now.end());
  const std::vector<Instruction*> map = CloneInstructions(step, arguments, inner.computation());
  const Value results = map[step.root()->index()];
  std::vector<Value> next = {inner.Add(now[0], inner.IntScalar(1))};
  next.insert(next.end(), now.begin() + 1, now.begin() + 1 + inputs);
  for (int64_t i = 0; i < outputs; ++i) {
    const Value all = now[1 + inputs + i];
    Dims dims(all->shape().dims().begin(), all->shape().dims().end());
    dims[d] = 1;
    std::vector<Value> starts(dims.size(), inner.Zero(xla::S32));
    starts[d] = trip;
    next.push_back(
        inner.DynamicUpdateSlice(all, inner.Reshape(inner.GetTupleElement(results, i), dims), starts));
  }
  for (int64_t i = 0; i < carries; ++i) next.push_back(inner.GetTupleElement(results, outputs + i));
  const Value loop = CountedLoop(b, state, n, inner.Finish(inner.Tuple(next)));
  std::vector<Value> after;
  for (int64_t i = 0; i < outputs + carries; ++i) after.push_back(b.GetTupleElement(loop, 1 + inputs + i));
  return b.Tuple(after);
}

bool CanExpand(const Instruction& op) {
  switch (op.opcode()) {
    case Opcode::kBatchNormTraining:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormGrad:
    case Opcode::kScan:
      return true;
    default:
      return false;
  }
}

absl::StatusOr<Value> ExpandOp(const Instruction& op, absl::Span<const Value> operands,
                               const Computation* step, InstructionBuilder& b) {
  Value result = nullptr;
  switch (op.opcode()) {
    case Opcode::kBatchNormTraining:
      result = BatchNorm(op, b).Training(operands);
      break;
    case Opcode::kBatchNormInference:
      result = BatchNorm(op, b).Inference(operands);
      break;
    case Opcode::kBatchNormGrad:
      result = BatchNorm(op, b).Grad(operands);
      break;
    default: {
      const std::optional<Opcode> fold = FoldOf(op, *step);
      const bool is_fold = fold && operands[0]->shape().dim(op.dimension()) > 0;
      result = is_fold ? ExpandFold(op, *fold, operands, b) : ExpandScan(op, operands, *step, b);
    }
  }
  if (!b.status().ok()) return b.status();
  return result;
}

}  // namespace toroid
