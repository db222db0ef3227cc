// What shape inference of all families shares: errors that name the violated constraint, and common checks.
//
// Every family numbers its constraints C1, C2, ... in its header. C0 holds for all: the number of operands
// and of called computations is what the opcode demands, and operands are arrays unless the family says
// otherwise.
#ifndef TOROID_HLO_OPS_CONSTRAINT_H_
#define TOROID_HLO_OPS_CONSTRAINT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/base/status.h"
#include "hlo/ir/module.h"
#include "hlo/ir/shape.h"

namespace toroid {

// kInvalidArgument "what (C3); fix".
absl::Status Violates(absl::string_view constraint, absl::string_view what, absl::string_view fix = "");

// The shape the instruction was given.
// Errors: C0 if it has none; families call this when the result does not follow from the operands.
absl::StatusOr<Shape> GivenShape(const Instruction& instruction);

// C0: operands [first, end) are arrays.
absl::Status CheckArrays(const Instruction& instruction, int first = 0);
// C0: at least `minimum` operands.
absl::Status CheckOperandCount(const Instruction& instruction, int minimum);

// 0 <= dimension < rank.
absl::Status CheckDimension(absl::string_view constraint, absl::string_view name, int64_t dimension,
                            int64_t rank);
// All in range and no two equal.
absl::Status CheckDistinctDimensions(absl::string_view constraint, absl::string_view name,
                                     absl::Span<const int64_t> dimensions, int64_t rank);
// As above, and ascending.
absl::Status CheckSortedDimensions(absl::string_view constraint, absl::string_view name,
                                   absl::Span<const int64_t> dimensions, int64_t rank);
// `operand` is a scalar of this type.
absl::Status CheckScalar(absl::string_view constraint, absl::string_view name, const Shape& shape,
                         PrimitiveType type);

// An array shape whose number of bytes fits 64 bits; C0 if it does not.
absl::StatusOr<Shape> MakeArray(PrimitiveType type, absl::Span<const int64_t> dims);

// Equal types and sizes throughout; layouts and dynamic flags may differ.
bool SameShape(const Shape& a, const Shape& b);

// The computation takes these parameters and gives this result.
absl::Status CheckCallee(absl::string_view constraint, absl::string_view role, const Computation& callee,
                         absl::Span<const Shape> parameters, const Shape& result);

// A reducer over `types` accumulators: scalars (acc_0.. acc_n-1, x_0.. x_n-1) -> acc, a tuple if n > 1.
absl::Status CheckReducer(absl::string_view constraint, const Computation& reducer,
                          absl::Span<const PrimitiveType> types);

// A list field as a span.
template <typename Repeated>
absl::Span<const int64_t> AsSpan(const Repeated& values) {
  return {values.data(), static_cast<size_t>(values.size())};
}

// True if `values` has `value`.
template <typename Values>
bool Contains(const Values& values, int64_t value) {
  for (const int64_t v : values) {
    if (v == value) return true;
  }
  return false;
}

}  // namespace toroid

#endif  // TOROID_HLO_OPS_CONSTRAINT_H_
