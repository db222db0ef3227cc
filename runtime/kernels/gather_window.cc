// BUILD: copts = ["-O3"]
#include "runtime/kernels/gather_window.h"

#include <algorithm>
#include <utility>

#include "runtime/loops/index_values.h"

namespace toroid {

WindowStarts::WindowStarts(const Shape& indices, int64_t index_vector_dim, Dims start_index_map,
                           Dims operand_batching_dims, Dims indices_batching_dims, Dims limits, Dims strides,
                           Outside outside)
    : type_(indices.element_type()),
      width_(ByteWidth(indices.element_type())),
      start_index_map_(std::move(start_index_map)),
      limits_(std::move(limits)),
      strides_(std::move(strides)),
      outside_(outside) {
  Dims positions(indices.rank(), -1);
  for (int d = 0; d < indices.rank(); ++d) {
    if (d == index_vector_dim) {
      components_ = indices.dim(d);
      continue;
    }
    positions[d] = static_cast<int64_t>(batch_dims_.size());
    batch_dims_.push_back(indices.dim(d));
    batch_size_ *= indices.dim(d);
    if (d > index_vector_dim) inner_ *= indices.dim(d);
  }
  for (size_t i = 0; i < operand_batching_dims.size(); ++i) {
    batching_.push_back({operand_batching_dims[i], static_cast<int>(positions[indices_batching_dims[i]])});
  }
  for (const int64_t limit : limits_) none_inside_ |= limit < 0;
}

void WindowStarts::Component(const char* indices, int64_t k, int64_t first, int64_t n,
                             int64_t* values) const {
  if (inner_ == 1 && components_ != 1) {
    for (int64_t i = 0; i < n; ++i) values[i] = IndexValue(type_, indices, (first + i) * components_ + k);
    return;
  }
  for (int64_t done = 0; done < n;) {
    const int64_t outer = (first + done) / inner_, at = (first + done) % inner_;
    const int64_t count = std::min(n - done, inner_ == 1 ? n - done : inner_ - at);
    const int64_t place = inner_ == 1 ? first + done : (outer * components_ + k) * inner_ + at;
    ReadIndexValues(type_, indices + place * width_, count, values + done);
    done += count;
  }
}

void WindowStarts::Offsets(const char* indices, int64_t first, int64_t n, int64_t* offsets) const {
  constexpr int64_t kBlock = 256;
  if (none_inside_) {
    std::fill_n(offsets, n, outside_ == Outside::kClamp ? 0 : -1);
    return;
  }
  std::fill_n(offsets, n, 0);
  for (const BatchingPair& pair : batching_) {
    int64_t after = 1;  // Batch coordinates that share a coordinate of the partner dimension.
    for (size_t d = pair.batch_position + 1; d < batch_dims_.size(); ++d) after *= batch_dims_[d];
    const int64_t size = batch_dims_[pair.batch_position], stride = strides_[pair.operand_dim];
    for (int64_t i = 0; i < n; ++i) offsets[i] += (first + i) / after % size * stride;
  }
  int64_t values[kBlock];
  int64_t outside[kBlock];  // All bits of those that are dropped.
  for (int64_t done = 0; done < n; done += kBlock) {
    const int64_t count = std::min(kBlock, n - done);
    std::fill_n(outside, count, 0);
    for (size_t k = 0; k < start_index_map_.size(); ++k) {
      const int64_t limit = limits_[start_index_map_[k]], stride = strides_[start_index_map_[k]];
      Component(indices, static_cast<int64_t>(k), first + done, count, values);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t start = std::clamp<int64_t>(values[i], 0, limit);
        outside[i] |= -static_cast<int64_t>(start != values[i]);
        offsets[done + i] += start * stride;
      }
    }
    if (outside_ == Outside::kClamp) continue;
    for (int64_t i = 0; i < count; ++i) offsets[done + i] |= outside[i];
  }
}

BatchPlaces::BatchPlaces(absl::Span<const int64_t> dims, absl::Span<const int64_t> strides)
    : dims_(dims.begin(), dims.end()), strides_(strides.begin(), strides.end()) {
  if (dims.empty()) return;
  step_ = strides.back();
  for (size_t d = 0; d + 1 < dims.size(); ++d) evenly_spaced_ &= strides[d] == strides[d + 1] * dims[d + 1];
}

void BatchPlaces::Offsets(int64_t first, int64_t n, int64_t* offsets) const {
  if (evenly_spaced_) {
    for (int64_t i = 0; i < n; ++i) offsets[i] = (first + i) * step_;
    return;
  }
  Dims coordinate(dims_.size());
  int64_t at = 0, rest = first;
  for (size_t d = dims_.size(); d-- > 0; rest /= dims_[d]) {
    coordinate[d] = rest % dims_[d];
    at += coordinate[d] * strides_[d];
  }
  for (int64_t i = 0; i < n; ++i) {
    offsets[i] = at;
    for (size_t d = dims_.size(); d-- > 0;) {
      at += strides_[d];
      if (++coordinate[d] < dims_[d]) break;
      at -= strides_[d] * dims_[d];
      coordinate[d] = 0;
    }
  }
}

}  // namespace toroid
