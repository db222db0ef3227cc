#include "hlo/analysis/constant_integer.h"

#include <type_traits>

#include "hlo/ir/attribute_views.h"
#include "hlo/ir/native_types.h"

namespace toroid {

std::optional<int64_t> IntegerOf(const Instruction& constant) {
  if (constant.opcode() != Opcode::kConstant || !constant.shape().IsArray() ||
      constant.shape().NumElements() != 1) {
    return std::nullopt;
  }
  const absl::StatusOr<Literal> value = LiteralOf(constant);
  if (!value.ok() || !value->shape().IsArray() || value->shape().NumElements() != 1) return std::nullopt;
  return VisitArrayType(
      value->shape().element_type(),
      [&](auto tag) -> std::optional<int64_t> {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
          const T element = value->template data<T>()[0];
          if (element > T(0) && static_cast<uint64_t>(element) > uint64_t{INT64_MAX}) return std::nullopt;
          return static_cast<int64_t>(element);
        } else {
          return std::nullopt;
        }
      },
      std::optional<int64_t>());
}

}  // namespace toroid
