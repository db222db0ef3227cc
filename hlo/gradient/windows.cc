#include "hlo/gradient/windows.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/gradient/reducers.h"
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

// (current, candidate) -> whether the current one stays.
Computation* StaysIf(InstructionBuilder& b, PrimitiveType type, bool is_maximum) {
  InstructionBuilder inner = b.InNewComputation(is_maximum ? "at_least" : "at_most");
  const Value current = inner.Parameter(Shape(type, {}), "current"), candidate = inner.Parameter(Shape(type, {}), "candidate");
  return inner.Finish(inner.Compare(current, candidate, is_maximum ? "GE" : "LE"));
}

absl::StatusOr<Value> ExtremeCotangent(Pullback& p, bool is_maximum) {
  InstructionBuilder& b = p.b;
  const WindowView view(p.op());
  for (int d = 0; d < view.rank(); ++d) {
    if (view[d].base_dilation != 1 || view[d].window_dilation != 1) {
      return absl::UnimplementedError("maxima and minima over dilated windows have no gradient");
    }
  }
  const PrimitiveType type = p.operand_shape(0).element_type();
  xla::HloInstructionProto* attrs = b.NewAttrs();
  *attrs->mutable_window() = p.op().attrs().window();
  return b.Op(Opcode::kSelectAndScatter, p.operand_shape(0), {p.operand(0), p.cotangent(), b.Zero(type)}, attrs,
              {StaysIf(b, type, is_maximum), b.ReducerComputation(Opcode::kAdd, type)});
}

}  // namespace

absl::Status ReduceWindowGradient(Pullback& p) {
  const std::optional<Opcode> reducer = OneOpReducer(*p.op().called(0));
  if (p.op().num_operands() != 2 || !reducer) {
    return absl::UnimplementedError("windows over several arrays or reduced by more than one op have no gradient");
  }
  if (p.Wants(1)) return absl::UnimplementedError("the initial value of a windowed reduction has no gradient");
  if (p.op().shape().NumElements() == 0) return absl::OkStatus();
  switch (*reducer) {
    case Opcode::kAdd:
      p.Add(0, SumCotangent(p));
      return absl::OkStatus();
    case Opcode::kMaximum:
    case Opcode::kMinimum: {
      absl::StatusOr<Value> cotangent = ExtremeCotangent(p, *reducer == Opcode::kMaximum);
      if (!cotangent.ok()) return cotangent.status();
      p.Add(0, *cotangent);
      return absl::OkStatus();
    }
    default:
      return absl::UnimplementedError(absl::StrCat("windowed reductions by ", OpcodeName(*reducer), " have no gradient"));
  }
}

}  // namespace toroid
