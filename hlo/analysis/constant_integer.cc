#include "hlo/analysis/constant_integer.h"

#include <algorithm>
#include <type_traits>

#include "hlo/ir/attribute_views.h"
#include "hlo/ir/native_types.h"

namespace toroid {
namespace {

using Integers = std::optional<std::vector<int64_t>>;

constexpr int64_t kMostElements = 64;
constexpr int kMostSteps = 8;

Integers OfConstant(const Instruction& constant) {
  const absl::StatusOr<Literal> value = LiteralOf(constant);
  if (!value.ok() || !value->shape().IsArray() ||
      value->shape().NumElements() != constant.shape().NumElements()) {
    return std::nullopt;
  }
  return VisitArrayType(
      value->shape().element_type(),
      [&](auto tag) -> Integers {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
          std::vector<int64_t> integers;
          for (const T element : value->template data<T>()) {
            if (element > T(0) && static_cast<uint64_t>(element) > uint64_t{INT64_MAX}) return std::nullopt;
            integers.push_back(static_cast<int64_t>(element));
          }
          return integers;
        } else {
          return std::nullopt;
        }
      },
      Integers());
}

// The dimension that has more than one element; 0 if none has, -1 if several have.
int LongDim(const Shape& shape) {
  int found = 0;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape.dim(d) == 1) continue;
    if (shape.dim(found) != 1 && found != d) return -1;
    found = d;
  }
  return found;
}

Integers FindIntegers(const Instruction& value, int steps) {
  const Shape& shape = value.shape();
  if (!shape.IsArray() || shape.IsDynamic() || shape.NumElements() > kMostElements || steps == 0)
    return std::nullopt;
  switch (value.opcode()) {
    case Opcode::kConstant:
      return OfConstant(value);
    case Opcode::kReshape:
      return FindIntegers(*value.operand(0), steps - 1);
    case Opcode::kBroadcast: {
      const Integers one = FindIntegers(*value.operand(0), steps - 1);
      if (!one || one->size() != 1) return std::nullopt;
      return std::vector<int64_t>(shape.NumElements(), one->front());
    }
    case Opcode::kSlice: {
      const int d = LongDim(value.operand(0)->shape());
      const Integers all = d < 0 ? std::nullopt : FindIntegers(*value.operand(0), steps - 1);
      if (!all || shape.NumElements() == 0 || shape.rank() == 0) return std::nullopt;
      const SliceBounds bounds = SliceView(value)[d];
      std::vector<int64_t> some;
      for (int64_t i = bounds.start; i < bounds.limit; i += bounds.stride) some.push_back((*all)[i]);
      return some;
    }
    case Opcode::kConcatenate: {
      if (LongDim(shape) < 0) return std::nullopt;
      std::vector<int64_t> all;
      for (const Instruction* part : value.operands()) {
        const Integers integers = FindIntegers(*part, steps - 1);
        if (!integers) return std::nullopt;
        all.insert(all.end(), integers->begin(), integers->end());
      }
      return all;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<int64_t> IntegerOf(const Instruction& value) {
  if (!value.shape().IsArray() || value.shape().NumElements() != 1) return std::nullopt;
  const Integers integers = FindIntegers(value, kMostSteps);
  return integers && integers->size() == 1 ? std::optional<int64_t>(integers->front()) : std::nullopt;
}

std::optional<std::vector<int64_t>> IntegersOf(const Instruction& value) {
  return FindIntegers(value, kMostSteps);
}

std::optional<int64_t> ConstantStart(const Instruction& op, int d) {
  const bool updates = op.opcode() == Opcode::kDynamicUpdateSlice;
  const int first = updates ? 2 : 1;
  if (op.operand(first)->shape().rank() != 0) return std::nullopt;
  const std::optional<int64_t> start = IntegerOf(*op.operand(first + d));
  if (!start) return std::nullopt;
  const Shape& window = updates ? op.operand(1)->shape() : op.shape();
  return std::clamp<int64_t>(*start, 0, op.operand(0)->shape().dim(d) - window.dim(d));
}

}  // namespace toroid
