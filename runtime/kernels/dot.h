// dot: out[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n]
//
// Each letter stands for the product of its dimensions, in the order batch, lhs free, rhs free; the device is
// one more batch dimension. Sums of narrow floats run in f32, other sums in the result's type; integers wrap,
// and a pred result is the or of ands.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/module.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteDot(OpCall& call);

// Bytes that a dot holds at its peak beside operands and result: operands brought into order and type, and packed. `rows`: of
// each operand.
int64_t DotScratchBytes(const Instruction& dot, absl::Span<const int64_t> rows);

// An array of some shape, uniform or with one row per device.
struct DotOperand {
  const Shape& shape;
  const MeshBuffer& buffer;
};

// A dot on buffers, of the given shape.
// Errors: kResourceExhausted.
absl::Status Dot(const OpCall& call, const DotView& numbers, const DotOperand& lhs, const DotOperand& rhs,
                 const Shape& shape, MeshBuffer* result);

}  // namespace toroid
