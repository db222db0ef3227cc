#include "runtime/loops/stochastic_convert.h"

#include <cmath>
#include <type_traits>

#include "hlo/ir/native_types.h"
#include "runtime/loops/convert_value.h"

namespace toroid {
namespace {

template <int kBytes>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using type = uint8_t;
};
template <>
struct UnsignedOf<2> {
  using type = uint16_t;
};
template <>
struct UnsignedOf<4> {
  using type = uint32_t;
};
template <>
struct UnsignedOf<8> {
  using type = uint64_t;
};

template <typename From, typename To>
To ConvertOne(From x, uint64_t random, int bits) {
  const double value = static_cast<double>(x);
  const double magnitude = std::fabs(value);
  double whole = std::trunc(magnitude);
  if (static_cast<double>(random) < std::ldexp(magnitude - whole, bits)) whole += 1;
  return ConvertValue<To>(std::signbit(value) ? -whole : whole);
}

template <typename From, typename To>
void Loop(const void* a, const void* b, void* out, int64_t n, Repeat repeat) {
  using Random = typename UnsignedOf<sizeof(From)>::type;
  const From* x = static_cast<const From*>(a);
  const Random* random = static_cast<const Random*>(b);
  // 4 for f4, which is stored in a byte.
  const int bits = static_cast<int>(BitWidth(PrimitiveTypeOf<From>::value));
  const From first = *x;
  const Random second = *random;
  for (int64_t i = 0; i < n; ++i) {
    static_cast<To*>(out)[i] = ConvertOne<From, To>(repeat == Repeat::kFirst ? first : x[i],
                                                    repeat == Repeat::kSecond ? second : random[i], bits);
  }
}

template <typename T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T> || std::is_same_v<T, half> ||
                                 std::is_same_v<T, bfloat16> || IsSmallFloat<T>::value;

}  // namespace

BinaryLoop FindStochasticConvertLoop(PrimitiveType from, PrimitiveType to) {
  if (!IsInt(to)) return nullptr;
  return VisitArrayType(
      from,
      [&](auto from_tag) -> BinaryLoop {
        using From = typename decltype(from_tag)::type;
        if constexpr (kIsFloat<From>) {
          switch (to) {
#define TOROID_CASE(enumerator, cpp) \
  case xla::enumerator:              \
    return Loop<From, cpp>;
            TOROID_FOR_EACH_INT_TYPE(TOROID_CASE)
#undef TOROID_CASE
            default:
              return nullptr;
          }
        } else {
          return nullptr;
        }
      },
      BinaryLoop{nullptr});
}

}  // namespace toroid
