// BUILD: copts = ["-O3"]
#include "runtime/loops/index_values.h"

#include <algorithm>
#include <limits>

#include "hlo/ir/native_types.h"
#include "runtime/loops/convert_value.h"

namespace toroid {

void ReadIndexValues(PrimitiveType type, const char* data, int64_t n, int64_t* values) {
  VisitArrayType(
      type,
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        const T* in = reinterpret_cast<const T*>(data);
        if constexpr (std::is_same_v<T, uint64_t>) {
          constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
          for (int64_t i = 0; i < n; ++i) values[i] = static_cast<int64_t>(std::min(in[i], kMax));
        } else {
          for (int64_t i = 0; i < n; ++i) values[i] = ConvertValue<int64_t>(in[i]);
        }
        return 0;
      },
      0);
}

int64_t IndexValue(PrimitiveType type, const char* data, int64_t i) {
  if (type == xla::S32) return reinterpret_cast<const int32_t*>(data)[i];
  int64_t value = 0;
  ReadIndexValues(type, data + i * ByteWidth(type), 1, &value);
  return value;
}

}  // namespace toroid
