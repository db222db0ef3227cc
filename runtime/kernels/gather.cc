// BUILD: copts = ["-O3"]
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

constexpr int64_t kGrainBytes = 64 << 10;
constexpr int64_t kBlock = 512;  // Windows whose places are computed at a time.

Dims LimitsOf(const OpCall& call) {
  Dims limits;
  const GatherView numbers(call.instruction());
  for (int d = 0; d < call.operand_shape(0).rank(); ++d) {
    limits.push_back(std::max<int64_t>(0, call.operand_shape(0).dim(d) - numbers.slice_sizes()[d]));
  }
  return limits;
}

struct GatherCache : KernelCache {
  explicit GatherCache(const OpCall& call)
      : numbers(call.instruction()),
        starts(call.operand_shape(1), numbers.index_vector_dim(), ToDims(numbers.start_index_map()),
               ToDims(numbers.operand_batching_dims()), ToDims(numbers.start_indices_batching_dims()),
               LimitsOf(call),
               RowMajorStrides(call.operand_shape(0).dims(), ByteWidth(call.shape().element_type())),
               WindowStarts::Outside::kClamp) {
    const Shape& from = call.operand_shape(0);
    const Shape& to = call.shape();
    const int64_t width = ByteWidth(to.element_type());
    const Dims from_strides = RowMajorStrides(from.dims(), width),
               to_strides = RowMajorStrides(to.dims(), width);
    window.width = width;
    std::vector<bool> dropped(from.rank(), false), offset(to.rank(), false);
    for (const int64_t d : numbers.collapsed_slice_dims()) dropped[d] = true;
    for (const int64_t d : numbers.operand_batching_dims()) dropped[d] = true;
    for (const int64_t d : numbers.offset_dims()) offset[d] = true;
    int position = 0;
    for (int d = 0; d < from.rank(); ++d) {
      if (dropped[d]) continue;
      window.Add(numbers.slice_sizes()[d], from_strides[d], to_strides[numbers.offset_dims()[position++]]);
    }
    Dims batch_strides;
    for (int d = 0; d < to.rank(); ++d) {
      if (!offset[d]) batch_strides.push_back(to_strides[d]);
    }
    places = BatchPlaces(starts.batch_dims(), batch_strides);
    window.Optimize();
    window_bytes = width;
    for (const StridedLoop::Dim& dim : window.dims) window_bytes *= dim.size;
    contiguous = window.dims.empty() || (window.dims.size() == 1 && window.dims[0].source == width &&
                                         window.dims[0].target == width);
  }

  const GatherView numbers;
  WindowStarts starts;
  BatchPlaces places;  // In the result.
  StridedLoop window;
  int64_t window_bytes;
  bool contiguous;  // In operand and result.
};

// Windows of kBytes bytes.
template <int64_t kBytes>
void CopyWindows(const char* from, const int64_t* sources, const int64_t* targets, int64_t n, char* to) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + targets[i], from + sources[i], kBytes);
}

void CopyWindows(const GatherCache& cache, const char* from, const int64_t* sources, const int64_t* targets,
                 int64_t n, char* to) {
  if (!cache.contiguous) {
    for (int64_t i = 0; i < n; ++i) StridedCopy(cache.window, from + sources[i], to + targets[i]);
    return;
  }
  switch (cache.window_bytes) {
    case 1:
      return CopyWindows<1>(from, sources, targets, n, to);
    case 2:
      return CopyWindows<2>(from, sources, targets, n, to);
    case 4:
      return CopyWindows<4>(from, sources, targets, n, to);
    case 8:
      return CopyWindows<8>(from, sources, targets, n, to);
    case 16:
      return CopyWindows<16>(from, sources, targets, n, to);
    case 32:
      return CopyWindows<32>(from, sources, targets, n, to);
    case 64:
      return CopyWindows<64>(from, sources, targets, n, to);
    default:
      for (int64_t i = 0; i < n; ++i) std::memcpy(to + targets[i], from + sources[i], cache.window_bytes);
  }
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
  const int64_t batch = cache.starts.batch_size(), blocks = (batch + kBlock - 1) / kBlock;
  const int64_t grain = std::max<int64_t>(1, kGrainBytes / std::max<int64_t>(1, kBlock * cache.window_bytes));
  char* out = call.result().mutable_data();
  ParallelFor(rows * blocks, grain, [&](int64_t begin, int64_t end) {
    int64_t sources[kBlock], targets[kBlock];
    for (int64_t task = begin; task < end; ++task) {
      const int64_t row = task / blocks, first = task % blocks * kBlock, n = std::min(kBlock, batch - first);
      cache.starts.Offsets(call.data(1) + row * indices_row, first, n, sources);
      cache.places.Offsets(first, n, targets);
      CopyWindows(cache, call.data(0) + row * from_row, sources, targets, n, out + row * call.result_bytes());
    }
  });
  return absl::OkStatus();
}

}  // namespace toroid
