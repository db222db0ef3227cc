#include "runtime/kernels/reduce_window.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "runtime/kernels/reduce_window_loop.h"
#include "runtime/kernels/reducer.h"
#include "runtime/kernels/window_padding.h"
#include "runtime/loops/binary_loops.h"
#include "runtime/loops/block_convert.h"
#include "runtime/loops/strided_copy.h"
#include "runtime/mesh/mesh_rows.h"
#include "runtime/plan/scalar_body.h"

namespace toroid {
namespace {

// The sizes of arrays [outer, length, inner]; windows go along `length`.
struct Line {
  int64_t outer, length, inner;
};

// Folds arrays by the body.
class Folder {
 public:
  Folder(OpCall& call, std::vector<int64_t> widths)
      : call_(call), arrays_(static_cast<int>(widths.size())), widths_(std::move(widths)) {}

  int arrays() const { return arrays_; }
  int64_t width(int i) const { return widths_[i]; }

  absl::Status NewArray(int i, int64_t elements, MeshBuffer* buffer) const {
    const std::optional<int64_t> bytes = CheckedMultiply(elements, widths_[i]);
    RETURN_IF_ERROR(call_.New(bytes.value_or(INT64_MAX), /*uniform=*/true, buffer));
    buffer->set_uniform(false);
    return absl::OkStatus();
  }

  // view[o, j, :] = x[o, first + j * step, :] for j < count.
  absl::Status Take(const std::vector<MeshBuffer>& x, const Line& line, int64_t first, int64_t step,
                    int64_t count, std::vector<MeshBuffer>* view) const {
    std::vector<MeshBuffer> taken(arrays_);
    for (int i = 0; i < arrays_; ++i) {
      const int64_t row = line.inner * widths_[i];
      RETURN_IF_ERROR(NewArray(i, line.outer * count * line.inner, &taken[i]));
      StridedLoop loop;
      loop.width = widths_[i];
      loop.Add(line.outer, line.length * row, count * row);
      loop.Add(count, count > 1 ? step * row : 0, row);
      loop.Add(line.inner, widths_[i], widths_[i]);
      ParallelStridedCopy(std::move(loop), x[i].data() + first * row, taken[i].mutable_data());
    }
    *view = std::move(taken);
    return absl::OkStatus();
  }

  // acc[o, j, :] = body(acc[o, j, :], x[o, first + j * step, :]) for j < count.
  absl::Status Fold(const std::vector<MeshBuffer>& x, const Line& line, int64_t first, int64_t step,
                    int64_t count, std::vector<MeshBuffer>* acc) const {
    std::vector<MeshBuffer> view;
    RETURN_IF_ERROR(Take(x, line, first, step, count, &view));
    return Combine(line.outer * count * line.inner, acc, &view);
  }

  // acc = body(acc, x) for arrays of n elements.
  absl::Status Combine(int64_t n, std::vector<MeshBuffer>* acc, std::vector<MeshBuffer>* x) const {
    if (n == 0) return absl::OkStatus();
    return CombineSlices(call_.called(0), absl::MakeSpan(*acc), absl::MakeSpan(*x), n, call_.mesh(), acc);
  }

