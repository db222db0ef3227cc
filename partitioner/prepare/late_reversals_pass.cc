// Reverses results instead of operands, so that reversals meet and cancel.
//
//   f(reverse(x), broadcast(m))            =>  reverse(f(x, broadcast(m)))
//   convolution(reverse(x), w, window)     =>  reverse(convolution(x, w, window')), window' being reversed
//   dot, reduce, transpose, pad, slice ... =>  likewise; a summed dimension is no longer reversed
//   reverse(reverse(x))                    =>  x
//
// A reversal along a cut dimension sends the whole array to other devices.
// Example: conv(x) + flip(conv(flip(x))) runs an image and its mirror image through a network. With columns
// cut over devices, only halos are sent after the pass.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "hlo/ir/attribute_views.h"
#include "partitioner/prepare/prepare_passes.h"
#include "partitioner/prepare/values_in_form.h"

namespace toroid {
namespace {

// By dimension: whether the value is its array reversed along the dimension.
using Reversed = absl::InlinedVector<bool, 6>;

class Reverser : public ValuesInForm<Reversed> {
 public:
  using ValuesInForm::ValuesInForm;

 private:
  Reversed FormOf(const Instruction& x) const {
    return ValueOf(x) ? ValueOf(x)->form : Reversed(x.shape().rank(), false);
  }
  Instruction* ArrayOf(Instruction* x) const { return ValueOf(*x) ? ValueOf(*x)->array : x; }

  Instruction* Reverse(Instruction* x, const Reversed& reversed) {
    Dims dims;
    for (size_t d = 0; d < reversed.size(); ++d) {
      if (reversed[d] && x->shape().dim(static_cast<int>(d)) != 1) dims.push_back(static_cast<int64_t>(d));
    }
    return dims.empty() ? x : b().Reverse(x, dims);
  }
  Instruction* Restored(const InForm& value, const Shape&) override {
    return Reverse(value.array, value.form);
  }

  static constexpr int kMaxFreeDepth = 4;  // Depth of the expressions that IsFreeToReverse walks.

  // Whether reversing x is free: it is computed from iotas and constants by elementwise ops and broadcasts,
  // none of them with a stated sharding or a form.
  bool IsFreeToReverse(const Instruction& x, int depth = kMaxFreeDepth) const {
    if (ValueOf(x) || IsStated(x)) return false;
    if (x.opcode() == Opcode::kIota || x.opcode() == Opcode::kConstant) return true;
    if (x.opcode() != Opcode::kBroadcast && !IsElementwise(x.opcode())) return false;
    return depth > 0 &&
           absl::c_all_of(x.operands(), [&](const Instruction* y) { return IsFreeToReverse(*y, depth - 1); });
  }
  // Whether x is a broadcast that repeats its operand along all dimensions to be reversed, so that x is its
  // own reversal.
  static bool IsSymmetric(const Instruction& x, const Reversed& reversed) {
    return x.opcode() == Opcode::kBroadcast &&
           absl::c_none_of(x.dimensions(), [&](int64_t d) { return reversed[d]; });
  }
  // An array whose reversal is the value of x. Null if computing it would move data that did not move before.
  Instruction* Unreversed(const Reversed& reversed, Instruction* x, int broadcasts = kMostBroadcasts) {
    if (FormOf(*x) == reversed) return ArrayOf(x);
    if (ValueOf(*x)) return nullptr;
    if (IsSymmetric(*x, reversed)) return x;
    if (IsFreeToReverse(*x)) return Reverse(x, reversed);
    if (x->opcode() != Opcode::kBroadcast || IsStated(*x) || broadcasts == 0) return nullptr;
    // The broadcast of a smaller array, such as a bias: its operand is reversed instead.
    Reversed of_operand;
    for (const int64_t d : x->dimensions()) of_operand.push_back(reversed[d]);
    Instruction* operand = Unreversed(of_operand, x->operand(0), broadcasts - 1);
    if (operand == nullptr) return nullptr;
    return b().Clone(*x, x->shape(), {operand});
  }

