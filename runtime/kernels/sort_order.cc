#include "runtime/kernels/sort_order.h"

#include <cmath>
#include <string>

#include "hlo/ir/attribute_views.h"
#include "hlo/ir/native_types.h"

namespace toroid {
namespace {

// A value that one parameter alone determines.
struct Side {
  int64_t parameter = 0;
  SortKey::Part part = SortKey::Part::kWhole;
  bool one_zero = false, one_nan = false;

  bool SameKeyAs(const Side& other) const {
    return parameter / 2 == other.parameter / 2 && part == other.part && one_zero == other.one_zero &&
           one_nan == other.one_nan;
  }
};

bool IsCompare(const Instruction& x, const char* direction) {
  return x.opcode() == Opcode::kCompare && x.attrs().comparison_direction() == direction;
}

// The value of a real constant; nullopt for anything else.
std::optional<double> ConstantOf(const Instruction& x) {
  if (x.opcode() != Opcode::kConstant || !x.shape().IsArray() || x.shape().rank() != 0) return std::nullopt;
  const absl::StatusOr<Literal> literal = LiteralOf(x);
  if (!literal.ok()) return std::nullopt;
  return VisitArrayType(
      x.shape().element_type(),
      [&](auto tag) -> std::optional<double> {
        using T = typename decltype(tag)::type;
        if constexpr (kIsComplex<T>) {
          return std::nullopt;
        } else {
          return static_cast<double>(literal->data<T>()[0]);
        }
      },
      std::optional<double>());
}

bool IsPositiveZero(const Instruction& x) {
  const std::optional<double> value = ConstantOf(x);
  return value == 0.0 && !std::signbit(*value);
}

bool IsPositiveNan(const Instruction& x) {
  const std::optional<double> value = ConstantOf(x);
  return value.has_value() && std::isnan(*value) && !std::signbit(*value);
}

std::optional<Side> SideOf(const Instruction& x);

// select(condition, constant, x): x with all zeros, or all NaNs, as one value.
std::optional<Side> CanonicalSideOf(const Instruction& select) {
  const Instruction &condition = *select.operand(0), &constant = *select.operand(1);
  std::optional<Side> side = SideOf(*select.operand(2));
  if (!side.has_value() || condition.opcode() != Opcode::kCompare) return std::nullopt;
  const Instruction &a = *condition.operand(0), &b = *condition.operand(1);
  const std::optional<Side> asked = SideOf(a);
  // The condition may look at the value before it was changed: neither change makes a NaN or a zero of another value.
  if (!asked.has_value() || asked->parameter != side->parameter || asked->part != side->part)
    return std::nullopt;
  if (IsCompare(condition, "EQ") && IsPositiveZero(b) && IsPositiveZero(constant)) {
    side->one_zero = true;
    return side;
  }
  if (IsCompare(condition, "NE") && &a == &b && IsPositiveNan(constant)) {
    side->one_nan = true;
    return side;
  }
  return std::nullopt;
}

std::optional<Side> SideOf(const Instruction& x) {
  switch (x.opcode()) {
    case Opcode::kParameter:
      return Side{x.parameter_number()};
    case Opcode::kReal:
    case Opcode::kImag: {
      if (x.operand(0)->opcode() != Opcode::kParameter || !IsComplex(x.operand(0)->shape().element_type())) {
        return std::nullopt;
      }
      return Side{x.operand(0)->parameter_number(),
                  x.opcode() == Opcode::kReal ? SortKey::Part::kReal : SortKey::Part::kImag};
    }
    case Opcode::kSelect:
      return CanonicalSideOf(x);
    default:
      return std::nullopt;
  }
}

// The key of compare(f(a), f(b)), whatever the direction; `swapped`: b stands first.
std::optional<SortKey> ComparedKey(const Instruction& compare, bool* swapped) {
  const std::optional<Side> first = SideOf(*compare.operand(0)), second = SideOf(*compare.operand(1));
  if (!first.has_value() || !second.has_value() || !first->SameKeyAs(*second) ||
      first->parameter == second->parameter) {
    return std::nullopt;
  }
  const PrimitiveType type = compare.operand(0)->shape().element_type();
  if (IsComplex(type)) return std::nullopt;
  *swapped = first->parameter > second->parameter;
  SortKey key;
  key.operand = static_cast<int>(first->parameter / 2);
  key.part = first->part;
  key.one_zero = first->one_zero;
  key.one_nan = first->one_nan;
  key.total = compare.attrs().comparison_type() == "TOTALORDER";
  return key;
}

std::optional<SortKey> OrderedKey(const Instruction& compare) {
  const bool is_greater = IsCompare(compare, "GT");
  if (!is_greater && !IsCompare(compare, "LT")) return std::nullopt;
  bool swapped = false;
  std::optional<SortKey> key = ComparedKey(compare, &swapped);
  if (key.has_value()) key->descending = is_greater != swapped;
  return key;
}

// Whether `equal` says that both sides have the same value of the key.
bool IsEqualityOf(const Instruction& equal, const SortKey& key) {
  bool swapped = false;
  if (!IsCompare(equal, "EQ")) return false;
  const std::optional<SortKey> compared = ComparedKey(equal, &swapped);
  return compared.has_value() && compared->operand == key.operand && compared->part == key.part &&
         compared->one_zero == key.one_zero && compared->one_nan == key.one_nan &&
         compared->total == key.total;
}

// or(lt, and(eq, rest)), the operands of both in either order. Returns lt, and rest in `rest`; null if `x` is none.
const Instruction* FirstOfSeveral(const Instruction& x, const Instruction** rest) {
  if (x.opcode() != Opcode::kOr) return nullptr;
  for (int i = 0; i < 2; ++i) {
    const Instruction &less = *x.operand(i), &both = *x.operand(1 - i);
    const std::optional<SortKey> key = OrderedKey(less);
    if (!key.has_value() || both.opcode() != Opcode::kAnd) continue;
    for (int j = 0; j < 2; ++j) {
      if (!IsEqualityOf(*both.operand(j), *key)) continue;
      *rest = both.operand(1 - j);
      return &less;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<std::vector<SortKey>> SortKeysOf(const Computation& comparator) {
  std::vector<SortKey> keys;
  const Instruction* rest = comparator.root();
  while (true) {
    const Instruction* next = nullptr;
    const Instruction* less = FirstOfSeveral(*rest, &next);
    const std::optional<SortKey> key = OrderedKey(less == nullptr ? *rest : *less);
    if (!key.has_value()) return std::nullopt;
    keys.push_back(*key);
    if (less == nullptr) return keys;
    rest = next;
  }
}

}  // namespace toroid
