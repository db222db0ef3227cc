// Einstein's notation for products of two arrays.
#ifndef TOROID_HLO_BUILDER_EINSUM_H_
#define TOROID_HLO_BUILDER_EINSUM_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/shape.h"
#include "hlo/proto/hlo.pb.h"

namespace toroid {

struct Einsum {
  xla::DotDimensionNumbers numbers;
  // The transpose that brings the dot's result into the order asked for.
  std::vector<int64_t> permutation;
};

// One letter per dimension: "GSM,ME->GSE". Letters in both operands are batch dimensions if the result has
// them, else summed over; letters of one operand must be in the result. Batch dimensions keep the order of
// the result, so that transposes stay rare.
// Errors: kInvalidArgument "einsum EQUATION: why".
absl::StatusOr<Einsum> ParseEinsum(absl::string_view equation, const Shape& lhs, const Shape& rhs);

}  // namespace toroid

#endif  // TOROID_HLO_BUILDER_EINSUM_H_
