// Einstein's notation for products of two arrays.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/shape.h"
#include "hlo/proto/hlo.pb.h"

namespace toroid {

struct Einsum {
  xla::DotDimensionNumbers numbers;
  // The transpose from the dot's result to the equation's order.
  std::vector<int64_t> permutation;
};

// One letter per dimension: "GSM,ME->GSE". A letter in both operands is a batch dimension if the result has
// it, and is summed over otherwise; a letter in one operand must be in the result. Batch dimensions are in
// the order of the result, so that few einsums need a transpose.
// Errors: kInvalidArgument "einsum EQUATION: why".
absl::StatusOr<Einsum> ParseEinsum(absl::string_view equation, const Shape& lhs, const Shape& rhs);

}  // namespace toroid
