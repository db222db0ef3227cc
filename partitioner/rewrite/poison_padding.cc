#include "partitioner/rewrite/poison_padding.h"

#include <limits>
#include <type_traits>

#include "hlo/devices/mesh.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/native_types.h"
#include "partitioner/spmd/spmd_builder.h"

namespace toroid {
namespace {

Literal Garbage(PrimitiveType type) {
  return VisitArrayType(
      type,
      [](auto tag) -> Literal {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_same_v<T, bool>) {
          return Literal::Scalar<T>(true);
        } else if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
          using R = typename T::value_type;
          return Literal::Scalar<T>(
              T(std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()));
        } else if constexpr (IsSmallFloat<T>::value) {
          return Literal::Scalar<T>(T::QuietNan());
        } else if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, half> ||
                             std::is_same_v<T, bfloat16>) {
          return Literal::Scalar<T>(T(std::numeric_limits<float>::quiet_NaN()));
        } else if constexpr (std::is_integral_v<T>) {
          return Literal::Scalar<T>(std::numeric_limits<T>::max());
        } else {
          return Literal::Scalar<T>(T(-1));
        }
      },
      Literal());
}

}  // namespace

Instruction* PoisonPadding(SpmdBuilder& b, Instruction* local, absl::Span<const int64_t> dims,
                           const Sharding& sharding) {
  Instruction* fill = nullptr;
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t tiles = b.mesh().Product(sharding.dims[d]);
    if (tiles == 1 || dims[d] % tiles == 0) continue;
    if (fill == nullptr) fill = b.Constant(Garbage(local->shape().element_type()));
    local = b.MaskPadding(local, static_cast<int>(d), dims[d], sharding.dims[d], fill);
  }
  return local;
}

}  // namespace toroid
