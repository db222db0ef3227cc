// Index arithmetic of row-major arrays, for tests that follow a definition element by element.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/ir/literal.h"

namespace toroid {

using Index = std::vector<int64_t>;

// Number of elements of an array of these sizes.
inline int64_t Count(const Index& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// The row-major position of an element, and the index at a position.
inline int64_t Offset(const Index& dims, const Index& index) {
  int64_t at = 0;
  for (size_t d = 0; d < dims.size(); ++d) at = at * dims[d] + index[d];
  return at;
}
inline Index IndexOf(const Index& dims, int64_t at) {
  Index index(dims.size());
  for (int d = static_cast<int>(dims.size()) - 1; d >= 0; --d) {
    index[d] = at % dims[d];
    at /= dims[d];
  }
  return index;
}

// "{0,2}".
inline std::string Braces(const Index& values) { return absl::StrCat("{", absl::StrJoin(values, ","), "}"); }

inline bool Has(const Index& values, int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// first, first + 1, .. as s32.
inline Literal Numbered(const Index& dims, int first) {
  Literal x(Shape(xla::S32, dims));
  std::iota(x.mutable_data<int32_t>().begin(), x.mutable_data<int32_t>().end(), first);
  return x;
}

}  // namespace toroid
