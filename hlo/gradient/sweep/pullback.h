// The interface of a gradient rule: one op's values, and the cotangents of its operands to add to.
//
// The cotangent of a value v is the derivative of the differentiated function f by v: a change dv of v
// changes f by Re(sum of cotangent * dv), without a conjugate, as in JAX. A rule is the transpose of the op's
// derivative:
//   y = a * b:   a's cotangent is y's times b, b's is y's times a.
#pragma once

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/gradient/sweep/reverse_sweep.h"

namespace toroid {

class Pullback {
 public:
  // `reads`: see CustomRule.
  Pullback(const Instruction& op, ReverseSweep* sweep, absl::Span<const Instruction* const> reads = {})
      : b(sweep->builder()), op_(op), sweep_(*sweep), reads_(reads) {}

  InstructionBuilder& b;  // Writes the backward pass.

  const Instruction& op() const { return op_; }
  ReverseSweep& sweep() { return sweep_; }
  // Values of the forward pass.
  Value operand(int i) { return sweep_.Primal(*op_.operand(i)); }
  Value result() { return sweep_.Primal(op_); }
  Value read(int i) { return sweep_.Primal(*reads_[i]); }
  const Shape& operand_shape(int i) const { return op_.operand(i)->shape(); }

  // True if some leaf of the operand is active, so that its cotangent is needed.
  bool Wants(int i) const { return AnyActive(sweep_.active(*op_.operand(i))); }
  // The cotangent of a leaf of the result; zeros if f does not depend on it.
  Value cotangent(int leaf = 0) { return sweep_.CotangentOrZeros(op_, leaf); }
  // The same, but null if f does not depend on the leaf.
  Value cotangent_or_null(int leaf) const { return sweep_.Cotangent(op_, leaf); }
  // Adds to an operand's cotangent; does nothing if that is not needed. `cotangent` has the operand's shape;
  // its element type is converted.
  void Add(int i, Value cotangent, int leaf = 0) { sweep_.Add(*op_.operand(i), leaf, cotangent); }
  // The same for a part: operand i at [starts, starts + sizes of `cotangent`).
  void AddAt(int i, Value cotangent, absl::Span<const Value> starts) {
    sweep_.AddAt(*op_.operand(i), cotangent, starts);
  }

 private:
  const Instruction& op_;
  ReverseSweep& sweep_;
  const absl::Span<const Instruction* const> reads_;
};

// Errors: kUnimplemented, without the op's path, if this instance of the op has no gradient.
using GradientRule = absl::Status (*)(Pullback& p);

}  // namespace toroid
