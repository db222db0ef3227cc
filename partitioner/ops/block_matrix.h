// The matrices of blocked linear algebra: the last two dimensions of an array, behind a batch.
#ifndef TOROID_PARTITIONER_OPS_BLOCK_MATRIX_H_
#define TOROID_PARTITIONER_OPS_BLOCK_MATRIX_H_

#include <cstdint>

#include "partitioner/spmd/spmd_builder.h"

namespace toroid {

class BlockMatrix {
 public:
  explicit BlockMatrix(SpmdBuilder& b) : b_(b) {}

  static int64_t Rows(const Instruction* x) { return x->shape().dim(x->shape().rank() - 2); }
  static int64_t Columns(const Instruction* x) { return x->shape().dim(x->shape().rank() - 1); }

  Instruction* Transpose(Instruction* x);
  Instruction* Conjugate(Instruction* x);  // Of real numbers: themselves.
  // a b^T, or a b, in the precision of the operands.
  Instruction* TimesTransposed(Instruction* a, Instruction* b) { return Product(a, b, /*transposed=*/true); }
  Instruction* Times(Instruction* a, Instruction* b) { return Product(a, b, /*transposed=*/false); }

  Instruction* RowsOf(Instruction* x, int64_t start, int64_t limit);
  Instruction* ColumnsOf(Instruction* x, int64_t start, int64_t limit);
  // Along the rows, or columns.
  Instruction* Below(absl::Span<Instruction* const> parts);
  Instruction* Beside(absl::Span<Instruction* const> parts);

  // The numbers of the rows, or columns, from `start` (null: 0), in the shape of x.
  Instruction* RowNumbers(Instruction* x, Instruction* start) { return Numbers(x, 2, start); }
  Instruction* ColumnNumbers(Instruction* x, Instruction* start) { return Numbers(x, 1, start); }
  // `x` on the device that is number `owner` along the axes, `other` elsewhere.
  Instruction* WhereOwned(const AxisList& axes, int64_t owner, Instruction* x, Instruction* other);
  Instruction* ZerosLike(Instruction* x) { return b_.Zeros(x->shape().element_type(), x->shape().dims()); }

 private:
  Instruction* Product(Instruction* a, Instruction* b, bool transposed);
  Instruction* Numbers(Instruction* x, int from_last, Instruction* start);

  SpmdBuilder& b_;
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_BLOCK_MATRIX_H_
