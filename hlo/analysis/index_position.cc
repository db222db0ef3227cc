#include "hlo/analysis/index_position.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "hlo/analysis/custom_call_targets.h"
#include "hlo/base/math.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/native_types.h"

namespace toroid {
namespace {

// Integers of larger size are unknown, so that sums do not overflow.
constexpr int64_t kLargest = int64_t{1} << 40;
// Constants of more elements are unknown.
constexpr int64_t kMostElements = int64_t{1} << 16;

// A known array of integers, possibly with the coordinate along one dimension fixed: each element is `add` plus its
// position along `dim`, which has `size` rows.
struct Known {
  int64_t add = 0;
  int dim = -1;  // -1: all are `add`.
  int64_t size = 1;

  int64_t low() const { return add; }
  int64_t high() const { return add + size - 1; }
  bool constant() const { return dim < 0; }
  bool operator==(const Known& other) const {
    return add == other.add && dim == other.dim && size == other.size;
  }
};
using Maybe = std::optional<Known>;

// The coordinate `at` along dimension `dim`; -1: none is fixed.
struct Fixed {
  int dim = -1;
  int64_t at = 0;
};

int IndexOf(absl::Span<const int64_t> list, int64_t value) {
  const auto it = std::find(list.begin(), list.end(), value);
  return it == list.end() ? -1 : static_cast<int>(it - list.begin());
}

bool Holds(PrimitiveType type, const Known& value) {
  int64_t low = 0, high = 0;
  switch (type) {
    case xla::PRED:
      high = 1;
      break;
    case xla::S8:
      low = INT8_MIN, high = INT8_MAX;
      break;
    case xla::U8:
      high = UINT8_MAX;
      break;
    case xla::S16:
      low = INT16_MIN, high = INT16_MAX;
      break;
    case xla::U16:
      high = UINT16_MAX;
      break;
    case xla::S32:
      low = INT32_MIN, high = INT32_MAX;
      break;
    case xla::U32:
      high = UINT32_MAX;
      break;
    case xla::S64:
    case xla::F64:
      low = -kLargest, high = kLargest;
      break;
    case xla::U64:
      high = kLargest;
      break;
    case xla::F32:
      low = -(1 << 24), high = 1 << 24;
      break;
    default:
      return false;
  }
  return low <= value.low() && value.high() <= high;
}

Maybe Constant(int64_t value) { return Known{value, -1, 1}; }

// The dimension of `to` that takes the place of dimension `dim` of `from` in a reshape: of the same size, with as many
// elements outside of it; -1: none.
int SameDim(const Shape& from, const Shape& to, int dim) {
  int64_t outside = 1, to_outside = 1;
  for (int d = 0; d < dim; ++d) outside *= from.dim(d);
  for (int d = 0; d < to.rank(); ++d) {
    if (to_outside == outside && to.dim(d) == from.dim(dim)) return d;
    to_outside *= to.dim(d);
  }
  return -1;
}

// The elements of an integer constant, row-major; nullopt if it is something else, or large.
std::optional<std::vector<int64_t>> ElementsOf(const Instruction& constant) {
  using Elements = std::optional<std::vector<int64_t>>;
  const Shape& shape = constant.shape();
  if (!shape.IsArray() || shape.NumElements() == 0 || shape.NumElements() > kMostElements)
    return std::nullopt;
  const absl::StatusOr<Literal> literal = LiteralOf(constant);
  if (!literal.ok() || !literal->shape().SameDims(shape)) return std::nullopt;
  return VisitArrayType(
      literal->shape().element_type(),
      [&](auto tag) -> Elements {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
          const absl::Span<const T> data = literal->template data<T>();
          return std::vector<int64_t>(data.begin(), data.end());
        } else {
          return std::nullopt;
        }
      },
      Elements());
}

Maybe OfConstant(const Instruction& constant, Fixed fixed) {
  const std::optional<std::vector<int64_t>> elements = ElementsOf(constant);
  if (!elements) return std::nullopt;
  const Shape& shape = constant.shape();
  const auto at = [&](int64_t i, int d) {  // The coordinate of element i along dimension d.
    for (int minor = shape.rank() - 1; minor > d; --minor) i /= shape.dim(minor);
    return i % shape.dim(d);
  };
  Known known;
  for (int d = -1; d < shape.rank(); ++d) {
    if (d >= 0 && (d == fixed.dim || shape.dim(d) == 1)) continue;
    known = {0, d, d < 0 ? 1 : shape.dim(d)};
    bool first = true, holds = true;
    for (int64_t i = 0; i < shape.NumElements() && holds; ++i) {
      if (fixed.dim >= 0 && at(i, fixed.dim) != fixed.at) continue;
      const int64_t value = (*elements)[i];
      if (value < -kLargest || value > kLargest) return std::nullopt;
      const int64_t rest = value - (d < 0 ? 0 : at(i, d));
      if (first) known.add = rest;
      holds = known.add == rest;
      first = false;
    }
    if (holds) return known;
  }
  return std::nullopt;
}

class Analysis {
 public:
  Maybe Of(const Instruction& value, Fixed fixed) {
    if (!value.shape().IsArray() || value.shape().IsDynamic() || depth_ == 0 || steps_ == 0)
      return std::nullopt;
    --depth_;
    --steps_;
    Maybe known = OfOp(value, fixed);
    ++depth_;
    if (known && !known->constant() && known->size == 1) known->dim = -1;
    if (known && !Holds(value.shape().element_type(), *known)) return std::nullopt;
    return known;
  }

