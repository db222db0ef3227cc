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
  // What becomes of a window that does not lie inside the operand.
  enum class Outside { kClamp, kDrop };

  // `limits`: the largest start in each operand dimension; `strides`: between the elements of each.
  WindowStarts(const Shape& indices, int64_t index_vector_dim, Dims start_index_map,
               Dims operand_batching_dims, Dims indices_batching_dims, Dims limits, Dims strides,
               Outside outside);

  // Sizes of the batch dimensions, in order.
  absl::Span<const int64_t> batch_dims() const { return batch_dims_; }
  int64_t batch_size() const { return batch_size_; }

  // offsets[i] = sum over d of start[d] * strides[d] for batch coordinate first + i, i < n; -1 for a window that is dropped.
  // `indices`: those of one device.
  void Offsets(const char* indices, int64_t first, int64_t n, int64_t* offsets) const;

 private:
  // Component k of the index vectors of batch coordinates first .. first + n - 1.
  void Component(const char* indices, int64_t k, int64_t first, int64_t n, int64_t* values) const;

  const PrimitiveType type_;
  const int64_t width_;
  const Dims start_index_map_, limits_, strides_;
  const Outside outside_;
  Dims batch_dims_;
  int64_t batch_size_ = 1;
  // The indices are [.., components, inner].
  int64_t components_ = 1, inner_ = 1;
  bool none_inside_ = false;  // A window is larger than the operand.
  struct BatchingPair {
    int64_t operand_dim;
    int batch_position;
  };
  std::vector<BatchingPair> batching_;
};

// Where each batch coordinate's window is in the array that has the batch dimensions: sum of coordinates times strides.
class BatchPlaces {
 public:
  BatchPlaces() = default;
  BatchPlaces(absl::Span<const int64_t> dims, absl::Span<const int64_t> strides);

  // Of batch coordinates first .. first + n - 1.
  void Offsets(int64_t first, int64_t n, int64_t* offsets) const;

 private:
  Dims dims_, strides_;
  bool evenly_spaced_ = true;
  int64_t step_ = 0;
};

}  // namespace toroid
