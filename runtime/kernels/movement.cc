#include "runtime/kernels/movement.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "runtime/loops/strided_copy.h"

namespace toroid {
namespace {

// Larger padding has the same effect: no array is as large.
constexpr int64_t kFar = int64_t{1} << 61;

int64_t WidthOf(const Shape& shape) { return ByteWidth(shape.element_type()); }

// A loop whose outermost dimension is the rows, with the given row sizes in bytes.
StridedLoop LoopOverRows(const OpCall& call, int64_t rows, int64_t source_bytes, int64_t target_bytes) {
  StridedLoop loop;
  loop.width = WidthOf(call.shape());
  loop.Add(rows, source_bytes, target_bytes);
  return loop;
}

// A dimension of a padded array: `inside` elements of the operand after `low` of padding.
struct Border {
  int64_t size, low, inside;
};

// Fills what lies outside the operand. Each element of the innermost of `borders` is `inner` elements of memory.
void FillBorders(absl::Span<const Border> borders, int64_t inner, const char* value, int64_t width,
                 char* out) {
  int64_t step = inner;  // Elements of memory per index of the first dimension.
  for (size_t i = 1; i < borders.size(); ++i) step *= borders[i].size;
  const Border& border = borders[0];
  if (border.low > 0) Fill(out, value, width, border.low * step);
  const int64_t after = border.low + border.inside;
  if (after < border.size) Fill(out + after * step * width, value, width, (border.size - after) * step);
  if (borders.size() == 1) return;
  for (int64_t i = border.low; i < after; ++i) {
    FillBorders(borders.subspan(1), inner, value, width, out + i * step * width);
  }
}

// The dimensions of a padded array; nullopt if the operand is not one block inside the result.
std::optional<absl::InlinedVector<Border, 6>> BordersOf(const PadView& pad, const Shape& from,
                                                        const Shape& to) {
  absl::InlinedVector<Border, 6> borders;
  for (int i = 0; i < to.rank(); ++i) {
    const EdgePadding padding = pad[i];
    if (padding.interior != 0 || padding.low < 0 || padding.high < 0 || from.dim(i) == 0) return std::nullopt;
    borders.push_back({to.dim(i), padding.low, from.dim(i)});
  }
  return borders;
}

// Whether dimensions of more than one element keep their order.
bool KeepsOrder(const Shape& from, absl::Span<const int64_t> permutation) {
  int64_t last = -1;
  for (const int64_t d : permutation) {
    if (from.dim(d) == 1) continue;
    if (d < last) return false;
    last = d;
  }
  return true;
}

}  // namespace

bool HandsOnOperand(const Instruction& instruction) {
  const Shape& from = instruction.operand(0)->shape();
  switch (instruction.opcode()) {
    case Opcode::kBroadcast:
      // Only unit dimensions are added: the bytes stay, unless dimensions change order.
      return from.NumElements() == instruction.shape().NumElements() &&
             std::is_sorted(instruction.dimensions().begin(), instruction.dimensions().end());
    case Opcode::kTranspose:
      return KeepsOrder(from, instruction.dimensions());
    case Opcode::kConcatenate:
      return instruction.num_operands() == 1;
    case Opcode::kSlice:
      return from.SameDims(instruction.shape());
    default:
      return false;
  }
}

absl::Status ExecuteIdentity(OpCall& call) {
  call.result() = call.TakeOperand(0);
  return absl::OkStatus();
}

absl::Status ExecuteReshape(OpCall& call) { return ExecuteIdentity(call); }

absl::Status ExecuteBroadcast(OpCall& call) {
  const Shape& from = call.operand_shape(0);
  const Shape& to = call.shape();
  if (HandsOnOperand(call.instruction())) return ExecuteIdentity(call);
  const bool uniform = call.uniform(0);
  RETURN_IF_ERROR(call.NewResult(uniform));
  const int64_t rows = call.rows(0), width = WidthOf(to);
  const Dims from_strides = RowMajorStrides(from.dims(), width),
             to_strides = RowMajorStrides(to.dims(), width);
  StridedLoop loop = LoopOverRows(call, rows, from.NumElements() * width, call.result_bytes());
  Dims source(to.rank(), 0);
  for (int i = 0; i < from.rank(); ++i) source[call.instruction().dimensions()[i]] = from_strides[i];
  for (int i = 0; i < to.rank(); ++i) loop.Add(to.dim(i), source[i], to_strides[i]);
  ParallelStridedCopy(std::move(loop), call.data(0), call.result().mutable_data());
  return absl::OkStatus();
}

absl::Status ExecuteTranspose(OpCall& call) {
  const Shape& from = call.operand_shape(0);
  const Shape& to = call.shape();
  const auto permutation = call.instruction().dimensions();
  if (HandsOnOperand(call.instruction())) return ExecuteIdentity(call);
  RETURN_IF_ERROR(call.NewResult(call.uniform(0)));
  const int64_t width = WidthOf(to);
  const Dims from_strides = RowMajorStrides(from.dims(), width),
             to_strides = RowMajorStrides(to.dims(), width);
  StridedLoop loop = LoopOverRows(call, call.rows(0), call.result_bytes(), call.result_bytes());
  for (int i = 0; i < to.rank(); ++i) loop.Add(to.dim(i), from_strides[permutation[i]], to_strides[i]);
  ParallelStridedCopy(std::move(loop), call.data(0), call.result().mutable_data());
  return absl::OkStatus();
}

absl::Status ExecuteReverse(OpCall& call) {
  const Shape& shape = call.shape();
  const int64_t width = WidthOf(shape);
  RETURN_IF_ERROR(call.NewResult(call.uniform(0)));
  if (call.result_elements() == 0) return absl::OkStatus();
  const Dims strides = RowMajorStrides(shape.dims(), width);
  Dims source = strides;
  int64_t offset = 0;
  for (const int64_t d : call.instruction().dimensions()) {
    source[d] = -strides[d];
    offset += strides[d] * (shape.dim(d) - 1);
  }
  StridedLoop loop = LoopOverRows(call, call.rows(0), call.result_bytes(), call.result_bytes());
  for (int i = 0; i < shape.rank(); ++i) loop.Add(shape.dim(i), source[i], strides[i]);
  ParallelStridedCopy(std::move(loop), call.data(0) + offset, call.result().mutable_data());
  return absl::OkStatus();
}

absl::Status ExecuteConcatenate(OpCall& call) {
  if (HandsOnOperand(call.instruction())) return ExecuteIdentity(call);
  const Shape& to = call.shape();
  const int64_t d = call.instruction().dimension();
  const bool uniform = call.AllUniform();
  RETURN_IF_ERROR(call.NewResult(uniform));
  const int64_t rows = uniform ? 1 : call.copies(), width = WidthOf(to);
  int64_t inner = width, outer = 1;  // Bytes after dimension d, elements before it.
  for (int i = d + 1; i < to.rank(); ++i) inner *= to.dim(i);
  for (int i = 0; i < d; ++i) outer *= to.dim(i);
  int64_t offset = 0;
  for (int i = 0; i < call.num_operands(); ++i) {
    const int64_t bytes = inner * call.operand_shape(i).dim(d);
    StridedLoop loop = LoopOverRows(call, rows, call.uniform(i) ? 0 : outer * bytes, call.result_bytes());
    loop.Add(outer, bytes, inner * to.dim(d));
    loop.Add(bytes / width, width, width);
    ParallelStridedCopy(std::move(loop), call.data(i), call.result().mutable_data() + offset);
    offset += bytes;
  }
  return absl::OkStatus();
}

absl::Status ExecuteSlice(OpCall& call) {
  const Shape& from = call.operand_shape(0);
  const Shape& to = call.shape();
  if (HandsOnOperand(call.instruction())) return ExecuteIdentity(call);
  RETURN_IF_ERROR(call.NewResult(call.uniform(0)));
  if (call.result_elements() == 0) return absl::OkStatus();
  const int64_t width = WidthOf(to);
  const Dims from_strides = RowMajorStrides(from.dims(), width),
             to_strides = RowMajorStrides(to.dims(), width);
  StridedLoop loop = LoopOverRows(call, call.rows(0), from.NumElements() * width, call.result_bytes());
  const SliceView slice(call.instruction());
  int64_t offset = 0;
  for (int i = 0; i < to.rank(); ++i) {
    const SliceBounds bounds = slice[i];
    offset += bounds.start * from_strides[i];
    // With one element the stride is not used and may have any value.
    loop.Add(to.dim(i), to.dim(i) > 1 ? bounds.stride * from_strides[i] : 0, to_strides[i]);
  }
  ParallelStridedCopy(std::move(loop), call.data(0) + offset, call.result().mutable_data());
  return absl::OkStatus();
}

absl::Status ExecutePad(OpCall& call) {
  const Shape& from = call.operand_shape(0);
  const Shape& to = call.shape();
  const bool uniform = call.AllUniform();
  const int64_t rows = uniform ? 1 : call.copies(), width = WidthOf(to);
  RETURN_IF_ERROR(call.NewResult(uniform));
  char* out = call.result().mutable_data();
  const PadView pad(call.instruction());
  if (auto borders = BordersOf(pad, from, to); borders.has_value() && !borders->empty()) {
    int64_t inner = 1;  // Dimensions without padding at the end are one block.
    while (borders->size() > 1 && borders->back().size == borders->back().inside) {
      inner *= borders->back().size;
      borders->pop_back();
    }
    for (int64_t row = 0; row < rows; ++row) {
      FillBorders(*borders, inner, call.data(1) + (call.uniform(1) ? 0 : row * width), width,
                  out + row * call.result_bytes());
    }
  } else if (call.uniform(1)) {
    Fill(out, call.data(1), width, rows * call.result_elements());
  } else {
    for (int64_t row = 0; row < rows; ++row) {
      Fill(out + row * call.result_bytes(), call.data(1) + row * width, width, call.result_elements());
    }
  }
  const Dims from_strides = RowMajorStrides(from.dims(), width),
             to_strides = RowMajorStrides(to.dims(), width);
  StridedLoop loop =
      LoopOverRows(call, rows, call.uniform(0) ? 0 : from.NumElements() * width, call.result_bytes());
  int64_t source = 0, target = 0;
  for (int i = 0; i < to.rank(); ++i) {
    const EdgePadding padding = pad[i];
    const int64_t low = std::clamp(padding.low, -kFar, kFar);
    if (from.dim(i) == 0) return absl::OkStatus();
    // Element k goes to low + k * step; the elements inside [0, size) are k in [first, end).
    const int64_t step = std::min(padding.interior, kFar) + 1;
    const int64_t first = low >= 0 ? 0 : CeilOfSignedRatio(-low, step);
    const int64_t room = to.dim(i) - low;  // low <= size, or no element is inside.
    if (low >= to.dim(i) && low >= 0) return absl::OkStatus();
    const int64_t end = std::min(from.dim(i), (room - 1) / step + 1);
    if (end <= first) return absl::OkStatus();
    source += first * from_strides[i];
    target += (low + first * step) * to_strides[i];
    loop.Add(end - first, from_strides[i], end - first > 1 ? step * to_strides[i] : 0);
  }
  ParallelStridedCopy(std::move(loop), call.data(0) + source, out + target);
  return absl::OkStatus();
}

}  // namespace toroid
