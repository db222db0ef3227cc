// The values of a dense<..> attribute.
//
//   dense<1.0>                one value for all elements
//   dense<[[1, 2], [3, 4]]>   row-major lists; floats also as bits (0x7FC00000), complex numbers as (re, im)
//   dense<"0x0000803F..">     the bytes of all elements, little-endian; booleans also eight in a byte
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/literal.h"

namespace toroid {

struct DenseValue {
  Literal literal;        // A scalar if it is a splat.
  bool is_splat = false;  // One value for all elements.
};

// `body`: what stands between < and >. Memory is proportional to the text.
// Errors: kInvalidArgument if the values do not fit the shape or its element type.
absl::StatusOr<DenseValue> ParseDense(absl::string_view body, const Shape& shape);

}  // namespace toroid
