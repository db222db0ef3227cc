#include "partitioner/ops/counted_dim.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "hlo/analysis/custom_call_targets.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/native_types.h"

namespace toroid {
namespace {

// Whether indices below `rows` are exact in the type.
bool Holds(PrimitiveType type, int64_t rows) {
  return type == xla::S32 || type == xla::U32 || type == xla::S64 || type == xla::U64 || rows <= INT8_MAX;
}

// The part of an array that lies at `index` along dimension `dim`; all of it where dim is -1.
struct Component {
  int dim = -1;
  int64_t index = 0;
};

// The dimension of `to` that dimension `dim` of `from` becomes, if only dimensions of size 1 come and go.
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

std::optional<int> PlaceIn(absl::Span<const int64_t> list, int64_t value) {
  const auto it = std::find(list.begin(), list.end(), value);
  if (it == list.end()) return std::nullopt;
  return static_cast<int>(it - list.begin());
}

// The component of the operand that a broadcast, transpose or reshape makes the component of its result; nullopt if it is
// no component.
std::optional<Component> OfOperand(const Instruction& value, Component component) {
  if (component.dim < 0) return component;
  switch (value.opcode()) {
    case Opcode::kBroadcast: {
      const std::optional<int> dim = PlaceIn(value.dimensions(), component.dim);
      return dim ? Component{*dim, component.index} : Component{};
    }
    case Opcode::kTranspose:
      return Component{static_cast<int>(value.dimensions()[component.dim]), component.index};
    case Opcode::kReshape: {
      if (value.shape().dim(component.dim) == 1) return Component{};
      const std::optional<int> dim = BehindReshape(value.shape(), value.operand(0)->shape(), component.dim);
      if (!dim) return std::nullopt;
      return Component{*dim, component.index};
    }
    default:
      return component;
  }
}

class Counter {
 public:
  // The dimension along which the component counts: its elements are their positions along it.
  std::optional<int> Counts(const Instruction& value, Component component) {
    if (--budget_ < 0) return std::nullopt;
    const std::optional<Component> of_operand = OfOperand(value, component);
    if (!of_operand) return std::nullopt;
    switch (value.opcode()) {
      case Opcode::kIota:
        if (value.dimension() == component.dim) return std::nullopt;
        return static_cast<int>(value.dimension());
      case Opcode::kCopy:
        return Counts(*value.operand(0), component);
      case Opcode::kConvert: {
        const std::optional<int> dim = Counts(*value.operand(0), component);
        return dim && Holds(value.shape().element_type(), value.shape().dim(*dim)) ? dim : std::nullopt;
      }
      case Opcode::kCustomCall:
        return IsShardingAnnotation(value) ? Counts(*value.operand(0), component) : std::nullopt;
      case Opcode::kBroadcast: {
        const std::optional<int> dim = Counts(*value.operand(0), *of_operand);
        if (!dim) return std::nullopt;
        return static_cast<int>(value.dimensions()[*dim]);
      }
      case Opcode::kTranspose: {
        const std::optional<int> dim = Counts(*value.operand(0), *of_operand);
        return dim ? PlaceIn(value.dimensions(), *dim) : std::nullopt;
      }
      case Opcode::kReshape: {
        const std::optional<int> dim = Counts(*value.operand(0), *of_operand);
        return dim ? BehindReshape(value.operand(0)->shape(), value.shape(), *dim) : std::nullopt;
      }
      case Opcode::kConcatenate:
        return OfPart(value, component);
      case Opcode::kSlice:
        return OfSlice(value, component);
      case Opcode::kSelect: {
        const std::optional<bool> taken = ComparedWithZero(*value.operand(0), component);
        return taken ? Counts(*value.operand(*taken ? 1 : 2), component) : std::nullopt;
      }
      case Opcode::kClamp: {
        const std::optional<int> dim = Counts(*value.operand(1), component);
        return dim && IsAtMost(*value.operand(0), component, 0) &&
                       IsAtLeast(*value.operand(2), component, value.shape().dim(*dim) - 1)
                   ? dim
                   : std::nullopt;
      }
      default:
        return OfBinary(value, component);
    }
  }

 private:
  std::optional<int> OfPart(const Instruction& value, Component component) {
    if (value.dimension() != component.dim) return std::nullopt;
    for (const Instruction* part : value.operands()) {
      const int64_t size = part->shape().dim(component.dim);
      if (component.index < size) return Counts(*part, component);
      component.index -= size;
    }
    return std::nullopt;
  }

  // Whole in all dimensions but that of the component.
  std::optional<int> OfSlice(const Instruction& value, Component component) {
    const Shape& from = value.operand(0)->shape();
    for (int d = 0; d < from.rank(); ++d) {
      const auto& range = value.attrs().slice_dimensions(d);
      if (d == component.dim) {
        component.index = range.start() + component.index * range.stride();
      } else if (value.shape().dim(d) != from.dim(d)) {
        return std::nullopt;
      }
    }
    return Counts(*value.operand(0), component);
  }

