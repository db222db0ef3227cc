#include "runtime/groups/view.h"

#include <cstdlib>

#include "hlo/ir/attribute_views.h"

namespace toroid {
namespace {

// Strides of the view by the dimensions of an array of `dims`; nullopt if neighbours along one of them are not at one distance.
std::optional<Dims> StridesBy(const View& view, absl::Span<const int64_t> dims) {
  Dims strides(dims.size(), 0);
  // From the innermost dimension outward: sizes of a run of new dimensions and of a run of old ones have one product.
  int n = static_cast<int>(dims.size()) - 1, o = static_cast<int>(view.dims.size()) - 1;
  while (n >= 0) {
    if (dims[n] == 1) {
      --n;
      continue;
    }
    while (o >= 0 && view.dims[o].size == 1) --o;
    if (o < 0) return std::nullopt;
    int64_t size = view.dims[o].size, stride = view.dims[o].stride;
    int64_t left = size;  // Of the old run, beyond the new dimensions that it has given.
    while (true) {
      if (n < 0 || left % dims[n] != 0) {
        // The old run must reach further out, and continue at the same distance.
        const int64_t outer_stride = size * stride;
        --o;
        while (o >= 0 && view.dims[o].size == 1) --o;
        if (n < 0 || o < 0 || view.dims[o].stride != outer_stride) return std::nullopt;
        size *= view.dims[o].size;
        left *= view.dims[o].size;
        continue;
      }
      strides[n] = stride * (size / left);
      left /= dims[n];
      --n;
      if (left == 1) break;
    }
    --o;
  }
  return strides;
}

View OfStrides(absl::Span<const int64_t> dims, absl::Span<const int64_t> strides, int64_t offset) {
  View view;
  view.offset = offset;
  for (size_t i = 0; i < dims.size(); ++i) view.dims.push_back({dims[i], strides[i]});
  view.Simplify();
  return view;
}

View OfIota(const Instruction& iota) {
  View view;
  const int64_t along = iota.attrs().dimensions(0);
  for (int i = 0; i < iota.shape().rank(); ++i)
    view.dims.push_back({iota.shape().dim(i), i == along ? 1 : 0});
  view.Simplify();
  return view;
}

}  // namespace

int64_t View::elements() const {
  int64_t n = 1;
  for (const Dim& dim : dims) n *= dim.size;
  return n;
}

bool View::IsOne() const {
  for (const Dim& dim : dims) {
    if (dim.size != 1 && dim.stride != 0) return false;
  }
  return true;
}

void View::Simplify() {
  absl::InlinedVector<Dim, 4> merged;
  for (const Dim& dim : dims) {
    if (dim.size == 1) continue;
    if (!merged.empty() && merged.back().stride == dim.size * dim.stride) {
      merged.back() = {merged.back().size * dim.size, dim.stride};
    } else {
      merged.push_back(dim);
    }
  }
  if (merged.empty()) merged.push_back({1, 1});
  dims = std::move(merged);
}

std::optional<View> ViewThrough(const Instruction& op, const View& operand) {
  const Shape& to = op.shape();
  if (to.NumElements() == 0 || operand.elements() == 0) return std::nullopt;
  if (op.opcode() == Opcode::kReshape) return operand;
  if (op.opcode() == Opcode::kIota) return to.rank() == 0 ? std::nullopt : std::make_optional(OfIota(op));
  if (op.opcode() != Opcode::kBroadcast && op.opcode() != Opcode::kSlice && op.opcode() != Opcode::kReverse &&
      op.opcode() != Opcode::kTranspose) {
    return std::nullopt;
  }
  const std::optional<Dims> from = StridesBy(operand, op.operand(0)->shape().dims());
  if (!from.has_value()) return std::nullopt;
  Dims strides(to.rank(), 0);
  int64_t offset = operand.offset;
  switch (op.opcode()) {
    case Opcode::kBroadcast:
      for (size_t i = 0; i < from->size(); ++i) strides[op.dimensions()[i]] = (*from)[i];
      break;
    case Opcode::kTranspose:
      for (int i = 0; i < to.rank(); ++i) strides[i] = (*from)[op.dimensions()[i]];
      break;
    case Opcode::kReverse:
      strides = *from;
      for (const int64_t d : op.dimensions()) {
        offset += (to.dim(d) - 1) * strides[d];
        strides[d] = -strides[d];
      }
      break;
    default: {
      const SliceView slice(op);
      for (int i = 0; i < to.rank(); ++i) {
        offset += slice[i].start * (*from)[i];
        // With one element the stride is not used and may have any value.
        strides[i] = to.dim(i) > 1 ? slice[i].stride * (*from)[i] : 0;
      }
    }
  }
  return OfStrides(to.dims(), strides, offset);
}

bool ReadsInLines(const View& view) {
  constexpr int64_t kShortestLine = 8, kLongestStep = 4;
  const View::Dim& inner = view.dims.back();
  return view.elements() <= kShortestLine ||
         (inner.size >= kShortestLine && std::abs(inner.stride) <= kLongestStep);
}

}  // namespace toroid
