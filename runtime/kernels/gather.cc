#include "runtime/kernels/gather.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "runtime/kernels/gather_window.h"
#include "runtime/loops/strided_copy.h"
#include "runtime/loops/thread_pool.h"

namespace toroid {
namespace {

struct GatherCache : KernelCache {
  explicit GatherCache(const OpCall& call)
      : numbers(call.instruction()),
        starts(call.operand_shape(1), numbers.index_vector_dim(), ToDims(numbers.start_index_map()),
               ToDims(numbers.operand_batching_dims()), ToDims(numbers.start_indices_batching_dims()),
               call.operand_shape(0).rank()) {
    const Shape& from = call.operand_shape(0);
    const Shape& to = call.shape();
    const int64_t width = ByteWidth(to.element_type());
    operand_strides = RowMajorStrides(from.dims(), width);
    const Dims strides = RowMajorStrides(to.dims(), width);
    window.width = width;
    std::vector<bool> dropped(from.rank(), false), offset(to.rank(), false);
    for (const int64_t d : numbers.collapsed_slice_dims()) dropped[d] = true;
    for (const int64_t d : numbers.operand_batching_dims()) dropped[d] = true;
    for (const int64_t d : numbers.offset_dims()) offset[d] = true;
    int position = 0;
    for (int d = 0; d < from.rank(); ++d) {
      const int64_t size = numbers.slice_sizes()[d];
      limits.push_back(std::max<int64_t>(0, from.dim(d) - size));
      if (!dropped[d]) window.Add(size, operand_strides[d], strides[numbers.offset_dims()[position++]]);
    }
    for (int d = 0; d < to.rank(); ++d) {
      if (!offset[d]) batch_strides.push_back(strides[d]);
    }
    window.Optimize();
  }

  const GatherView numbers;
  WindowStarts starts;
  Dims operand_strides;
  Dims limits;         // Largest start per operand dimension.
  Dims batch_strides;  // Strides of the batch dimensions in the result.
  StridedLoop window;
};

void GatherRow(const GatherCache& cache, const std::vector<int64_t>& starts, const char* from, char* to) {
  const auto batch_dims = cache.starts.batch_dims();
  const int rank = static_cast<int>(cache.limits.size());
  int64_t window_bytes = cache.window.width;
  for (const auto& dim : cache.window.dims) window_bytes *= dim.size;
  const int64_t grain = std::max<int64_t>(1, (64 << 10) / std::max<int64_t>(window_bytes, 1));
  ParallelFor(cache.starts.batch_size(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      int64_t source = 0, target = 0, rest = b;
      for (int d = 0; d < rank; ++d) {
        source += std::clamp<int64_t>(starts[b * rank + d], 0, cache.limits[d]) * cache.operand_strides[d];
      }
      for (size_t d = batch_dims.size(); d-- > 0; rest /= batch_dims[d]) {
        target += rest % batch_dims[d] * cache.batch_strides[d];
      }
      StridedCopy(cache.window, from + source, to + target);
    }
  });
}

}  // namespace

absl::Status ExecuteGather(OpCall& call) {
  const GatherCache& cache = call.Cache<GatherCache>();
  const bool uniform = call.AllUniform();
  RETURN_IF_ERROR(call.NewResult(uniform));
  if (call.result_elements() == 0) return absl::OkStatus();
  const int64_t rows = uniform ? 1 : call.copies();
  // The windows are empty if a collapsed dimension has size 0.
  if (call.operand_shape(0).NumElements() == 0) {
    std::memset(call.result().mutable_data(), 0, call.result().bytes());
    return absl::OkStatus();
  }
  const int64_t from_row = call.uniform(0) ? 0 : call.operand_shape(0).ByteSize();
  const int64_t indices_row = call.uniform(1) ? 0 : call.operand_shape(1).ByteSize();
  RETURN_IF_ERROR(call.CheckMemory(cache.starts.ReadBytes()));
  std::vector<int64_t> starts;
  for (int64_t row = 0; row < rows; ++row) {
    if (row == 0 || indices_row != 0) cache.starts.Read(call.data(1) + row * indices_row, &starts);
    GatherRow(cache, starts, call.data(0) + row * from_row,
              call.result().mutable_data() + row * call.result_bytes());
  }
  return absl::OkStatus();
}

}  // namespace toroid
