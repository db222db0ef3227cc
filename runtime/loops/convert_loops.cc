// BUILD: per_level
#include "runtime/loops/convert_loops.h"

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

}  // namespace

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
