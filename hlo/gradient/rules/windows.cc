#include "hlo/gradient/rules/windows.h"

#include <numeric>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/builder/neutral_element.h"
#include "hlo/gradient/rules/expansion.h"
#include "hlo/gradient/rules/reducers.h"
#include "hlo/ir/attribute_views.h"

namespace toroid {
namespace {

int64_t Dilated(int64_t size, int64_t dilation) { return size == 0 ? 0 : (size - 1) * dilation + 1; }

Value SumCotangent(Pullback& p) {
  InstructionBuilder& b = p.b;
  const WindowView view(p.op());
  xla::Window window;
  std::vector<int64_t> low, high, interior;
  for (int d = 0; d < view.rank(); ++d) {
    const WindowDim w = view[d];
    const int64_t n = Dilated(p.operand_shape(0).dim(d), w.base_dilation), k = w.Extent();
    const int64_t t = Dilated(p.op().shape().dim(d), w.stride);
    low.push_back(k - w.padding_low - 1);
    high.push_back(n + k - 1 - t - low.back());
    interior.push_back(w.stride - 1);
    xla::WindowDimension* dim = window.add_dimensions();
    dim->set_size(w.size);
    dim->set_stride(w.base_dilation);
    dim->set_base_dilation(1);
    dim->set_window_dilation(w.window_dilation);
  }
  const Value zero = b.Zero(p.cotangent()->shape().element_type());
  return b.ReduceWindow(Opcode::kAdd, b.Pad(p.cotangent(), zero, low, high, interior), window);
}

// (current, candidate) -> true if the current one stays.
Computation* StaysIf(InstructionBuilder& b, PrimitiveType type, bool is_maximum) {
  InstructionBuilder inner = b.InNewComputation(is_maximum ? "at_least" : "at_most");
  const Value current = inner.Parameter(Shape(type, {}), "current"),
              candidate = inner.Parameter(Shape(type, {}), "candidate");
  return inner.Finish(inner.Compare(current, candidate, is_maximum ? "GE" : "LE"));
}

bool IsDilated(const WindowView& view) {
  for (int d = 0; d < view.rank(); ++d) {
    if (view[d].base_dilation != 1 || view[d].window_dilation != 1) return true;
  }
  return false;
}

bool IsNeutral(const Instruction& init, Opcode op) {
  if (init.opcode() != Opcode::kConstant) return false;
  const absl::StatusOr<Literal> value = LiteralOf(init);
  const std::optional<Literal> neutral = NeutralElement(op, init.shape().element_type());
  return value.ok() && neutral && *value == *neutral;
}

Value ExtremeCotangent(Pullback& p, bool is_maximum) {
  InstructionBuilder& b = p.b;
  const PrimitiveType type = p.operand_shape(0).element_type();
  xla::HloInstructionProto* attrs = b.NewAttrs();
  *attrs->mutable_window() = p.op().attrs().window();
  return b.Op(Opcode::kSelectAndScatter, p.operand_shape(0), {p.operand(0), p.cotangent(), b.Zero(type)},
              attrs, {StaysIf(b, type, is_maximum), b.ReducerComputation(Opcode::kAdd, type)});
}

// By start element along a dimension: the fold of `size` elements, `dilation` apart.
Value SlidingFold(InstructionBuilder& b, Opcode op, Value x, int64_t dimension, int64_t size,
                  int64_t dilation) {
  const int64_t length = x->shape().dim(dimension) - (size - 1) * dilation;
  Value result = nullptr, fold = x;  // fold: of `m` elements.
  int64_t m = 1, done = 0;
  for (;;) {
    if ((size & m) != 0) {
      const Value part = b.SliceAlong(fold, dimension, done * dilation, done * dilation + length);
      result = result == nullptr ? part : b.Binary(op, result, part);
      done += m;
    }
    if (done == size) return result;
    const int64_t n = fold->shape().dim(dimension), step = m * dilation;
    fold = b.Binary(op, b.SliceAlong(fold, dimension, 0, n - step), b.SliceAlong(fold, dimension, step, n));
    m *= 2;
  }
}

absl::Status FoldGradient(Pullback& p, Opcode op) {
  return GradientByExpansion(
      p, [&](InstructionBuilder& b, absl::Span<const Value> operands) -> absl::StatusOr<Value> {
        const WindowView view(p.op());
        std::vector<int64_t> low, high, interior, zeros(view.rank(), 0), limits, strides;
        for (int d = 0; d < view.rank(); ++d) {
          low.push_back(view[d].padding_low);
          high.push_back(view[d].padding_high);
          interior.push_back(view[d].base_dilation - 1);
          strides.push_back(view[d].stride);
        }
        Value x = b.Pad(operands[0], operands[1], low, high, interior);
        for (int d = 0; d < view.rank(); ++d)
          x = SlidingFold(b, op, x, d, view[d].size, view[d].window_dilation);
        for (int d = 0; d < view.rank(); ++d) limits.push_back(x->shape().dim(d));
        x = b.Slice(x, zeros, limits, strides);
        return b.Binary(op, x, b.Broadcast(operands[1], x->shape().dims()));
      });
}

}  // namespace

absl::Status ReduceWindowGradient(Pullback& p) {
  const std::optional<Opcode> reducer = OneOpReducer(*p.op().called(0));
  if (p.op().num_operands() != 2 || !reducer) {
    return absl::UnimplementedError(
        "windows over several arrays or reduced by more than one op have no gradient");
  }
  // It may occur any number of times in the fold.
  if (p.Wants(1))
    return absl::UnimplementedError("the initial value of a windowed reduction has no gradient");
  if (p.op().shape().NumElements() == 0) return absl::OkStatus();
  switch (*reducer) {
    case Opcode::kAdd:
      p.Add(0, SumCotangent(p));
      return absl::OkStatus();
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      if (IsDilated(WindowView(p.op())) || !IsNeutral(*p.op().operand(1), *reducer))
        return FoldGradient(p, *reducer);
      p.Add(0, ExtremeCotangent(p, *reducer == Opcode::kMaximum));
      return absl::OkStatus();
    case Opcode::kMultiply:
      return FoldGradient(p, *reducer);
    default:
      return absl::UnimplementedError(
          absl::StrCat("windowed reductions by ", OpcodeName(*reducer), " have no gradient"));
  }
}

absl::Status SelectAndScatterGradient(Pullback& p) {
  InstructionBuilder& b = p.b;
  const Computation& select = *p.op().called(0);
  const Instruction& root = *select.root();
  const std::optional<Opcode> selects = OneOpReducer(select), scatters = OneOpReducer(*p.op().called(1));
  if (selects != Opcode::kCompare || scatters != Opcode::kAdd ||
      root.attrs().comparison_direction() == "EQ" || root.attrs().comparison_direction() == "NE") {
    return absl::UnimplementedError(
        "a select-and-scatter that selects by more than a comparison, or scatters by anything but "
        "addition, has no gradient");
  }
  const Value t = p.cotangent();
  const PrimitiveType type = t->shape().element_type();
  if (p.Wants(2)) {
    std::vector<int64_t> all(t->shape().rank());
    std::iota(all.begin(), all.end(), int64_t{0});
    p.Add(2, b.Sum(t, all));
  }
  if (!p.Wants(1) || p.operand_shape(1).NumElements() == 0) return absl::OkStatus();
  // Reduces each window to its largest or smallest element together with the cotangent at that element's
  // place.
  const bool is_maximum =
      (root.attrs().comparison_direction()[0] == 'G') == (root.operand(0) == select.parameter(0));
  InstructionBuilder inner = b.InNewComputation("selected");
  const Shape scalar(type, {});
  std::vector<Value> given;
  for (int i = 0; i < 4; ++i) given.push_back(inner.Parameter(scalar, ""));
  const Value stays = inner.Compare(given[0], given[2], is_maximum ? "GE" : "LE");
  Computation* picks = inner.Finish(
      inner.Tuple({inner.Select(stays, given[0], given[2]), inner.Select(stays, given[1], given[3])}));
  xla::HloInstructionProto* attrs = b.NewAttrs();
  *attrs->mutable_window() = p.op().attrs().window();
  const std::optional<Literal> least = NeutralElement(is_maximum ? Opcode::kMaximum : Opcode::kMinimum, type);
  if (!least) return absl::UnimplementedError("select-and-scatter of this element type has no gradient");
  const Shape of_windows(type, p.operand_shape(1).dims());
  const Value both = b.Op(Opcode::kReduceWindow, Shape::Tuple({of_windows, of_windows}),
                          {p.operand(0), t, b.Constant(*least), b.Zero(type)}, attrs, {picks});
  p.Add(1, b.GetTupleElement(both, 1));
  return absl::OkStatus();
}

}  // namespace toroid