 private:
  Maybe OfOp(const Instruction& value, Fixed fixed) {
    switch (value.opcode()) {
      case Opcode::kConstant:
        return OfConstant(value, fixed);
      case Opcode::kIota:
        return OfIota(value, fixed);
      case Opcode::kCopy:
      case Opcode::kConvert:
        return Of(*value.operand(0), fixed);
      case Opcode::kCustomCall:
        return IsShardingAnnotation(value) ? Of(*value.operand(0), fixed) : std::nullopt;
      case Opcode::kBroadcast:
      case Opcode::kTranspose:
      case Opcode::kReshape:
      case Opcode::kSlice:
      case Opcode::kConcatenate:
        return OfMovement(value, fixed);
      case Opcode::kSelect:
        return OfSelect(value, fixed);
      case Opcode::kClamp: {
        const Maybe low = Of(*value.operand(0), At(value, 0, fixed)),
                    high = Of(*value.operand(2), At(value, 2, fixed));
        const Maybe x = Of(*value.operand(1), fixed);
        return low && high && x && low->high() <= x->low() && x->high() <= high->low() ? x : std::nullopt;
      }
      case Opcode::kNot: {
        const Maybe x = Of(*value.operand(0), fixed);
        const bool known = x && x->constant() && value.shape().element_type() == xla::PRED;
        return known ? Constant(1 - x->add) : std::nullopt;
      }
      default:
        return value.num_operands() == 2 && value.shape().SameDims(value.operand(0)->shape())
                   ? OfBinary(value, Of(*value.operand(0), fixed), Of(*value.operand(1), fixed))
                   : std::nullopt;
    }
  }

  // The bounds of a clamp and the predicate of a select may be scalars.
  static Fixed At(const Instruction& value, int operand, Fixed fixed) {
    return value.operand(operand)->shape().IsScalar() ? Fixed{} : fixed;
  }

  static Maybe OfIota(const Instruction& iota, Fixed fixed) {
    const int dim = static_cast<int>(iota.dimension());
    if (dim == fixed.dim) return Constant(fixed.at);
    const int64_t size = iota.shape().dim(dim);
    if (size < 1 || size > kLargest) return std::nullopt;
    return Known{0, dim, size};
  }

  Maybe OfMovement(const Instruction& value, Fixed fixed) {
    if (value.shape().NumElements() == 0) return std::nullopt;
    const Shape& from = value.operand(0)->shape();
    const Shape& to = value.shape();
    switch (value.opcode()) {
      case Opcode::kBroadcast: {
        const Maybe known = Of(*value.operand(0), Fixed{IndexOf(value.dimensions(), fixed.dim), fixed.at});
        return Moved(known, [&](int dim) { return static_cast<int>(value.dimensions()[dim]); });
      }
      case Opcode::kTranspose: {
        const int fixed_dim = fixed.dim < 0 ? -1 : static_cast<int>(value.dimensions()[fixed.dim]);
        return Moved(Of(*value.operand(0), Fixed{fixed_dim, fixed.at}),
                     [&](int dim) { return IndexOf(value.dimensions(), dim); });
      }
      case Opcode::kReshape: {
        Fixed inner;
        if (fixed.dim >= 0 && to.dim(fixed.dim) != 1) {
          inner = {SameDim(to, from, fixed.dim), fixed.at};
          if (inner.dim < 0) return std::nullopt;
        }
        return Moved(Of(*value.operand(0), inner), [&](int dim) { return SameDim(from, to, dim); });
      }
      case Opcode::kSlice:
        return OfSlice(value, fixed);
      default:
        return OfConcatenate(value, fixed);
    }
  }

  template <typename NewDim>
  static Maybe Moved(Maybe known, NewDim new_dim) {
    if (!known || known->constant()) return known;
    known->dim = new_dim(known->dim);
    return known->dim < 0 ? std::nullopt : known;
  }

  Maybe OfSlice(const Instruction& slice, Fixed fixed) {
    const auto& dims = slice.attrs().slice_dimensions();
    if (fixed.dim >= 0) fixed.at = dims[fixed.dim].start() + fixed.at * dims[fixed.dim].stride();
    Maybe known = Of(*slice.operand(0), fixed);
    if (!known || known->constant()) return known;
    if (dims[known->dim].stride() != 1 && slice.shape().dim(known->dim) != 1) return std::nullopt;
    known->add += dims[known->dim].start();
    known->size = slice.shape().dim(known->dim);
    return known;
  }

