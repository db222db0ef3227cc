#include "runtime/kernels/gather_window.h"

#include <algorithm>

#include "runtime/loops/index_values.h"

namespace toroid {

WindowStarts::WindowStarts(const Shape& indices, int64_t index_vector_dim, Dims start_index_map,
                           Dims operand_batching_dims, Dims indices_batching_dims, int operand_rank)
    : indices_(indices),
      index_vector_dim_(index_vector_dim),
      start_index_map_(std::move(start_index_map)),
      operand_rank_(operand_rank) {
  Dims positions(indices.rank(), -1);
  int64_t stride = 1;
  Dims strides(indices.rank());
  for (int d = indices.rank() - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= indices.dim(d);
  }
  for (int d = 0; d < indices.rank(); ++d) {
    if (d == index_vector_dim) {
      vector_stride_ = strides[d];
      continue;
    }
    positions[d] = static_cast<int64_t>(batch_dims_.size());
    batch_dims_.push_back(indices.dim(d));
    batch_strides_.push_back(strides[d]);
    batch_size_ *= indices.dim(d);
  }
  for (size_t i = 0; i < operand_batching_dims.size(); ++i) {
    batching_.push_back({operand_batching_dims[i], static_cast<int>(positions[indices_batching_dims[i]])});
  }
}

void WindowStarts::Read(const char* indices, std::vector<int64_t>* starts) const {
  starts->assign(batch_size_ * operand_rank_, 0);
  if (batch_size_ == 0) return;
  std::vector<int64_t> values(indices_.NumElements());
  ReadIndexValues(indices_.element_type(), indices, values.size(), values.data());
  Dims coordinate(batch_dims_.size(), 0);
  int64_t offset = 0;
  for (int64_t b = 0; b < batch_size_; ++b) {
    int64_t* start = starts->data() + b * operand_rank_;
    for (size_t k = 0; k < start_index_map_.size(); ++k) {
      start[start_index_map_[k]] = values[offset + k * vector_stride_];
    }
    for (const BatchingPair& pair : batching_) start[pair.operand_dim] = coordinate[pair.batch_position];
    for (size_t d = batch_dims_.size(); d-- > 0;) {
      offset += batch_strides_[d];
      if (++coordinate[d] < batch_dims_[d]) break;
      offset -= batch_strides_[d] * batch_dims_[d];
      coordinate[d] = 0;
    }
  }
}

}  // namespace toroid
