#include "runtime/moves/boxes.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "hlo/ir/attribute_views.h"

namespace toroid {
namespace {

// Padding beyond this has a kernel that counts with care.
constexpr int64_t kFar = int64_t{1} << 60;

bool IsStaticArray(const Shape& shape) { return shape.IsArray() && !shape.IsDynamic(); }

// Takes `count` elements of the box along dimension d, `step` apart from the one at `first` on.
void Cut(int d, int64_t first, int64_t count, int64_t step, Box& box) {
  box.from += first * box.strides[d];
  box.size[d] = count;
  box.strides[d] *= step;
}

// The part of the box that a slice takes, at its place in the slice; false if there is none.
bool Slice(const SliceView& slice, const Shape& to, Box& box) {
  for (int d = 0; d < to.rank(); ++d) {
    const int64_t start = slice[d].start, step = std::max<int64_t>(1, slice[d].stride);
    // Elements k of the slice lie at start + k * step.
    const int64_t ahead = box.start[d] - start;
    const int64_t first = ahead <= 0 ? 0 : (ahead - 1) / step + 1;
    const int64_t beyond = box.start[d] + box.size[d] - start;  // The first outside the box, from `start` on.
    if (beyond <= 0) return false;
    const int64_t end = std::min(to.dim(d), (beyond - 1) / step + 1);
    if (end <= first) return false;
    Cut(d, start + first * step - box.start[d], end - first, step, box);
    box.start[d] = first;
  }
  return true;
}

// The part of the box that a pad without padding between elements keeps, at its place; false if there is none.
bool Shift(const PadView& pad, const Shape& to, Box& box) {
  for (int d = 0; d < to.rank(); ++d) {
    const int64_t low = pad[d].low;
    if (low >= to.dim(d) || -low >= box.start[d] + box.size[d]) return false;
    const int64_t begin = box.start[d] + low;
    const int64_t first = std::max<int64_t>(0, begin), end = std::min(to.dim(d), begin + box.size[d]);
    if (end <= first) return false;
    Cut(d, first - begin, end - first, 1, box);
    box.start[d] = first;
  }
  return true;
}

// The padding: for each dimension in turn what lies before and after the operand, as wide as the operand in the
// dimensions before.
void AddPadding(const PadView& pad, const Shape& from, const Shape& to, const Box& value, Boxes& boxes) {
  Box box;
  box.slot = value.slot;
  box.from = value.from;
  box.start.assign(to.rank(), 0);
  box.size.assign(to.dims().begin(), to.dims().end());
  box.strides.assign(to.rank(), 0);
  for (int d = 0; d < to.rank(); ++d) {
    const int64_t size = to.dim(d);
    const int64_t begin = std::clamp<int64_t>(pad[d].low, 0, size);
    const int64_t end =
        pad[d].low <= -from.dim(d) ? begin : std::clamp<int64_t>(pad[d].low + from.dim(d), begin, size);
    const auto add = [&](int64_t first, int64_t after) {
      if (after <= first) return;
      Box edge = box;
      edge.start[d] = first;
      edge.size[d] = after - first;
      boxes.push_back(std::move(edge));
    };
    add(0, begin);
    add(end, size);
    if (end <= begin) return;
    box.start[d] = begin;
    box.size[d] = end - begin;
  }
}

// The box with its dimensions at new places: dimension i of the op's operand is dimension of[i] of the result.
Box Rearranged(const Box& box, absl::Span<const int64_t> of, const Shape& to) {
  Box result{box.slot, Dims(to.rank(), 0), Dims(to.dims().begin(), to.dims().end()), box.from,
             Dims(to.rank(), 0)};
  for (size_t i = 0; i < of.size(); ++i) {
    result.start[of[i]] = box.start[i];
    result.size[of[i]] = box.size[i];
    result.strides[of[i]] = box.strides[i];
  }
  return result;
}

// Where a transpose or broadcast puts the operand's dimensions.
Dims PlacesOf(const Instruction& op) {
  if (op.opcode() == Opcode::kBroadcast) return Dims(op.dimensions().begin(), op.dimensions().end());
  Dims places(op.shape().rank(), 0);
  for (int i = 0; i < op.shape().rank(); ++i) places[op.dimensions()[i]] = i;
  return places;
}

// The box by the dimensions of a reshape that only adds and drops dimensions of size 1.
Box Reshaped(const Box& box, const Shape& from, const Shape& to) {
  Box result{box.slot, Dims(to.rank(), 0), Dims(to.rank(), 1), box.from, Dims(to.rank(), 0)};
  int i = 0;
  for (int d = 0; d < to.rank(); ++d) {
    if (to.dim(d) == 1) continue;
    while (from.dim(i) == 1) ++i;
    result.start[d] = box.start[i];
    result.size[d] = box.size[i];
    result.strides[d] = box.strides[i];
    ++i;
  }
  return result;
}

Dims WithoutOnes(const Shape& shape) {
  Dims dims;
  for (const int64_t dim : shape.dims()) {
    if (dim != 1) dims.push_back(dim);
  }
  return dims;
}

}  // namespace

Boxes WholeArray(const Shape& shape, int slot) {
  if (shape.NumElements() == 0) return {};
  Box box{slot, Dims(shape.rank(), 0), Dims(shape.dims().begin(), shape.dims().end()), 0,
          Dims(shape.rank(), 1)};
  for (int d = shape.rank() - 2; d >= 0; --d) box.strides[d] = box.strides[d + 1] * shape.dim(d + 1);
  return {std::move(box)};
}

bool MovesBoxes(const Instruction& op) {
  if (!IsStaticArray(op.shape()) || op.shape().NumElements() == 0) return false;
  for (const Instruction* operand : op.operands()) {
    if (!IsStaticArray(operand->shape()) || operand->shape().element_type() != op.shape().element_type())
      return false;
  }
  switch (op.opcode()) {
    case Opcode::kSlice:
    case Opcode::kReverse:
    case Opcode::kTranspose:
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
      return true;
    case Opcode::kCopy:
      return op.shape().SameDims(op.operand(0)->shape());
    case Opcode::kReshape:
      return WithoutOnes(op.shape()) == WithoutOnes(op.operand(0)->shape());
    case Opcode::kPad: {
      const PadView pad(op);
      for (int d = 0; d < op.shape().rank(); ++d) {
        if (pad[d].interior != 0 || std::max(std::abs(pad[d].low), std::abs(pad[d].high)) > kFar)
          return false;
      }
      return true;
    }
    default:
      return false;
  }
}

std::optional<Boxes> BoxesThrough(const Instruction& op, absl::Span<const Boxes* const> operands,
                                  size_t most) {
  const Shape& to = op.shape();
  Boxes boxes;
  int64_t offset = 0;  // Of a concatenation's operand.
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape& from = op.operand(i)->shape();
    if (op.opcode() == Opcode::kPad && i == 1) {
      AddPadding(PadView(op), op.operand(0)->shape(), to, (*operands[1])[0], boxes);
      break;
    }
    for (Box box : *operands[i]) {
      switch (op.opcode()) {
        case Opcode::kSlice:
          if (!Slice(SliceView(op), to, box)) continue;
          break;
        case Opcode::kPad:
          if (!Shift(PadView(op), to, box)) continue;
          break;
        case Opcode::kConcatenate:
          box.start[op.dimension()] += offset;
          break;
        case Opcode::kReverse:
          for (const int64_t d : op.dimensions()) {
            box.from += (box.size[d] - 1) * box.strides[d];
            box.strides[d] = -box.strides[d];
            box.start[d] = to.dim(d) - box.start[d] - box.size[d];
          }
          break;
        case Opcode::kReshape:
          box = Reshaped(box, from, to);
          break;
        case Opcode::kBroadcast:
        case Opcode::kTranspose:
          box = Rearranged(box, PlacesOf(op), to);
          break;
        default:
          break;
      }
      boxes.push_back(std::move(box));
    }
    if (op.opcode() == Opcode::kConcatenate) offset += from.dim(op.dimension());
    if (boxes.size() > most) return std::nullopt;
  }
  if (boxes.size() > most) return std::nullopt;
  return boxes;
}

}  // namespace toroid