  Maybe OfConcatenate(const Instruction& value, Fixed fixed) {
    const int along = static_cast<int>(value.dimension());
    if (along != fixed.dim) {
      Maybe all;
      for (const Instruction* operand : value.operands()) {
        if (operand->shape().dim(along) == 0) continue;
        const Maybe known = Of(*operand, fixed);
        if (!known || known->dim == along || (all && !(*all == *known))) return std::nullopt;
        all = known;
      }
      return all;
    }
    for (const Instruction* operand : value.operands()) {
      const int64_t size = operand->shape().dim(along);
      if (fixed.at < size) return Of(*operand, fixed);
      fixed.at -= size;
    }
    return std::nullopt;
  }

  Maybe OfSelect(const Instruction& select, Fixed fixed) {
    const Maybe chosen = Of(*select.operand(0), At(select, 0, fixed));
    if (chosen && chosen->constant()) return Of(*select.operand(chosen->add != 0 ? 1 : 2), fixed);
    const Maybe yes = Of(*select.operand(1), fixed);
    if (!yes) return std::nullopt;
    const Maybe no = Of(*select.operand(2), fixed);
    return no && *yes == *no ? yes : std::nullopt;
  }

  static Maybe OfBinary(const Instruction& value, const Maybe& a, const Maybe& b) {
    if (value.shape().element_type() == xla::PRED) {
      return value.opcode() == Opcode::kCompare ? OfCompare(value, a, b) : OfLogic(value.opcode(), a, b);
    }
    if (!a || !b) return std::nullopt;
    switch (value.opcode()) {
      case Opcode::kAdd:
        if (!a->constant() && !b->constant()) return std::nullopt;
        return a->constant() ? Known{a->add + b->add, b->dim, b->size}
                             : Known{a->add + b->add, a->dim, a->size};
      case Opcode::kSubtract:
        if (!b->constant()) return std::nullopt;
        return Known{a->add - b->add, a->dim, a->size};
      case Opcode::kMultiply: {
        if (b->constant() && b->add == 1) return a;
        if (a->constant() && a->add == 1) return b;
        if (!a->constant() || !b->constant()) return std::nullopt;
        const std::optional<int64_t> product = CheckedMultiply(a->add, b->add);
        return product ? Constant(*product) : std::nullopt;
      }
      case Opcode::kMaximum:
        return a->low() >= b->high() ? a : b->low() >= a->high() ? b : std::nullopt;
      case Opcode::kMinimum:
        return a->high() <= b->low() ? a : b->high() <= a->low() ? b : std::nullopt;
      case Opcode::kRemainder:
        return b->constant() && a->low() >= 0 && a->high() < b->add ? a : std::nullopt;
      default:
        return std::nullopt;
    }
  }

  static Maybe OfCompare(const Instruction& compare, const Maybe& a, const Maybe& b) {
    if (!a || !b) return std::nullopt;
    const absl::string_view direction = compare.attrs().comparison_direction();
    const auto known = [](bool yes, bool no) { return yes ? Constant(1) : no ? Constant(0) : std::nullopt; };
    const bool less = a->high()<b->low(), greater = a->low()> b->high();
    const bool at_most = a->high() <= b->low(), at_least = a->low() >= b->high();
    const bool equal = *a == *b;
    if (direction == "LT") return known(less, at_least || equal);
    if (direction == "LE") return known(at_most || equal, greater);
    if (direction == "GT") return known(greater, at_most || equal);
    if (direction == "GE") return known(at_least || equal, less);
    if (direction == "EQ") return known(equal, less || greater);
    if (direction == "NE") return known(less || greater, equal);
    return std::nullopt;
  }

  static Maybe OfLogic(Opcode opcode, const Maybe& a, const Maybe& b) {
    const auto is = [](const Maybe& x, int64_t value) { return x && x->constant() && x->add == value; };
    if (opcode == Opcode::kAnd) {
      if (is(a, 0) || is(b, 0)) return Constant(0);
      if (is(a, 1) && is(b, 1)) return Constant(1);
    }
    if (opcode == Opcode::kOr) {
      if (is(a, 1) || is(b, 1)) return Constant(1);
      if (is(a, 0) && is(b, 0)) return Constant(0);
    }
    return std::nullopt;
  }

  int depth_ = 64;
  int steps_ = 1000;
};

}  // namespace

std::optional<int> PositionDim(const Instruction& indices, int vector_dim, int k, int64_t size) {
  Fixed fixed;
  if (vector_dim < indices.shape().rank()) fixed = {vector_dim, k};
  const Maybe known = Analysis().Of(indices, fixed);
  const bool counts = known && known->add == 0 && known->dim >= 0 && known->size == size && size > 1;
  return counts ? std::optional<int>(known->dim) : std::nullopt;
}

}  // namespace toroid