 private:
  OpCall& call_;
  const int arrays_;
  const std::vector<int64_t> widths_;
};

// Folds `count` windows along one dimension, each of `size` elements `dilation` apart, starting every
// `stride`: replaces x by the folds.
absl::Status FoldWindows(const Folder& folder, const Line& line, int64_t size, int64_t dilation,
                         int64_t stride, int64_t count, std::vector<MeshBuffer>* x) {
  std::vector<MeshBuffer> acc;
  int log = 0;
  while ((int64_t{2} << log) <= size) ++log;
  if (size <= 4 || CheckedMultiply(size, count).value_or(INT64_MAX) <= 2 * log * line.length) {
    RETURN_IF_ERROR(folder.Take(*x, line, 0, stride, count, &acc));
    for (int64_t j = 1; j < size; ++j)
      RETURN_IF_ERROR(folder.Fold(*x, line, j * dilation, stride, count, &acc));
    *x = std::move(acc);
    return absl::OkStatus();
  }
  // power[i] is the fold of the 2^p elements from i on. A window is a sequence of such runs, one per bit of
  // its size, smallest first.
  std::vector<MeshBuffer> power = *x;
  Line at = line;
  int64_t covered = 0;  // Elements of each window that are folded into acc.
  for (int p = 0; p <= log; ++p) {
    const int64_t run = int64_t{1} << p;
    if (size & run) {
      if (acc.empty()) {
        RETURN_IF_ERROR(folder.Take(power, at, 0, stride, count, &acc));
      } else {
        RETURN_IF_ERROR(folder.Fold(power, at, covered * dilation, stride, count, &acc));
      }
      covered += run;
    }
    if (p == log) break;
    const int64_t length = at.length - run * dilation;  // Positions where a run of twice the length fits.
    std::vector<MeshBuffer> doubled;
    RETURN_IF_ERROR(folder.Take(power, at, 0, 1, length, &doubled));
    RETURN_IF_ERROR(folder.Fold(power, at, run * dilation, 1, length, &doubled));
    power = std::move(doubled);
    at.length = length;
  }
  *x = std::move(acc);
  return absl::OkStatus();
}

// The loop of a body of one op; null for other bodies.
BinaryLoop LoopOf(const Instruction& op) {
  const std::optional<SimpleBody> body = ClassifyBody(*op.called(0));
  if (op.num_operands() != 2 || op.shape().IsTuple() || !body.has_value() ||
      body->opcode == Opcode::kParameter)
    return nullptr;
  return FindBinaryLoop(body->opcode, ComputeType(op.operand(0)->shape().element_type()));
}

struct WindowCache : KernelCache {
  explicit WindowCache(const OpCall& call)
      : arrays(call.num_operands() / 2), loop(LoopOf(call.instruction())) {}
  int arrays;
  BinaryLoop loop;
};

// Element `row` of a scalar init.
const char* InitOf(const OpCall& call, int operand, int64_t row) {
  const PrimitiveType type = call.operand_shape(operand).element_type();
  return call.data(operand) + (call.uniform(operand) ? 0 : row * ByteWidth(type));
}

// Makes x[i] the padded operand i, with init in the padding.
absl::Status PadOperands(OpCall& call, const Folder& folder, int64_t rows, int64_t elements,
                         std::vector<MeshBuffer>* x) {
  const std::vector<WindowDim> window = WindowView(call.instruction()).dimensions();
  for (int i = 0; i < folder.arrays(); ++i) {
    const int64_t width = folder.width(i);
    const std::optional<int64_t> all = CheckedMultiply(rows, elements);
    RETURN_IF_ERROR(folder.NewArray(i, all.value_or(INT64_MAX), &(*x)[i]));
    for (int64_t row = 0; row < rows; ++row) {
      Fill((*x)[i].mutable_data() + row * elements * width, InitOf(call, folder.arrays() + i, row), width,
           elements);
    }
    PlaceInPadding(call.operand_shape(i), window, width, rows, call.uniform(i), call.data(i),
                   (*x)[i].mutable_data());
  }
  return absl::OkStatus();
}

}  // namespace

int64_t ReduceWindowScratchBytes(const Instruction& op, absl::Span<const int64_t> rows) {
  const int64_t most_rows = *std::max_element(rows.begin(), rows.end());
  if (LoopOf(op) != nullptr) return PassesBytes(op, most_rows);
  // The padded operands, the folds of the first dimension, and what is folded into them.
  const Shape& result = op.shape().IsTuple() ? op.shape().tuple_shape(0) : op.shape();
  const std::vector<WindowDim> window = WindowView(op).dimensions();
  const Dims dims = PaddedDims(op.operand(0)->shape(), window);
  int64_t bytes = 0;
  for (int i = 0; i < op.num_operands() / 2; ++i) {
    int64_t padded = SaturatingMultiply(most_rows, ByteWidth(op.operand(i)->shape().element_type())),
            folds = padded;
    bool first = true;
    for (int d = static_cast<int>(dims.size()) - 1; d >= 0; --d) {
      padded = SaturatingMultiply(padded, dims[d]);
      const bool folded = window[d].size != 1 || result.dim(d) != dims[d];
      folds = SaturatingMultiply(folds, first && folded ? result.dim(d) : dims[d]);
      if (folded) first = false;
    }
    bytes = SaturatingAdd(bytes, SaturatingAdd(padded, SaturatingMultiply(2, folds)));
  }
  return std::max<int64_t>(0, bytes - SaturatingMultiply(op.shape().ByteSize(), most_rows));
}

absl::Status ExecuteReduceWindow(OpCall& call) {
  const WindowCache& cache = call.Cache<WindowCache>();
  if (cache.loop != nullptr && call.result_elements() > 0 && InitIsIdempotent(call, cache.loop))
    return ReduceWindowByLoop(call, cache.loop);
  const std::vector<WindowDim> window = WindowView(call.instruction()).dimensions();
  const Shape& shape = call.operand_shape(0);
  const Shape& result_shape = call.shape().IsTuple() ? call.shape().tuple_shape(0) : call.shape();
  const bool uniform = call.AllUniform();
  const int64_t rows = uniform ? 1 : call.copies();
  std::vector<int64_t> widths;
  for (int i = 0; i < cache.arrays; ++i) widths.push_back(ByteWidth(call.operand_shape(i).element_type()));
  const Folder folder(call, widths);

  Dims dims = PaddedDims(shape, window);
  int64_t elements = 1;
  for (const int64_t size : dims) elements = CheckedMultiply(elements, size).value_or(INT64_MAX);
  const int64_t count = result_shape.NumElements();
  std::vector<MeshBuffer> x(cache.arrays), acc(cache.arrays);
  if (count > 0) RETURN_IF_ERROR(PadOperands(call, folder, rows, elements, &x));
  for (int d = shape.rank() - 1; d >= 0 && count > 0; --d) {
    const WindowDim& w = window[d];
    if (w.size == 1 && result_shape.dim(d) == dims[d]) continue;
    Line line{rows, dims[d], 1};
    for (int i = 0; i < d; ++i) line.outer *= dims[i];
    for (int i = d + 1; i < shape.rank(); ++i) line.inner *= dims[i];
    RETURN_IF_ERROR(FoldWindows(folder, line, w.size, w.window_dilation, w.stride, result_shape.dim(d), &x));
    dims[d] = result_shape.dim(d);
  }
  for (int i = 0; i < cache.arrays; ++i) {
    RETURN_IF_ERROR(folder.NewArray(i, rows * count, &acc[i]));
    for (int64_t row = 0; row < rows; ++row) {
      Fill(acc[i].mutable_data() + row * count * widths[i], InitOf(call, cache.arrays + i, row), widths[i],
           count);
    }
  }
  if (count > 0) RETURN_IF_ERROR(folder.Combine(rows * count, &acc, &x));
  for (MeshBuffer& buffer : acc) RETURN_IF_ERROR(MarkRows(uniform, &buffer));
  if (!call.shape().IsTuple()) {
    call.result() = std::move(acc[0]);
    return absl::OkStatus();
  }
  call.result() = MeshBuffer::Tuple(std::move(acc));
  return absl::OkStatus();
}

}  // namespace toroid
