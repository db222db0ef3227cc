// Operations of blocked linear algebra on matrices: the last two dimensions of an array; the others are a
// batch.
#pragma once

#include <cstdint>

#include "partitioner/spmd/spmd_builder.h"

namespace toroid {

class BlockMatrix {
 public:
  explicit BlockMatrix(SpmdBuilder& b) : b_(b) {}

  static int64_t Rows(const Instruction* x) { return x->shape().dim(x->shape().rank() - 2); }
  static int64_t Columns(const Instruction* x) { return x->shape().dim(x->shape().rank() - 1); }

  Instruction* Transpose(Instruction* x);
  Instruction* Conjugate(Instruction* x);  // Returns x if its type is real.
  // a b^T, or a b, at the highest precision (no truncation of f32 operands).
  Instruction* TimesTransposed(Instruction* a, Instruction* b) { return Product(a, b, /*transposed=*/true); }
  Instruction* Times(Instruction* a, Instruction* b) { return Product(a, b, /*transposed=*/false); }

  Instruction* RowsOf(Instruction* x, int64_t start, int64_t limit) {
    return b_.SliceAlong(x, x->shape().rank() - 2, start, limit);
  }
  Instruction* ColumnsOf(Instruction* x, int64_t start, int64_t limit) {
    return b_.SliceAlong(x, x->shape().rank() - 1, start, limit);
  }
  // Concatenates the parts from top to bottom, or from left to right.
  Instruction* Below(absl::Span<Instruction* const> parts) {
    return b_.Concatenate(parts, parts[0]->shape().rank() - 2);
  }
  Instruction* Beside(absl::Span<Instruction* const> parts) {
    return b_.Concatenate(parts, parts[0]->shape().rank() - 1);
  }

  // An array of the dimensions of x: each element is its row (column) number plus the scalar `start` (null:
  // 0).
  Instruction* RowNumbers(Instruction* x, Instruction* start) { return Numbers(x, 2, start); }
  Instruction* ColumnNumbers(Instruction* x, Instruction* start) { return Numbers(x, 1, start); }
  // `x` on devices whose coordinate along the axes is `owner`, `other` on all others.
  Instruction* WhereOwned(const AxisList& axes, int64_t owner, Instruction* x, Instruction* other);
  Instruction* ZerosLike(Instruction* x) { return b_.Zeros(x->shape().element_type(), x->shape().dims()); }

 private:
  Instruction* Product(Instruction* a, Instruction* b, bool transposed);
  Instruction* Numbers(Instruction* x, int from_last, Instruction* start);

  SpmdBuilder& b_;
};

}  // namespace toroid
