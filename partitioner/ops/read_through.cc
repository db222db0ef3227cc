// Ops that read through slices: rolls and shifts.
//
// A concatenate of slices of one array, and a pad of a slice, only move rows of that array. Their local
// programs fetch rows of the array itself in one exchange. Otherwise the slices would be computed by one
// exchange, and the concatenate or pad of them by another. The same holds for a concatenate of an array and a
// few of its own rows, which extends the array at edges that wrap round or repeat.
//
// Example: y = concatenate(x[7:8], x[0:7]) rolls x by one row. Over 8 devices each tile reads one row of x
//          from its neighbour: one collective-permute. By way of the slices there would be two.
#include "partitioner/ops/op_functions.h"

namespace toroid {
namespace {

// The operands that read an array (as slices, or as a whole) must have at least 7/8 of its elements to read
// through slices: if the array has to be resharded, resharding smaller slices instead costs less.
constexpr int64_t kReadParts = 7, kPartsOfArray = 8;
// Concatenates of more operands do not read through slices: they are no rolls.
constexpr int kMaxOperands = 16;

// The array that `operand` is a slice of, if all strides are 1; null otherwise.
const Instruction* BehindSlice(const Instruction& operand) {
  if (operand.opcode() != Opcode::kSlice) return nullptr;
  const SliceView slice(operand);
  for (int d = 0; d < operand.shape().rank(); ++d) {
    if (slice[d].stride != 1) return nullptr;
  }
  return operand.operand(0);
}

bool IsMostOf(int64_t elements, const Instruction& array) {
  return elements > 0 && elements * kPartsOfArray >= array.shape().NumElements() * kReadParts;
}

}  // namespace

const Instruction& ConcatenateSource(const Instruction& op, int k) {
  const Instruction& operand = *op.operand(k);
  const Instruction* source = op.num_operands() > kMaxOperands ? nullptr : BehindSlice(operand);
  if (source == nullptr) return operand;
  const int dim = static_cast<int>(op.dimension());
  int64_t elements = 0;
  for (const Instruction* other : op.operands()) {
    if (other != source && BehindSlice(*other) != source) continue;
    for (int d = 0; d < other->shape().rank(); ++d) {
      if (d != dim && other->shape().dim(d) != source->shape().dim(d)) return operand;
    }
    elements += other->shape().NumElements();
  }
  return IsMostOf(elements, *source) ? *source : operand;
}

const Instruction& PadSource(const Instruction& op, int k) {
  const Instruction& operand = *op.operand(k);
  const Instruction* source = k == 0 ? BehindSlice(operand) : nullptr;
  return source != nullptr && IsMostOf(operand.shape().NumElements(), *source) ? *source : operand;
}

SliceBounds RowsOfSource(const Instruction& op, int k, const Instruction& source, int dim) {
  const Instruction& operand = *op.operand(k);
  if (&operand == &source) return {0, operand.shape().dim(dim), 1};
  return SliceView(operand)[dim];
}

}  // namespace toroid