  Result Make(const Instruction& op) override {
    if (op.opcode() == Opcode::kReverse) return MakeReverse(op);
    if (!AnyHasForm(op)) return std::nullopt;
    switch (op.opcode()) {
      case Opcode::kBroadcast:
        return MakeBroadcast(op);
      case Opcode::kTranspose:
        return MakeTranspose(op);
      case Opcode::kReshape:
        return MakeReshape(op);
      case Opcode::kReduce:
        return MakeReduce(op);
      case Opcode::kDot:
        return MakeDot(op);
      case Opcode::kConvolution:
        return MakeConvolution(op);
      case Opcode::kPad:
        return MakePad(op);
      case Opcode::kSlice:
        return MakeSlice(op);
      case Opcode::kConcatenate:
        return MakeConcatenate(op);
      default:
        return IsElementwise(op.opcode()) ? MakeElementwise(op) : std::nullopt;
    }
  }

  Result MakeReverse(const Instruction& op) {
    Reversed reversed = FormOf(*op.operand(0));
    for (const int64_t d : op.dimensions()) reversed[d] = !reversed[d];
    return InForm{reversed, ArrayOf(op.operand(0))};
  }

  Result MakeElementwise(const Instruction& op) {
    for (const Instruction* x : op.operands()) {
      if (!x->shape().IsScalar() && !x->shape().SameDims(op.shape())) return std::nullopt;
    }
    const Reversed reversed = FirstForm(op);
    std::vector<Instruction*> operands;
    for (Instruction* x : op.operands()) {
      operands.push_back(x->shape().IsScalar() ? x : Unreversed(reversed, x));
      if (operands.back() == nullptr) return std::nullopt;
    }
    return InForm{reversed, b().Clone(op, op.shape(), operands)};
  }

  Result MakeBroadcast(const Instruction& op) {
    const InForm& x = *ValueOf(*op.operand(0));
    Reversed reversed(op.shape().rank(), false);
    for (size_t k = 0; k < x.form.size(); ++k) reversed[op.dimensions()[k]] = x.form[k];
    return InForm{reversed, b().Clone(op, op.shape(), {x.array})};
  }

  Result MakeTranspose(const Instruction& op) {
    const InForm& x = *ValueOf(*op.operand(0));
    Reversed reversed;
    for (const int64_t d : op.dimensions()) reversed.push_back(x.form[d]);
    return InForm{reversed, b().Clone(op, op.shape(), {x.array})};
  }

  // Only if every reversed dimension is also a dimension of the reshape's result.
  Result MakeReshape(const Instruction& op) {
    const InForm& x = *ValueOf(*op.operand(0));
    const Shape &from = x.array->shape(), &to = op.shape();
    Reversed reversed(to.rank(), false);
    int64_t before = 1;
    for (int d = 0; d < from.rank(); before *= from.dim(d), ++d) {
      if (!x.form[d]) continue;
      int64_t rows = 1;
      int e = 0;
      while (e < to.rank() && (rows < before || to.dim(e) == 1)) rows *= to.dim(e++);
      if (e == to.rank() || rows != before || to.dim(e) != from.dim(d)) return std::nullopt;
      reversed[e] = true;
    }
    return InForm{reversed, b().Clone(op, to, {x.array})};
  }

  Result MakeReduce(const Instruction& op) {
    if (op.num_operands() != 2 || !ValueOf(*op.operand(0))) return std::nullopt;
    const InForm& x = *ValueOf(*op.operand(0));
    Reversed reversed;
    for (size_t d = 0; d < x.form.size(); ++d) {
      if (!absl::c_linear_search(op.dimensions(), static_cast<int64_t>(d))) reversed.push_back(x.form[d]);
    }
    return InForm{reversed, b().Clone(op, op.shape(), {x.array, op.operand(1)})};
  }

  Result MakeDot(const Instruction& op) {
    if (op.num_operands() != 2) return std::nullopt;
    const DotView dot(op);
    // A batch or contracting dimension is reversed in both operands if it is in one.
    Reversed lhs = FormOf(*op.operand(0)), rhs = FormOf(*op.operand(1));
    const auto agree = [&](absl::Span<const int64_t> of_lhs, absl::Span<const int64_t> of_rhs) {
      for (size_t k = 0; k < of_lhs.size(); ++k)
        lhs[of_lhs[k]] = rhs[of_rhs[k]] = lhs[of_lhs[k]] || rhs[of_rhs[k]];
    };
    agree(dot.lhs_batch(), dot.rhs_batch());
    agree(dot.lhs_contracting(), dot.rhs_contracting());
    Instruction *x = Unreversed(lhs, op.operand(0)), *y = Unreversed(rhs, op.operand(1));
    if (x == nullptr || y == nullptr) return std::nullopt;
    const Reversed reversed = OfProduct(dot, lhs, rhs);
    return InForm{reversed, b().Clone(op, op.shape(), {x, y})};
  }

