// BUILD: per_level
#include "runtime/loops/convert_loops.h"

#include <limits>

#include "hlo/ir/native_types.h"
#include "runtime/loops/convert_value.h"

namespace toroid::TOROID_LEVEL {
namespace {

template <typename From, typename To>
void Loop(const void* in, void* out, int64_t n) {
  const From* x = static_cast<const From*>(in);
  To* y = static_cast<To*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = ConvertValue<To, From>(x[i]);
}

template <typename T>
void Count(int64_t first, int64_t step, int64_t n, void* out) {
  T* y = static_cast<T*>(out);
  const auto write = [&](auto begin, auto by) {
    using Int = decltype(by);
    for (Int i = 0; i < static_cast<Int>(n); ++i) y[i] = ConvertValue<T>(static_cast<Int>(begin + i * by));
  };
  // 32 bits, if they suffice, make vectors of twice as many elements.
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const auto small = [](int64_t x) { return -kMost <= x && x <= kMost; };
  int64_t run, last;
  const bool fits = small(first) && small(step) && n <= kMost && !__builtin_mul_overflow(n, step, &run) &&
                    !__builtin_add_overflow(first, run, &last) && small(last) && small(run);
  fits ? write(static_cast<int32_t>(first), static_cast<int32_t>(step)) : write(first, step);
}

}  // namespace

CountLoop FindCountLoop(PrimitiveType type) {
  return VisitArrayType(
      type, [](auto tag) -> CountLoop { return Count<typename decltype(tag)::type>; }, CountLoop{nullptr});
}

ConvertLoop FindConvertLoop(PrimitiveType from, PrimitiveType to) {
  return VisitArrayType(
      from,
      [&](auto from_tag) -> ConvertLoop {
        using From = typename decltype(from_tag)::type;
        return VisitArrayType(
            to, [&](auto to_tag) -> ConvertLoop { return Loop<From, typename decltype(to_tag)::type>; },
            ConvertLoop{nullptr});
      },
      ConvertLoop{nullptr});
}

}  // namespace toroid::TOROID_LEVEL
