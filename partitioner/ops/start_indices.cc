#include "partitioner/ops/start_indices.h"

namespace toroid {

Instruction* CountAgain(SpmdBuilder& b, Instruction* indices, int vector_dim, int k, int dim) {
  Dims dims(indices->shape().dims().begin(), indices->shape().dims().end());
  const bool scalar_indices = vector_dim == static_cast<int>(dims.size());
  if (!scalar_indices) dims[vector_dim] = 1;
  Instruction* rows = b.Iota(indices->shape().element_type(), dims, dim);
  return scalar_indices ? rows : ReplaceComponent(b, indices, vector_dim, k, rows);
}

Instruction* ToS64(SpmdBuilder& b, Instruction* index) {
  if (index->shape().element_type() == xla::U64) {
    Instruction* top = b.Broadcast(b.IntScalar(INT64_MAX, xla::U64), index->shape().dims());
    index = b.Binary(Opcode::kMinimum, index, top);
  }
  return b.Convert(index, xla::S64);
}

Instruction* ClampedStart(SpmdBuilder& b, Instruction* index, int64_t size, int64_t window) {
  Instruction* wide = ToS64(b, index);
  const auto dims = index->shape().dims();
  wide = b.Binary(Opcode::kMaximum, wide, b.Broadcast(b.IntScalar(0, xla::S64), dims));
  return b.Binary(Opcode::kMinimum, wide, b.Broadcast(b.IntScalar(size - window, xla::S64), dims));
}

Instruction* ReplaceComponent(SpmdBuilder& b, Instruction* indices, int vector_dim, int k,
                              Instruction* component) {
  const int64_t components = indices->shape().dim(vector_dim);
  std::vector<Instruction*> pieces;
  if (k > 0) pieces.push_back(b.SliceAlong(indices, vector_dim, 0, k));
  pieces.push_back(component);
  if (k + 1 < components) pieces.push_back(b.SliceAlong(indices, vector_dim, k + 1, components));
  return b.Concatenate(pieces, vector_dim);
}

int IndexOf(absl::Span<const int64_t> list, int64_t value) {
  for (int i = 0; i < static_cast<int>(list.size()); ++i) {
    if (list[i] == value) return i;
  }
  return -1;
}

}  // namespace toroid
