#include "runtime/kernels/scatter.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "runtime/kernels/combine_at.h"
#include "runtime/kernels/gather_window.h"
#include "runtime/loops/binary_loops.h"
#include "runtime/loops/block_convert.h"
#include "runtime/loops/strided_copy.h"
#include "runtime/mesh/mesh_rows.h"
#include "runtime/plan/scalar_body.h"

namespace toroid {
namespace {

struct ScatterCache : KernelCache {
  explicit ScatterCache(const OpCall& call)
      : operands((call.num_operands() - 1) / 2),
        numbers(call.instruction()),
        starts(call.operand_shape(operands), numbers.index_vector_dim(),
               ToDims(numbers.scatter_dims_to_operand_dims()), ToDims(numbers.operand_batching_dims()),
               ToDims(numbers.indices_batching_dims()), call.operand_shape(0).rank()) {
    const Shape& shape = call.operand_shape(0);
    const Shape& updates = call.operand_shape(operands + 1);
    // Strides count elements, because operands may differ in width.
    operand_strides = RowMajorStrides(shape.dims(), 1);
    const Dims update_strides = RowMajorStrides(updates.dims(), 1);
    std::vector<bool> dropped(shape.rank(), false), in_window(updates.rank(), false);
    for (const int64_t d : numbers.inserted_window_dims()) dropped[d] = true;
    for (const int64_t d : numbers.operand_batching_dims()) dropped[d] = true;
    for (const int64_t d : numbers.update_window_dims()) in_window[d] = true;
    int position = 0;
    for (int d = 0; d < shape.rank(); ++d) {
      int64_t size = 1;
      if (!dropped[d]) {
        const int64_t update_dim = numbers.update_window_dims()[position++];
        size = updates.dim(update_dim);
        window.Add(size, update_strides[update_dim], operand_strides[d]);
      }
      limits.push_back(shape.dim(d) - size);
    }
    for (int d = 0; d < updates.rank(); ++d) {
      if (!in_window[d]) batch_strides.push_back(update_strides[d]);
    }
    window.Simplify();
    body = ClassifyBody(*call.instruction().called(0));
    if (operands != 1 || !body.has_value() || body->opcode == Opcode::kParameter) return;
    loop = FindBinaryLoop(body->opcode, ComputeType(shape.element_type()));
  }

