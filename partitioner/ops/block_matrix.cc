#include "partitioner/ops/block_matrix.h"

#include <numeric>
#include <utility>

namespace toroid {

Instruction* BlockMatrix::Transpose(Instruction* x) {
  std::vector<int64_t> order(x->shape().rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return b_.Transpose(x, order);
}

Instruction* BlockMatrix::Conjugate(Instruction* x) {
  const PrimitiveType type = x->shape().element_type();
  if (!IsComplex(type)) return x;
  const Shape real(type == xla::C64 ? xla::F32 : xla::F64,
                   Dims(x->shape().dims().begin(), x->shape().dims().end()));
  Instruction* a = b_.Op(Opcode::kReal, real, {x});
  Instruction* c = b_.Negate(b_.Op(Opcode::kImag, real, {x}));
  return b_.Op(Opcode::kComplex, x->shape(), {a, c});
}

Instruction* BlockMatrix::Product(Instruction* a, Instruction* b, bool transposed) {
  const int rank = a->shape().rank();
  xla::HloInstructionProto* attrs = b_.NewAttrs();
  auto* numbers = attrs->mutable_dot_dimension_numbers();
  for (int d = 0; d < rank - 2; ++d) {
    numbers->add_lhs_batch_dimensions(d);
    numbers->add_rhs_batch_dimensions(d);
  }
  numbers->add_lhs_contracting_dimensions(rank - 1);
  numbers->add_rhs_contracting_dimensions(transposed ? rank - 1 : rank - 2);
  for (int i = 0; i < 2; ++i)
    attrs->mutable_precision_config()->add_operand_precision(xla::PrecisionConfig::HIGHEST);
  Dims dims(a->shape().dims().begin(), a->shape().dims().end());
  dims.back() = transposed ? Rows(b) : Columns(b);
  return b_.Op(Opcode::kDot, Shape(a->shape().element_type(), dims), {a, b}, attrs);
}

Instruction* BlockMatrix::Numbers(Instruction* x, int from_last, Instruction* start) {
  const auto dims = x->shape().dims();
  const PrimitiveType type = start == nullptr ? xla::S32 : start->shape().element_type();
  Instruction* numbers = b_.Iota(type, dims, x->shape().rank() - from_last);
  return start == nullptr ? numbers : b_.Add(numbers, b_.Broadcast(start, dims));
}

Instruction* BlockMatrix::WhereOwned(const AxisList& axes, int64_t owner, Instruction* x,
                                     Instruction* other) {
  Instruction* owns = b_.Compare(b_.Coordinate(axes), b_.IntScalar(owner), "EQ");
  return b_.Select(b_.Broadcast(owns, x->shape().dims()), x, other);
}

}  // namespace toroid
