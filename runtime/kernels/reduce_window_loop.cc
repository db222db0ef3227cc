#include "runtime/kernels/reduce_window_loop.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "runtime/kernels/cumulative_window.h"
#include "runtime/loops/block_convert.h"
#include "runtime/loops/prefix_scan.h"
#include "runtime/loops/strided_copy.h"
#include "runtime/loops/thread_pool.h"
#include "runtime/loops/window_fold.h"

namespace toroid {
namespace {

// The init of each row of the call, as the loop's type.
std::vector<char> InitsOf(const OpCall& call) {
  const PrimitiveType type = call.shape().element_type();
  const int64_t rows = call.rows(1);
  std::vector<char> inits(rows * ByteWidth(ComputeType(type)));
  if (IsNarrowFloat(type)) {
    NarrowToFloat(type, call.data(1), reinterpret_cast<float*>(inits.data()), rows);
  } else {
    std::memcpy(inits.data(), call.data(1), inits.size());
  }
  return inits;
}

absl::Status Scan(OpCall& call, BinaryLoop loop, const CumulativeWindow& window) {
  const Shape &from = call.operand_shape(0), &to = call.shape();
  const bool uniform = call.AllUniform();
  const int64_t width = ByteWidth(to.element_type());
  PrefixScan scan;
  scan.loop = loop;
  scan.type = to.element_type();
  scan.copies = uniform ? 1 : call.copies();
  scan.rows = window.rows;
  scan.reverse = window.reverse;
  for (int d = 0; d < window.dim; ++d) scan.lines *= from.dim(d);
  for (int d = window.dim + 1; d < from.rank(); ++d) scan.inner *= from.dim(d);
  const int64_t row = scan.inner * width;
  scan.x_line = from.dim(window.dim) * row;
  scan.out_line = to.dim(window.dim) * row;
  scan.x_copy = call.uniform(0) ? 0 : from.ByteSize();
  scan.out_copy = to.ByteSize();
  scan.init_copy = call.uniform(1) ? 0 : width;
  RETURN_IF_ERROR(call.CheckMemory(NumThreads() * ScanScratchBytes(scan)));
  RETURN_IF_ERROR(call.NewResult(uniform));
  char* out = call.result().mutable_data();
  for (int64_t line = 0; line < scan.copies * scan.lines && window.empty > 0; ++line) {
    char* empty = out + line * scan.out_line + (window.reverse ? window.rows * row : 0);
    Fill(empty, call.data(1) + line / scan.lines * scan.init_copy, width, window.empty * scan.inner);
  }
  ScanRows(scan, call.data(0) + window.skipped * row, call.data(1),
           out + (window.reverse ? 0 : window.empty * row));
  return absl::OkStatus();
}

// The dimensions whose windows are not single elements, last first; at least one, unless the array is a scalar.
std::vector<int> WindowedDims(const Shape& shape, absl::Span<const WindowDim> window, const Shape& result) {
  std::vector<int> dims;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    const bool same = window[d].size == 1 && window[d].stride == 1 && window[d].base_dilation == 1 &&
                      window[d].padding_low == 0 && result.dim(d) == shape.dim(d);
    if (!same) dims.push_back(d);
  }
  if (dims.empty() && shape.rank() > 0) dims.push_back(0);
  return dims;
}

}  // namespace

int64_t PassesBytes(const Instruction& op, int64_t rows) {
  const Shape &shape = op.operand(0)->shape(), &result = op.shape();
  const std::vector<WindowDim> window = WindowView(op).dimensions();
  if (FindCumulativeWindow(shape, window, result.dims()).has_value()) return 0;
  int64_t peak = 0, before = 0;
  Dims dims(shape.dims().begin(), shape.dims().end());
  const std::vector<int> windowed = WindowedDims(shape, window, result);
  for (size_t pass = 0; pass < windowed.size(); ++pass) {
    dims[windowed[pass]] = result.dim(windowed[pass]);
    const bool last = pass + 1 == windowed.size();
    int64_t bytes = SaturatingMultiply(
        rows, ByteWidth(last ? result.element_type() : ComputeType(result.element_type())));
    for (const int64_t size : dims) bytes = SaturatingMultiply(bytes, size);
    peak = std::max(peak, SaturatingAdd(before, bytes));
    before = bytes;
  }
  return peak - before;  // The last pass makes the result.
}

bool InitIsIdempotent(const OpCall& call, BinaryLoop loop) {
  const std::vector<char> inits = InitsOf(call);
  std::vector<char> twice(inits.size());
  loop(inits.data(), inits.data(), twice.data(), call.rows(1), Repeat::kNone);
  return inits == twice;
}

absl::Status ReduceWindowByLoop(OpCall& call, BinaryLoop loop) {
  const std::vector<WindowDim> window = WindowView(call.instruction()).dimensions();
  const Shape &shape = call.operand_shape(0), &result = call.shape();
  const std::optional<CumulativeWindow> cumulative = FindCumulativeWindow(shape, window, result.dims());
  if (cumulative.has_value()) return Scan(call, loop, *cumulative);

  const bool uniform = call.AllUniform();
  const PrimitiveType type = result.element_type();
  const std::vector<char> inits = InitsOf(call);
  const std::vector<int> windowed = WindowedDims(shape, window, result);
  const size_t passes = std::max<size_t>(1, windowed.size());
  Dims dims(shape.dims().begin(), shape.dims().end());
  WindowFold fold;
  fold.loop = loop;
  fold.copies = uniform ? 1 : call.copies();
  fold.x_copy = call.uniform(0) ? 0 : shape.ByteSize();
  fold.init_copy = call.uniform(1) ? 0 : ByteWidth(ComputeType(type));
  fold.x_type = type;
  MeshBuffer current;  // What the passes so far have made.
  for (size_t pass = 0; pass < passes; ++pass) {
    const bool last = pass + 1 == passes;
    fold.outer = fold.inner = fold.n = fold.count = 1;
    if (!windowed.empty()) {
      const int d = windowed[pass];
      for (int i = 0; i < d; ++i) fold.outer *= dims[i];
      for (size_t i = d + 1; i < dims.size(); ++i) fold.inner *= dims[i];
      fold.n = dims[d];
      fold.count = dims[d] = result.dim(d);
      fold.size = window[d].size;
      fold.stride = window[d].stride;
      fold.low = window[d].padding_low;
      fold.dilation = window[d].window_dilation;
      fold.base = window[d].base_dilation;
    }
    fold.out_type = last ? type : ComputeType(type);
    RETURN_IF_ERROR(
        call.CheckMemory(CheckedMultiply(NumThreads(), WindowScratchBytes(fold)).value_or(INT64_MAX)));
    int64_t elements = fold.outer;
    for (const int64_t size : {fold.count, fold.inner})
      elements = CheckedMultiply(elements, size).value_or(INT64_MAX);
    const int64_t bytes = CheckedMultiply(elements, ByteWidth(fold.out_type)).value_or(INT64_MAX);
    const char* x = pass == 0 ? call.data(0) : current.data();
    MeshBuffer made;
    RETURN_IF_ERROR(call.New(bytes, uniform, &made));
    FoldWindowsOfDim(fold, x, inits.data(), made.mutable_data());
    current = std::move(made);
    fold.x_type = fold.out_type;
    fold.x_copy = bytes;
  }
  call.result() = std::move(current);
  return absl::OkStatus();
}

}  // namespace toroid
