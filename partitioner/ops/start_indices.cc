#include "partitioner/ops/start_indices.h"

#include "hlo/analysis/custom_call_targets.h"
#include "hlo/ir/attribute_views.h"

namespace toroid {
namespace {

bool Holds(PrimitiveType type, int64_t rows) {
  return type == xla::S32 || type == xla::U32 || type == xla::S64 || type == xla::U64 || rows <= INT8_MAX;
}

bool IsZero(const Instruction* value) {
  while (value->opcode() == Opcode::kBroadcast) value = value->operand(0);
  if (value->opcode() != Opcode::kConstant || !value->shape().IsScalar()) return false;
  const absl::StatusOr<Literal> literal = LiteralOf(*value);
  return literal.ok() && *literal == Literal(value->shape());
}

// The dimension of a reshape's result that dimension `dim` of its operand becomes, if sizes of 1 alone come and go.
std::optional<int> BehindReshape(const Shape& from, const Shape& to, int dim) {
  int to_dim = 0;
  for (int d = 0; d < from.rank(); ++d) {
    if (from.dim(d) == 1) continue;
    while (to_dim < to.rank() && to.dim(to_dim) == 1) ++to_dim;
    if (to_dim == to.rank() || to.dim(to_dim) != from.dim(d)) return std::nullopt;
    if (d == dim) return to_dim;
    ++to_dim;
  }
  return std::nullopt;
}

// The dimension along which `value` counts.
std::optional<int> Counts(const Instruction& value, int depth) {
  const auto behind = [&](int operand) {
    return depth == 0 ? std::nullopt : Counts(*value.operand(operand), depth - 1);
  };
  std::optional<int> dim;
  switch (value.opcode()) {
    case Opcode::kIota:
      return static_cast<int>(value.dimension());
    case Opcode::kCopy:
    case Opcode::kConvert:
      dim = behind(0);
      if (dim.has_value() && !Holds(value.shape().element_type(), value.shape().dim(*dim)))
        return std::nullopt;
      return dim;
    case Opcode::kCustomCall:
      return IsShardingAnnotation(value) ? behind(0) : std::nullopt;
    case Opcode::kBroadcast:
      dim = behind(0);
      if (dim.has_value()) dim = static_cast<int>(value.dimensions()[*dim]);
      return dim;
    case Opcode::kTranspose:
      dim = behind(0);
      if (dim.has_value()) dim = IndexOf(value.dimensions(), *dim);
      return dim;
    case Opcode::kReshape:
      dim = behind(0);
      if (dim.has_value()) dim = BehindReshape(value.operand(0)->shape(), value.shape(), *dim);
      return dim;
    case Opcode::kSelect: {
      // x < 0 ? x + n : x
      const Instruction& below = *value.operand(0);
      if (below.opcode() != Opcode::kCompare || below.attrs().comparison_direction() != "LT" ||
          !IsZero(below.operand(1)) || depth == 0) {
        return std::nullopt;
      }
      dim = behind(2);
      return dim.has_value() && Counts(*below.operand(0), depth - 1) == dim ? dim : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<int> CountedDim(const Instruction& indices, int vector_dim, int k, int64_t size) {
  const Instruction* component = &indices;
  while (vector_dim < component->shape().rank() && component->opcode() == Opcode::kConcatenate &&
         component->dimension() == vector_dim) {
    const Instruction* part = nullptr;
    for (const Instruction* operand : component->operands()) {
      part = operand;
      if (k < operand->shape().dim(vector_dim)) break;
      k -= static_cast<int>(operand->shape().dim(vector_dim));
    }
    component = part;
  }
  const Shape& shape = component->shape();
  if (vector_dim < shape.rank() && shape.dim(vector_dim) != 1) return std::nullopt;
  const std::optional<int> dim = Counts(*component, 16);
  if (!dim.has_value() || *dim == vector_dim || shape.dim(*dim) != size || size == 1 ||
      !Holds(shape.element_type(), size)) {
    return std::nullopt;
  }
  return dim;
}

Instruction* CountAgain(SpmdBuilder& b, Instruction* indices, int vector_dim, int k, int dim) {
  Dims dims(indices->shape().dims().begin(), indices->shape().dims().end());
  const bool scalar_indices = vector_dim == static_cast<int>(dims.size());
  if (!scalar_indices) dims[vector_dim] = 1;
  Instruction* rows = b.Iota(indices->shape().element_type(), dims, dim);
  return scalar_indices ? rows : ReplaceComponent(b, indices, vector_dim, k, rows);
}

Instruction* ToS64(SpmdBuilder& b, Instruction* index) {
  if (index->shape().element_type() == xla::U64) {
    Instruction* top = b.Broadcast(b.IntScalar(INT64_MAX, xla::U64), index->shape().dims());
    index = b.Binary(Opcode::kMinimum, index, top);
  }
  return b.Convert(index, xla::S64);
}

Instruction* ClampedStart(SpmdBuilder& b, Instruction* index, int64_t size, int64_t window) {
  Instruction* wide = ToS64(b, index);
  const auto dims = index->shape().dims();
  wide = b.Binary(Opcode::kMaximum, wide, b.Broadcast(b.IntScalar(0, xla::S64), dims));
  return b.Binary(Opcode::kMinimum, wide, b.Broadcast(b.IntScalar(size - window, xla::S64), dims));
}

Instruction* ReplaceComponent(SpmdBuilder& b, Instruction* indices, int vector_dim, int k,
                              Instruction* component) {
  const int64_t components = indices->shape().dim(vector_dim);
  std::vector<Instruction*> pieces;
  if (k > 0) pieces.push_back(b.SliceAlong(indices, vector_dim, 0, k));
  pieces.push_back(component);
  if (k + 1 < components) pieces.push_back(b.SliceAlong(indices, vector_dim, k + 1, components));
  return b.Concatenate(pieces, vector_dim);
}

int IndexOf(absl::Span<const int64_t> list, int64_t value) {
  for (int i = 0; i < static_cast<int>(list.size()); ++i) {
    if (list[i] == value) return i;
  }
  return -1;
}

}  // namespace toroid
