// Which values constants of the program make infinite, NaN or zero.
//
// A partial sum may be multiplied term by term, (a + b) c = a c + b c, only while c is finite: if c is
// infinite and a and b have opposite signs, a c and b c are infinities of opposite signs and add up to NaN,
// but (a + b) c is infinite.
#include <cmath>

#include "hlo/ir/attribute_views.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/native_types.h"
#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

// The longest chain of ops that is searched for a constant, the constant included.
constexpr int kMaxDepth = 6;

enum class Property { kNonFinite, kZero };

template <typename T>
bool ElementHas(T value, Property property) {
  if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
    const bool real = ElementHas(value.real(), property), imaginary = ElementHas(value.imag(), property);
    return property == Property::kZero ? real && imaginary : real || imaginary;
  } else if constexpr (std::is_integral_v<T>) {
    return property == Property::kZero && value == 0;
  } else {
    const double wide = static_cast<double>(value);
    return property == Property::kZero ? wide == 0 : !std::isfinite(wide);
  }
}

bool ConstantHas(const Instruction& constant, Property property) {
  if (!constant.shape().IsArray()) return false;
  const absl::StatusOr<Literal> value = LiteralOf(constant);
  if (!value.ok()) return false;
  return VisitArrayType(
      value->shape().element_type(),
      [&](auto tag) -> bool {
        using T = typename decltype(tag)::type;
        for (const T element : value->data<T>()) {
          if (ElementHas(element, property)) return true;
        }
        return false;
      },
      false);
}

bool MayHave(const Instruction& value, Property property, int depth) {
  if (depth == 0) return false;
  int first = 0, last = value.num_operands();
  switch (value.opcode()) {
    case Opcode::kConstant:
      return ConstantHas(value, property);
    case Opcode::kCustomCall:
      if (value.custom_call_target() != "Sharding") return false;
      break;
    case Opcode::kBitcastConvert:
      return false;
    case Opcode::kConvert:
    case Opcode::kNegate:
    case Opcode::kAbs:
      break;
    case Opcode::kSelect:
      first = 1;
      break;
    case Opcode::kDynamicSlice:
    case Opcode::kGather:
      last = 1;
      break;
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      if (property == Property::kZero) return false;
      break;
    case Opcode::kDivide:
      if (property == Property::kZero) return false;
      if (MayHave(*value.operand(1), Property::kZero, depth - 1)) return true;
      last = 1;
      break;
    case Opcode::kRsqrt:
    case Opcode::kLog:
      return property == Property::kNonFinite && MayHave(*value.operand(0), Property::kZero, depth - 1);
    default:
      if (!HasTrait(value.opcode(), kDataMovement)) return false;
  }
  for (int i = first; i < last; ++i) {
    if (MayHave(*value.operand(i), property, depth - 1)) return true;
  }
  return false;
}

}  // namespace

bool IsVisiblyNonFinite(const Instruction& value) {
  return !IsInt(value.shape().element_type()) && MayHave(value, Property::kNonFinite, kMaxDepth);
}

bool IsVisiblyZero(const Instruction& value) { return MayHave(value, Property::kZero, kMaxDepth); }

void AddLinearityOfProduct(const Instruction& product, ShardingRule* rule) {
  if (!IsVisiblyNonFinite(*product.operand(1))) rule->linear.push_back({0b01});
  if (!IsVisiblyNonFinite(*product.operand(0))) rule->linear.push_back({0b10});
}

}  // namespace toroid