  // Only for reversals of the input's spatial dimensions, and of its batch unless there are batch groups.
  // Feature groups are allowed.
  Result MakeConvolution(const Instruction& op) {
    if (!ValueOf(*op.operand(0)) || ValueOf(*op.operand(1))) return std::nullopt;
    const InForm& x = *ValueOf(*op.operand(0));
    const ConvolutionView conv(op);
    const bool reverses_batch = x.form[conv.input_batch()];
    if (x.form[conv.input_feature()] || (reverses_batch && conv.batch_groups() > 1) ||
        op.shape().NumElements() == 0)
      return std::nullopt;
    Instruction* made = b().Clone(op, op.shape(), {x.array, op.operand(1)});
    Reversed reversed(op.shape().rank(), false);
    reversed[conv.output_batch()] = reverses_batch;
    for (size_t i = 0; i < conv.input_spatial().size(); ++i) {
      const int64_t d = conv.input_spatial()[i], e = conv.output_spatial()[i];
      if (!x.form[d]) continue;
      reversed[e] = true;
      // In the reversed array, windows are counted from the other end: the first window takes the place of
      // the last one.
      WindowDim window = WindowView(op)[static_cast<int>(i)];
      const int64_t n = x.array->shape().dim(static_cast<int>(d));
      const int64_t spread = (n - 1) * window.base_dilation + 1;
      const int64_t read = (op.shape().dim(static_cast<int>(e)) - 1) * window.stride + window.Extent();
      const int64_t low = window.padding_low;
      window.padding_low = read - spread - low;
      window.padding_high = low;
      window.reversed = !window.reversed;
      WindowView::Set(made->MutableAttrs(), static_cast<int>(i), window);
    }
    return InForm{reversed, made};
  }

  Result MakePad(const Instruction& op) {
    if (!ValueOf(*op.operand(0))) return std::nullopt;
    const InForm& x = *ValueOf(*op.operand(0));
    Instruction* made = b().Clone(op, op.shape(), {x.array, op.operand(1)});
    for (int d = 0; d < op.shape().rank(); ++d) {
      EdgePadding padding = PadView(op)[d];
      if (!x.form[d]) continue;
      std::swap(padding.low, padding.high);
      PadView::Set(made->MutableAttrs(), d, padding);
    }
    return InForm{x.form, made};
  }

  Result MakeSlice(const Instruction& op) {
    const InForm& x = *ValueOf(*op.operand(0));
    Instruction* made = b().Clone(op, op.shape(), {x.array});
    for (int d = 0; d < op.shape().rank(); ++d) {
      const int64_t n = x.array->shape().dim(d), count = op.shape().dim(d);
      const SliceBounds bounds = SliceView(op)[d];
      if (!x.form[d] || count == 0) continue;
      const int64_t last = bounds.start + (count - 1) * bounds.stride;
      SliceView::Set(made->MutableAttrs(), d, {n - 1 - last, n - bounds.start, bounds.stride});
    }
    return InForm{x.form, made};
  }

  Result MakeConcatenate(const Instruction& op) {
    const Reversed reversed = FirstForm(op);
    std::vector<Instruction*> operands;
    for (Instruction* x : op.operands()) {
      operands.push_back(Unreversed(reversed, x));
      if (operands.back() == nullptr) return std::nullopt;
    }
    if (reversed[op.dimension()]) std::reverse(operands.begin(), operands.end());
    return InForm{reversed, b().Clone(op, op.shape(), operands)};
  }
};

}  // namespace

absl::StatusOr<bool> LateReversalsPass::Run(std::unique_ptr<Module>* module) {
  return RewriteInForm<Reverser>(module->get());
}

}  // namespace toroid
