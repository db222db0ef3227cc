// Shared by the shape inference of all families: errors that name the violated constraint, and common checks.
//
// Every family lists its constraints C1, C2, ... in its header, below the names of the ops they hold for. A1,
// A2, ... of infer_shape.h hold for every opcode, M1, M2, ... of verify_module.h for whole modules.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/base/status.h"
#include "hlo/ir/module.h"
#include "hlo/ir/shape.h"

namespace toroid {

// kInvalidArgument "WHAT: found FOUND, expected EXPECTED (C3)".
absl::Status Violates(absl::string_view constraint, absl::string_view what, absl::string_view found,
                      absl::string_view expected);

// The shape the instruction was given.
// Errors: A4 if it has none; families call this when the result does not follow from the operands.
absl::StatusOr<Shape> GivenShape(const Instruction& instruction);

// A3: operands [first, end) are arrays.
absl::Status CheckArrays(const Instruction& instruction, int first = 0);
// A1: at least `minimum` operands.
absl::Status CheckOperandCount(const Instruction& instruction, int minimum);

// 0 <= dimension < rank.
absl::Status CheckDimension(absl::string_view constraint, absl::string_view name, int64_t dimension,
                            int64_t rank);
// The instruction's `dimensions` has one entry, which is in range.
absl::Status CheckOneDimension(absl::string_view constraint, const Instruction& instruction, int64_t rank);
// All in range and no two equal.
absl::Status CheckDistinctDimensions(absl::string_view constraint, absl::string_view name,
                                     absl::Span<const int64_t> dimensions, int64_t rank);
// As above, and ascending.
absl::Status CheckSortedDimensions(absl::string_view constraint, absl::string_view name,
                                   absl::Span<const int64_t> dimensions, int64_t rank);

// True if types and sizes are equal throughout, and buffers correspond to buffers; layouts and dynamic flags
// may differ.
bool SameShape(const Shape& a, const Shape& b);
// SameShape(found, expected).
absl::Status CheckShape(absl::string_view constraint, absl::string_view what, const Shape& found,
                        const Shape& expected);
// All operands have the sizes of the first.
absl::Status CheckEqualSizes(absl::string_view constraint, const Instruction& instruction);

// An array shape. Errors: A6 for more than Shape::kMaxRank dimensions or a number of bytes beyond 64 bits.
absl::StatusOr<Shape> MakeArray(PrimitiveType type, absl::Span<const int64_t> dims);
// Most leaves and inner tuples of a tuple. Tuples of tuples can double with every instruction; no real
// program needs more, and they would exhaust memory.
inline constexpr int64_t kMaxTupleParts = 1 << 16;
// Leaves and tuples in a shape, itself included.
int64_t NumParts(const Shape& shape);
// Checks A6 for a shape: depth, parts and bytes of a tuple.
absl::Status CheckExtent(const Shape& shape);
// Checks that the product of these sizes and 16 fits 64 bits. `what` names the product in the message.
absl::Status CheckProduct(absl::string_view constraint, absl::string_view what,
                          absl::Span<const int64_t> sizes);

// Checks that the computation has these parameters and this result.
absl::Status CheckCallee(absl::string_view constraint, absl::string_view role, const Computation& callee,
                         absl::Span<const Shape> parameters, const Shape& result);

// True if the types are equal, or both are floats: values of one are then rounded to the other (mixed
// precision).
bool SameUpToFloats(PrimitiveType a, PrimitiveType b);
// The float type that holds the values of both: the wider one; f32 for two different types of one width.
PrimitiveType CommonFloat(PrimitiveType a, PrimitiveType b);
// SameShape(found, expected), but with SameUpToFloats types.
absl::Status CheckShapeUpToFloats(absl::string_view constraint, absl::string_view what, const Shape& found,
                                  const Shape& expected);
// True if the declared result may have another float type than the inferred one. Elementwise ops, copies, ops
// that move data, and reductions then round. Ops that hand values on (tuples, calls, loops, custom calls) may
// not.
bool MayRound(Opcode opcode);

// CheckCallee, but with parameter types up to floats.
absl::Status CheckCalleeUpToFloats(absl::string_view constraint, absl::string_view role,
                                   const Computation& callee, absl::Span<const Shape> parameters,
                                   const Shape& result);

// A reducer over `types` accumulators: scalars (acc_0.. acc_n-1, x_0.. x_n-1) -> acc, a tuple if n > 1; types
// up to floats.
absl::Status CheckReducer(absl::string_view constraint, const Computation& reducer,
                          absl::Span<const PrimitiveType> types);
// True for a single addition, multiplication, maximum or minimum of the two parameters, of any type.
bool IsSimpleReducer(const Computation& reducer);
// The types in which a reducer of n accumulators computes: for each, the common float of its parameter and
// result.
std::vector<PrimitiveType> AccumulatorTypes(const Computation& reducer, int n);

// "{0,2}".
std::string ListOf(absl::Span<const int64_t> values);

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
