// The index arithmetic that gather and scatter share.
//
// Each batch coordinate b (the indices' dimensions without index_vector_dim, row-major) has a start in every
// operand dimension: start[start_index_map[k]] = indices[b, k]; for batching dimensions the batch coordinate
// of the partner dimension; 0 for all others.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/shape.h"

namespace toroid {

class WindowStarts {
 public:
  WindowStarts(const Shape& indices, int64_t index_vector_dim, Dims start_index_map,
               Dims operand_batching_dims, Dims indices_batching_dims, int operand_rank);

  // Sizes of the batch dimensions, in order.
  absl::Span<const int64_t> batch_dims() const { return batch_dims_; }
  int64_t batch_size() const { return batch_size_; }
  // Bytes that Read needs, including its result.
  int64_t ReadBytes() const { return 8 * (batch_size_ * operand_rank_ + indices_.NumElements()); }

  // Decodes one row of indices: `starts` gets batch_size() groups of operand_rank values.
  void Read(const char* indices, std::vector<int64_t>* starts) const;

 private:
  const Shape indices_;
  const int64_t index_vector_dim_;
  const Dims start_index_map_;
  const int operand_rank_;
  Dims batch_dims_;
  int64_t batch_size_ = 1;
  int64_t vector_stride_ = 0;  // Elements between components of an index vector.
  Dims batch_strides_;         // Strides of the batch dimensions in the indices.
  struct BatchingPair {
    int64_t operand_dim;
    int batch_position;
  };
  std::vector<BatchingPair> batching_;
};

}  // namespace toroid
