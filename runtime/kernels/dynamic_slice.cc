#include "runtime/kernels/dynamic_slice.h"

#include <algorithm>
#include <cstring>

#include "hlo/base/status.h"
#include "runtime/loops/index_values.h"
#include "runtime/loops/strided_copy.h"
#include "runtime/loops/thread_pool.h"

namespace toroid {
namespace {

// Byte offset of the window of `sizes` in an array of shape `shape`, at the clamped start indices of one row.
int64_t WindowOffset(const OpCall& call, int first_index, const Shape& shape, absl::Span<const int64_t> sizes,
                     absl::Span<const int64_t> strides, int64_t row) {
  const bool vector = call.num_operands() == first_index + 1 && call.operand_shape(first_index).rank() == 1;
  int64_t offset = 0;
  for (int d = 0; d < shape.rank(); ++d) {
    const int operand = vector ? first_index : first_index + d;
    const int64_t at = (call.uniform(operand) ? 0 : row) * (vector ? shape.rank() : 1) + (vector ? d : 0);
    const int64_t start = IndexValue(call.operand_shape(operand).element_type(), call.data(operand), at);
    offset += std::clamp<int64_t>(start, 0, std::max<int64_t>(0, shape.dim(d) - sizes[d])) * strides[d];
  }
  return offset;
}

bool IndicesUniform(const OpCall& call, int first_index) { return call.AllUniform(first_index); }

// Calls body(row) for the rows of all devices, each of which copies `bytes`.
template <typename Body>
void ForEachRow(int64_t rows, int64_t bytes, Body&& body) {
  constexpr int64_t kGrainBytes = 64 << 10;
  ParallelFor(rows, std::max<int64_t>(1, kGrainBytes / std::max<int64_t>(1, bytes)),
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row) body(row);
              });
}

}  // namespace

absl::Status ExecuteDynamicSlice(OpCall& call) {
  const Shape& from = call.operand_shape(0);
  const Shape& to = call.shape();
  const bool indices_uniform = IndicesUniform(call, 1), uniform = call.AllUniform();
  RETURN_IF_ERROR(call.NewResult(uniform));
  if (call.result_elements() == 0) return absl::OkStatus();
  const int64_t width = ByteWidth(to.element_type());
  const Dims from_strides = RowMajorStrides(from.dims(), width),
             to_strides = RowMajorStrides(to.dims(), width);
  const int64_t rows = uniform ? 1 : call.copies();
  const int64_t source_row = call.uniform(0) ? 0 : from.NumElements() * width;
  StridedLoop loop;
  loop.width = width;
  if (indices_uniform) loop.Add(rows, source_row, call.result_bytes());
  for (int d = 0; d < to.rank(); ++d) loop.Add(to.dim(d), from_strides[d], to_strides[d]);
  char* out = call.result().mutable_data();
  if (indices_uniform) {
    const int64_t offset = WindowOffset(call, 1, from, to.dims(), from_strides, 0);
    ParallelStridedCopy(std::move(loop), call.data(0) + offset, out);
    return absl::OkStatus();
  }
  loop.Optimize();
  ForEachRow(rows, call.result_bytes(), [&](int64_t row) {
    const int64_t offset = WindowOffset(call, 1, from, to.dims(), from_strides, row);
    StridedCopy(loop, call.data(0) + row * source_row + offset, out + row * call.result_bytes());
  });
  return absl::OkStatus();
}

absl::Status ExecuteDynamicUpdateSlice(OpCall& call) {
  const Shape& shape = call.shape();
  const Shape& update = call.operand_shape(1);
  const bool indices_uniform = IndicesUniform(call, 2), uniform = call.AllUniform();
  const int64_t width = ByteWidth(shape.element_type()), rows = uniform ? 1 : call.copies();
  const char* from = call.data(0);
  const bool from_uniform = call.uniform(0);
  const char* update_data = call.data(1);
  const int64_t update_row = call.uniform(1) ? 0 : update.NumElements() * width;
  if (!call.ReuseOperand(0, uniform)) {
    RETURN_IF_ERROR(call.NewResult(uniform));
    StridedLoop copy;
    copy.width = width;
    copy.Add(rows, from_uniform ? 0 : call.result_bytes(), call.result_bytes());
    copy.Add(call.result_elements(), width, width);
    ParallelStridedCopy(std::move(copy), from, call.result().mutable_data());
  }
  if (update.NumElements() == 0) return absl::OkStatus();
  const Dims strides = RowMajorStrides(shape.dims(), width),
             update_strides = RowMajorStrides(update.dims(), width);
  StridedLoop loop;
  loop.width = width;
  if (indices_uniform) loop.Add(rows, update_row, call.result_bytes());
  for (int d = 0; d < shape.rank(); ++d) loop.Add(update.dim(d), update_strides[d], strides[d]);
  char* out = call.result().mutable_data();
  if (indices_uniform) {
    ParallelStridedCopy(std::move(loop), update_data,
                        out + WindowOffset(call, 2, shape, update.dims(), strides, 0));
    return absl::OkStatus();
  }
  loop.Optimize();
  ForEachRow(rows, update.NumElements() * width, [&](int64_t row) {
    const int64_t offset = WindowOffset(call, 2, shape, update.dims(), strides, row);
    StridedCopy(loop, update_data + row * update_row, out + row * call.result_bytes() + offset);
  });
  return absl::OkStatus();
}

}  // namespace toroid