  // Ops of two operands that leave one as it is.
  std::optional<int> OfBinary(const Instruction& value, Component component) {
    if (value.num_operands() != 2) return std::nullopt;
    const Opcode opcode = value.opcode();
    const bool commutes = opcode == Opcode::kMaximum || opcode == Opcode::kMinimum ||
                          opcode == Opcode::kAdd || opcode == Opcode::kMultiply;
    if (!commutes && opcode != Opcode::kSubtract && opcode != Opcode::kRemainder) return std::nullopt;
    for (int counting = 0; counting < (commutes ? 2 : 1); ++counting) {
      const std::optional<int> dim = Counts(*value.operand(counting), component);
      if (!dim) continue;
      const Instruction& other = *value.operand(1 - counting);
      const int64_t rows = value.shape().dim(*dim);
      const std::optional<int64_t> constant = ConstantOf(other, component);
      if (!constant) return std::nullopt;
      const bool unchanged = opcode == Opcode::kMaximum     ? *constant <= 0
                             : opcode == Opcode::kMinimum   ? *constant >= rows - 1
                             : opcode == Opcode::kMultiply  ? *constant == 1
                             : opcode == Opcode::kRemainder ? *constant >= rows
                                                            : *constant == 0;
      return unchanged ? dim : std::nullopt;
    }
    return std::nullopt;
  }

  // The value of a comparison of positions with 0, which is the same for all elements: false for "below 0".
  std::optional<bool> ComparedWithZero(const Instruction& comparison, Component component) {
    if (comparison.opcode() != Opcode::kCompare) return std::nullopt;
    std::string direction = comparison.attrs().comparison_direction();
    const Instruction *counting = comparison.operand(0), *bound = comparison.operand(1);
    if (ConstantOf(*counting, component)) {
      std::swap(counting, bound);
      direction = Mirrored(direction);
    }
    if (ConstantOf(*bound, component) != 0 || !Counts(*counting, component)) return std::nullopt;
    if (direction == "LT") return false;
    if (direction == "GE") return true;
    return std::nullopt;
  }

  // a < b is b > a.
  static std::string Mirrored(const std::string& direction) {
    if (direction == "LT") return "GT";
    if (direction == "GT") return "LT";
    if (direction == "LE") return "GE";
    return direction == "GE" ? "LE" : direction;
  }

  bool IsAtMost(const Instruction& value, Component component, int64_t bound) {
    const std::optional<int64_t> constant = ConstantOf(value, component);
    return constant && *constant <= bound;
  }
  bool IsAtLeast(const Instruction& value, Component component, int64_t bound) {
    const std::optional<int64_t> constant = ConstantOf(value, component);
    return constant && *constant >= bound;
  }

  // The one integer that all elements of the component are.
  std::optional<int64_t> ConstantOf(const Instruction& value, Component component) {
    if (--budget_ < 0) return std::nullopt;
    switch (value.opcode()) {
      case Opcode::kCopy:
        return ConstantOf(*value.operand(0), component);
      case Opcode::kConvert: {
        const std::optional<int64_t> constant = ConstantOf(*value.operand(0), component);
        return constant && Holds(value.shape().element_type(), std::abs(*constant)) && *constant >= 0
                   ? constant
                   : std::nullopt;
      }
      case Opcode::kBroadcast:
      case Opcode::kTranspose:
      case Opcode::kReshape: {
        const std::optional<Component> of_operand = OfOperand(value, component);
        return of_operand ? ConstantOf(*value.operand(0), *of_operand) : std::nullopt;
      }
      case Opcode::kConstant:
        return OfLiteral(value, component);
      default:
        return std::nullopt;
    }
  }

  static std::optional<int64_t> OfLiteral(const Instruction& constant, Component component) {
    const Shape& shape = constant.shape();
    const bool is_component = component.dim >= 0 && shape.rank() == 1;
    if (!shape.IsScalar() && !is_component) return std::nullopt;
    const absl::StatusOr<Literal> literal = LiteralOf(constant);
    if (!literal.ok()) return std::nullopt;
    return VisitArrayType(
        shape.element_type(),
        [&](auto tag) -> std::optional<int64_t> {
          using T = typename decltype(tag)::type;
          if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
            const T value = literal->data<T>()[is_component ? component.index : 0];
            // Unsigned values beyond s64 are larger than any size.
            if constexpr (std::is_unsigned_v<T>) {
              return static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX));
            } else {
              return static_cast<int64_t>(value);
            }
          } else {
            return std::nullopt;
          }
        },
        std::optional<int64_t>());
  }

  int budget_ = 256;  // Instructions looked at.
};

}  // namespace

std::optional<int> CountedDim(const Instruction& indices, int vector_dim, int k, int64_t size) {
  const Shape& shape = indices.shape();
  Component component;
  if (vector_dim < shape.rank()) component = {vector_dim, k};
  const std::optional<int> dim = Counter().Counts(indices, component);
  if (!dim.has_value() || *dim == vector_dim || shape.dim(*dim) != size || size == 1 ||
      !Holds(shape.element_type(), size)) {
    return std::nullopt;
  }
  return dim;
}

}  // namespace toroid