  int operands;
  const ScatterView numbers;
  WindowStarts starts;
  Dims operand_strides;
  Dims limits;         // Largest start per operand dimension.
  Dims batch_strides;  // Strides of the batch dimensions in the updates.
  StridedLoop window;  // From updates to operand, in elements.
  std::optional<SimpleBody> body;
  BinaryLoop loop = nullptr;
};

// The start of each window that is inside the operand: in the operand and in the updates, in elements.
void FindWindows(const ScatterCache& cache, const std::vector<int64_t>& starts, int64_t operand_base,
                 int64_t update_base, std::vector<std::pair<int64_t, int64_t>>* windows) {
  const int rank = static_cast<int>(cache.limits.size());
  const auto batch_dims = cache.starts.batch_dims();
  for (int64_t b = 0; b < cache.starts.batch_size(); ++b) {
    int64_t target = operand_base, source = update_base, rest = b;
    bool inside = true;
    for (int d = 0; d < rank; ++d) {
      const int64_t start = starts[b * rank + d];
      inside &= start >= 0 && start <= cache.limits[d];
      if (inside) target += start * cache.operand_strides[d];
    }
    if (!inside) continue;
    for (size_t d = batch_dims.size(); d-- > 0; rest /= batch_dims[d]) {
      source += rest % batch_dims[d] * cache.batch_strides[d];
    }
    windows->emplace_back(target, source);
  }
}

// Calls visit(target, source, count) for each contiguous run of a window, offsets in elements.
template <typename Visit>
void ForEachRun(const StridedLoop& window, size_t level, int64_t target, int64_t source, Visit&& visit) {
  if (level == window.dims.size()) {
    visit(target, source, 1);
    return;
  }
  const StridedLoop::Dim& dim = window.dims[level];
  if (level + 1 == window.dims.size() && dim.source == 1 && dim.target == 1) {
    visit(target, source, dim.size);
    return;
  }
  for (int64_t i = 0; i < dim.size; ++i) {
    ForEachRun(window, level + 1, target + i * dim.target, source + i * dim.source, visit);
  }
}

void CombineNarrow(PrimitiveType type, BinaryLoop loop, char* target, const char* update, int64_t n) {
  float a[kConvertBlock], b[kConvertBlock];
  const int64_t width = ByteWidth(type);
  for (int64_t i = 0; i < n; i += kConvertBlock) {
    const int64_t count = std::min(kConvertBlock, n - i);
    NarrowToFloat(type, target + i * width, a, count);
    NarrowToFloat(type, update + i * width, b, count);
    loop(a, b, a, count, Repeat::kNone);
    FloatToNarrow(type, a, target + i * width, count);
  }
}

// Makes results[i] a copy of operand i, or operand i itself if this is its last use.
absl::Status CopyOperands(OpCall& call, int operands, bool uniform, std::vector<MeshBuffer>* results) {
  for (int i = 0; i < operands; ++i) {
    MeshBuffer buffer = call.TakeOperand(i);
    if (!uniform) RETURN_IF_ERROR(SpreadRows(call.copies(), &buffer));
    if (!buffer.unique()) {
      MeshBuffer copy;
      RETURN_IF_ERROR(call.New(call.operand_shape(i).ByteSize(), uniform, &copy));
      std::memcpy(copy.mutable_data(), buffer.data(), buffer.bytes());
      buffer = std::move(copy);
    }
    results->push_back(std::move(buffer));
  }
  return absl::OkStatus();
}

absl::Status Apply(OpCall& call, const ScatterCache& cache,
                   const std::vector<std::pair<int64_t, int64_t>>& windows,
                   std::vector<MeshBuffer>& results) {
  const PrimitiveType type = call.operand_shape(0).element_type();
  const int64_t width = ByteWidth(type);
  char* target = results[0].mutable_data();
  const char* updates = call.data(cache.operands + 1);
  const bool overwrite =
      cache.operands == 1 && cache.body.has_value() && cache.body->opcode == Opcode::kParameter;
  if (overwrite || cache.loop != nullptr) {
    const bool narrow = IsNarrowFloat(type);
    for (const auto& [to, from] : windows) {
      ForEachRun(cache.window, 0, to, from, [&](int64_t at, int64_t source, int64_t n) {
        char* out = target + at * width;
        const char* in = updates + source * width;
        if (overwrite) {
          std::memcpy(out, in, n * width);
        } else if (narrow) {
          CombineNarrow(type, cache.loop, out, in, n);
        } else {
          cache.loop(out, in, out, n, Repeat::kNone);
        }
      });
    }
    return absl::OkStatus();
  }
  int64_t elements = static_cast<int64_t>(windows.size());
  for (const StridedLoop::Dim& dim : cache.window.dims) elements *= dim.size;
  std::vector<int64_t> place, source;
  RETURN_IF_ERROR(call.CheckMemory(elements * (sizeof(place[0]) + sizeof(source[0]))));
  place.reserve(elements);
  source.reserve(elements);
  for (const auto& [to, from] : windows) {
    ForEachRun(cache.window, 0, to, from, [&](int64_t at, int64_t from_at, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        place.push_back(at + i);
        source.push_back(from_at + i);
      }
    });
  }
  PlacedArrays arrays;
  for (int i = 0; i < cache.operands; ++i) {
    arrays.targets.push_back(results[i].mutable_data());
    arrays.updates.push_back(call.data(cache.operands + 1 + i));
    arrays.widths.push_back(ByteWidth(call.operand_shape(i).element_type()));
  }
  return CombineAt(call, call.called(0), arrays, place, source, /*updates_first=*/false);
}

}  // namespace

absl::Status ExecuteScatter(OpCall& call) {
  const ScatterCache& cache = call.Cache<ScatterCache>();
  const bool uniform = call.AllUniform();
  const int64_t rows = uniform ? 1 : call.copies();
  const int64_t operand_row = call.operand_shape(0).NumElements();
  const int64_t update_row = call.operand_shape(cache.operands + 1).NumElements();
  const int64_t indices_row =
      call.uniform(cache.operands) ? 0 : call.operand_shape(cache.operands).ByteSize();
  // The updates of all operands must be uniform, or none of them.
  std::vector<MeshBuffer> results;
  bool updates_uniform = true;
  for (int i = 0; i < cache.operands; ++i) updates_uniform &= call.uniform(cache.operands + 1 + i);
  if (!updates_uniform) {
    for (int i = 0; i < cache.operands; ++i) {
      RETURN_IF_ERROR(SpreadRows(call.copies(), &call.mutable_operand(cache.operands + 1 + i)));
    }
  }
  RETURN_IF_ERROR(CopyOperands(call, cache.operands, uniform, &results));
  if (update_row > 0) {
    std::vector<std::pair<int64_t, int64_t>> windows;
    RETURN_IF_ERROR(
        call.CheckMemory(cache.starts.ReadBytes() + rows * cache.starts.batch_size() * sizeof(windows[0])));
    windows.reserve(rows * cache.starts.batch_size());
    std::vector<int64_t> starts;
    const char* indices = call.data(cache.operands);
    for (int64_t row = 0; row < rows; ++row) {
      if (row == 0 || indices_row != 0) cache.starts.Read(indices + row * indices_row, &starts);
      FindWindows(cache, starts, row * operand_row, updates_uniform ? 0 : row * update_row, &windows);
    }
    RETURN_IF_ERROR(Apply(call, cache, windows, results));
  }
  if (!call.shape().IsTuple()) {
    call.result() = std::move(results[0]);
    return absl::OkStatus();
  }
  call.result() = MeshBuffer::Tuple(std::move(results));
  return absl::OkStatus();
}

}  // namespace toroid
