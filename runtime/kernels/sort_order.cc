#include "runtime/kernels/sort_order.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "hlo/ir/attribute_views.h"
#include "hlo/ir/native_types.h"

namespace toroid {
namespace {

constexpr int kMostNested =
    32;  // Values inside each other, and keys: what programs have, and no more than the stack takes.

// A value that one parameter alone determines.
struct Side {
  int64_t parameter = 0;
  SortKey::Part part = SortKey::Part::kWhole;
  bool one_zero = false, one_nan = false;
  bool negated = false;  // A float, negated: its order is reversed, the total order too.
  bool as_bits = false;  // A float as a signed integer in the total order.

  bool SameKeyAs(const Side& other) const {
    return parameter / 2 == other.parameter / 2 && part == other.part && one_zero == other.one_zero &&
           one_nan == other.one_nan && negated == other.negated && as_bits == other.as_bits;
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

std::optional<Side> SideOf(const Instruction& x, int nested);

// select(condition, constant, x): x with all zeros, or all NaNs, as one value.
std::optional<Side> CanonicalSideOf(const Instruction& select, int nested) {
  const Instruction &condition = *select.operand(0), &constant = *select.operand(1);
  std::optional<Side> side = SideOf(*select.operand(2), nested);
  if (!side.has_value() || side->negated || side->as_bits || condition.opcode() != Opcode::kCompare)
    return std::nullopt;
  const Instruction &a = *condition.operand(0), &b = *condition.operand(1);
  const std::optional<Side> asked = SideOf(a, nested);
  // The condition may look at the value before it was changed: neither change makes a NaN or a zero of another value.
  if (!asked.has_value() || asked->parameter != side->parameter || asked->part != side->part ||
      asked->negated || asked->as_bits) {
    return std::nullopt;
  }
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

// The float whose bits `x` has, as an integer; null if x is none.
const Instruction* FloatOfBits(const Instruction& x) {
  if (x.opcode() != Opcode::kBitcastConvert) return nullptr;
  const PrimitiveType from = x.operand(0)->shape().element_type(), to = x.shape().element_type();
  const bool fits = (from == xla::F16 || from == xla::BF16 || from == xla::F32 || from == xla::F64) &&
                    IsInt(to) && ByteWidth(from) == ByteWidth(to);
  return fits ? x.operand(0) : nullptr;
}

// The constant whose bits are all set but that of the sign.
bool IsLargestSigned(const Instruction& x) {
  if (x.opcode() != Opcode::kConstant || !x.shape().IsArray() || x.shape().rank() != 0) return false;
  const absl::StatusOr<Literal> literal = LiteralOf(x);
  if (!literal.ok() || !IsInt(x.shape().element_type())) return false;
  const int64_t width = ByteWidth(x.shape().element_type());
  uint64_t bits = 0;
  std::memcpy(&bits, literal->bytes(), width);
  return bits == (~uint64_t{0} >> (65 - 8 * width));
}

// What XLA makes of the total order of floats: bits, and for negative numbers `largest` minus the bits, or all bits but the
// sign's changed:
//   select(compare(bits, 0), direction=LT, bitcast-convert(subtract(largest, bits as unsigned)) or xor(bits, largest), bits)
std::optional<Side> BitsInOrder(const Instruction& select, int nested) {
  const Instruction &condition = *select.operand(0), &changed = *select.operand(1),
                    &bits = *select.operand(2);
  const Instruction* x = FloatOfBits(bits);
  if (x == nullptr || !IsSignedInt(bits.shape().element_type()) || !IsCompare(condition, "LT") ||
      FloatOfBits(*condition.operand(0)) != x || ConstantOf(*condition.operand(1)) != 0.0 ||
      !IsSignedInt(condition.operand(0)->shape().element_type())) {
    return std::nullopt;
  }
  bool matches = false;
  if (changed.opcode() == Opcode::kXor) {
    for (const int i : {0, 1})
      matches |= FloatOfBits(*changed.operand(i)) == x && IsLargestSigned(*changed.operand(1 - i));
  } else if (changed.opcode() == Opcode::kBitcastConvert &&
             changed.operand(0)->opcode() == Opcode::kSubtract) {
    const Instruction& difference = *changed.operand(0);
    matches = IsLargestSigned(*difference.operand(0)) && FloatOfBits(*difference.operand(1)) == x;
  }
  std::optional<Side> side = SideOf(*x, nested);
  if (!matches || !side.has_value() || side->as_bits) return std::nullopt;
  side->as_bits = true;
  return side;
}

// Whether conversion keeps all values apart and in order.
bool KeepsOrder(PrimitiveType from, PrimitiveType to) {
  if (IsInt(from) && IsInt(to)) {
    if (IsSignedInt(from) && !IsSignedInt(to)) return false;
    return BitWidth(to) > BitWidth(from) ||
           (BitWidth(to) == BitWidth(from) && IsSignedInt(from) == IsSignedInt(to));
  }
  return from == xla::BF16 && to == xla::F32;
}

std::optional<Side> SideOf(const Instruction& x, int nested) {
  if (nested > kMostNested) return std::nullopt;
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
    case Opcode::kSelect: {
      const std::optional<Side> bits = BitsInOrder(x, nested + 1);
      return bits.has_value() ? bits : CanonicalSideOf(x, nested + 1);
    }
    case Opcode::kNegate: {
      std::optional<Side> side = SideOf(*x.operand(0), nested + 1);
      if (!IsFloat(x.shape().element_type()) || !side.has_value()) return std::nullopt;
      side->negated = !side->negated;
      return side;
    }
    case Opcode::kConvert:
      if (!KeepsOrder(x.operand(0)->shape().element_type(), x.shape().element_type())) return std::nullopt;
      return SideOf(*x.operand(0), nested + 1);
    case Opcode::kCopy:
      return SideOf(*x.operand(0), nested + 1);
    default:
      return std::nullopt;
  }
}

// The key of compare(f(a), f(b)), whatever the direction; `swapped`: b stands first, or f reverses the order.
std::optional<SortKey> ComparedKey(const Instruction& compare, bool* swapped) {
  const std::optional<Side> first = SideOf(*compare.operand(0), 0), second = SideOf(*compare.operand(1), 0);
  if (!first.has_value() || !second.has_value() || !first->SameKeyAs(*second) ||
      first->parameter == second->parameter) {
    return std::nullopt;
  }
  const PrimitiveType type = compare.operand(0)->shape().element_type();
  if (IsComplex(type)) return std::nullopt;
  *swapped = (first->parameter > second->parameter) != first->negated;
  SortKey key;
  key.operand = static_cast<int>(first->parameter / 2);
  key.part = first->part;
  key.one_zero = first->one_zero;
  key.one_nan = first->one_nan;
  key.total = first->as_bits || compare.attrs().comparison_type() == "TOTALORDER";
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

// Whether `equal` says that both sides have the same value of the key ("EQ"), or that they have not ("NE").
bool IsEqualityOf(const Instruction& equal, const SortKey& key, const char* direction) {
  bool swapped = false;
  if (!IsCompare(equal, direction)) return false;
  const std::optional<SortKey> compared = ComparedKey(equal, &swapped);
  return compared.has_value() && compared->operand == key.operand && compared->part == key.part &&
         compared->one_zero == key.one_zero && compared->one_nan == key.one_nan &&
         compared->total == key.total;
}

// The keys of which each is equal on both sides if `x` is true; x is and(eq0, eq1), .. in any nesting. False if it says more.
bool EqualKeys(const Instruction& x, const std::vector<SortKey>& keys, std::vector<bool>* found, int nested) {
  if (nested > kMostNested) return false;
  if (x.opcode() == Opcode::kAnd) {
    return EqualKeys(*x.operand(0), keys, found, nested + 1) &&
           EqualKeys(*x.operand(1), keys, found, nested + 1);
  }
  for (size_t k = 0; k < keys.size(); ++k) {
    if (!IsEqualityOf(x, keys[k], "EQ")) continue;
    (*found)[k] = true;
    return true;
  }
  return false;
}

std::optional<std::vector<SortKey>> KeysOf(const Instruction& x, int nested);

// `first`, and then the keys of `rest`.
std::optional<std::vector<SortKey>> Followed(const SortKey& first, const Instruction& rest, int nested) {
  std::optional<std::vector<SortKey>> keys = KeysOf(rest, nested + 1);
  if (keys.has_value()) keys->insert(keys->begin(), first);
  return keys;
}

// or(lt, and(eq, rest)), the operands of both in either order.
std::optional<std::vector<SortKey>> KeysOfOr(const Instruction& x, int nested) {
  for (int i = 0; i < 2; ++i) {
    const Instruction &less = *x.operand(i), &both = *x.operand(1 - i);
    const std::optional<SortKey> key = OrderedKey(less);
    if (!key.has_value() || both.opcode() != Opcode::kAnd) continue;
    for (int j = 0; j < 2; ++j) {
      if (IsEqualityOf(*both.operand(j), *key, "EQ")) return Followed(*key, *both.operand(1 - j), nested);
    }
  }
  return std::nullopt;
}

// select(all keys of `rest` are equal, lt, rest), select(eq, rest, lt), or select(ne, lt, rest).
std::optional<std::vector<SortKey>> KeysOfSelect(const Instruction& x, int nested) {
  const Instruction &condition = *x.operand(0), &then = *x.operand(1), &otherwise = *x.operand(2);
  for (const bool unequal : {true, false}) {
    const std::optional<SortKey> key = OrderedKey(unequal ? then : otherwise);
    if (key.has_value() && IsEqualityOf(condition, *key, unequal ? "NE" : "EQ"))
      return Followed(*key, unequal ? otherwise : then, nested);
  }
  const std::optional<SortKey> last = OrderedKey(then);
  if (!last.has_value()) return std::nullopt;
  std::optional<std::vector<SortKey>> keys = KeysOf(otherwise, nested + 1);
  if (!keys.has_value()) return std::nullopt;
  std::vector<bool> found(keys->size(), false);
  if (!EqualKeys(condition, *keys, &found, 0) || std::find(found.begin(), found.end(), false) != found.end())
    return std::nullopt;
  keys->push_back(*last);
  return keys;
}

std::optional<std::vector<SortKey>> KeysOf(const Instruction& x, int nested) {
  if (nested > kMostNested) return std::nullopt;
  if (x.opcode() == Opcode::kCopy) return KeysOf(*x.operand(0), nested + 1);
  if (x.opcode() == Opcode::kOr) return KeysOfOr(x, nested);
  if (x.opcode() == Opcode::kSelect) return KeysOfSelect(x, nested);
  const std::optional<SortKey> key = OrderedKey(x);
  if (!key.has_value()) return std::nullopt;
  return std::vector<SortKey>{*key};
}

}  // namespace

std::optional<std::vector<SortKey>> SortKeysOf(const Computation& comparator) {
  return KeysOf(*comparator.root(), 0);
}

}  // namespace toroid
