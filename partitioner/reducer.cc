#include "partitioner/reducer.h"

#include <limits>

namespace toroid {
namespace {

std::optional<Reducer> ReducerOf(Opcode opcode, PrimitiveType type) {
  switch (opcode) {
    case Opcode::kAdd:
      return type == xla::PRED ? Reducer::kOr : Reducer::kAdd;
    case Opcode::kMultiply:
      return type == xla::PRED ? Reducer::kAnd : Reducer::kMultiply;
    case Opcode::kMaximum:
      return type == xla::PRED ? Reducer::kOr : Reducer::kMaximum;
    case Opcode::kMinimum:
      return type == xla::PRED ? Reducer::kAnd : Reducer::kMinimum;
    case Opcode::kAnd:
      return Reducer::kAnd;
    case Opcode::kOr:
      return Reducer::kOr;
    default:
      return std::nullopt;
  }
}

// Largest value of a type, infinity where there is one; negated for `lowest`.
template <typename T>
T Extreme(bool lowest) {
  if constexpr (IsSmallFloat<T>::value) {
    const T high = T::kHasInfinity ? T::Infinity() : T::MaxFinite();
    if (!lowest) return high;
    return T::kSignBits == 0 ? T::LowestFinite() : T::FromBits(static_cast<uint8_t>(high.bits | T::kSignMask));
  } else if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
    return T(lowest ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity());
  } else if constexpr (std::is_floating_point_v<T>) {
    return lowest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
  } else if constexpr (std::is_same_v<T, bool>) {
    return !lowest;
  } else if constexpr (std::is_integral_v<T>) {
    return lowest ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  } else {
    return T(0);
  }
}
template <int kBits, bool kSigned>
SmallInt<kBits, kSigned> ExtremeOf(TypeTag<SmallInt<kBits, kSigned>>, bool lowest) {
  if (kSigned) return SmallInt<kBits, kSigned>(lowest ? -(1 << (kBits - 1)) : (1 << (kBits - 1)) - 1);
  return SmallInt<kBits, kSigned>(lowest ? 0 : (1 << kBits) - 1);
}
template <typename T>
T ExtremeOf(TypeTag<T>, bool lowest) {
  return Extreme<T>(lowest);
}

template <typename T>
T FromInt(int value) {
  if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
    return T(static_cast<typename T::value_type>(value));
  } else {
    return T(value);
  }
}

}  // namespace

std::optional<Reducer> ClassifyReducer(const Computation& computation) {
  if (computation.num_parameters() != 2) return std::nullopt;
  const Instruction* root = computation.root();
  const auto is_annotation = [](const Instruction* i) {
    return i->opcode() == Opcode::kCopy ||
           (i->opcode() == Opcode::kCustomCall && i->custom_call_target() == "Sharding" && i->num_operands() == 1);
  };
  for (int steps = 0; is_annotation(root) && steps < 64; ++steps) root = root->operand(0);
  if (root->num_operands() != 2) return std::nullopt;
  const Instruction* a = root->operand(0);
  const Instruction* b = root->operand(1);
  const bool on_parameters =
      (a == computation.parameter(0) && b == computation.parameter(1)) ||
      (a == computation.parameter(1) && b == computation.parameter(0));
  if (!on_parameters || !root->shape().IsScalar() || a->shape().element_type() != root->shape().element_type()) {
    return std::nullopt;
  }
  return ReducerOf(root->opcode(), root->shape().element_type());
}

Opcode ReducerOpcode(Reducer reducer) {
  switch (reducer) {
    case Reducer::kAdd:
      return Opcode::kAdd;
    case Reducer::kMultiply:
      return Opcode::kMultiply;
    case Reducer::kMaximum:
      return Opcode::kMaximum;
    case Reducer::kMinimum:
      return Opcode::kMinimum;
    case Reducer::kAnd:
      return Opcode::kAnd;
    case Reducer::kOr:
      return Opcode::kOr;
  }
  return Opcode::kAdd;
}

Literal NeutralElement(Reducer reducer, PrimitiveType type) {
  return VisitArrayType(
      type,
      [&](auto tag) -> Literal {
        using T = typename decltype(tag)::type;
        switch (reducer) {
          case Reducer::kAdd:
          case Reducer::kOr:
            return Literal::Scalar<T>(FromInt<T>(0));
          case Reducer::kMultiply:
            return Literal::Scalar<T>(FromInt<T>(1));
          case Reducer::kAnd:
            if constexpr (std::is_same_v<T, bool>) return Literal::Scalar<T>(true);
            return Literal::Scalar<T>(FromInt<T>(-1));
          case Reducer::kMaximum:
            return Literal::Scalar<T>(ExtremeOf(tag, /*lowest=*/true));
          case Reducer::kMinimum:
            return Literal::Scalar<T>(ExtremeOf(tag, /*lowest=*/false));
        }
        return Literal::Scalar<T>(FromInt<T>(0));
      },
      Literal());
}

bool ReduceStaysPartial(const Instruction& reduce) {
  if (reduce.num_operands() != 2) return false;
  const std::optional<Reducer> reducer = ClassifyReducer(*reduce.called(0));
  const Instruction* init = reduce.operand(1);
  if (!reducer || init->opcode() != Opcode::kConstant || !init->shape().IsScalar()) return false;
  const absl::StatusOr<Literal> value = Literal::FromProto(init->attrs().literal());
  if (!value.ok()) return false;
  if (*value == NeutralElement(*reducer, init->shape().element_type())) return true;
  // -0 leaves sums unchanged too.
  return *reducer == Reducer::kAdd && VisitArrayType(
                                          init->shape().element_type(),
                                          [&](auto tag) -> bool {
                                            using T = typename decltype(tag)::type;
                                            return value->template data<T>()[0] == T(0);
                                          },
                                          false);
}

}  // namespace toroid
