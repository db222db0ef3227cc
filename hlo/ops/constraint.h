// What shape inference of all families shares: errors that name the violated constraint, and common
// checks.
//
// Every family numbers its constraints C1, C2, ... in its header, below the names of the ops they hold
// for; A1, A2, ... of infer_shape.h hold for every opcode, M1, M2, ... of verify_module.h for whole
// modules.
#ifndef TOROID_HLO_OPS_CONSTRAINT_H_
#define TOROID_HLO_OPS_CONSTRAINT_H_

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
// The instruction's `dimensions` are a single one, in range.
absl::Status CheckOneDimension(absl::string_view constraint, const Instruction& instruction, int64_t rank);
// All in range and no two equal.
absl::Status CheckDistinctDimensions(absl::string_view constraint, absl::string_view name,
                                     absl::Span<const int64_t> dimensions, int64_t rank);
// As above, and ascending.
absl::Status CheckSortedDimensions(absl::string_view constraint, absl::string_view name,
                                   absl::Span<const int64_t> dimensions, int64_t rank);

// Equal types and sizes throughout, buffers where the other has buffers; layouts and dynamic flags may
// differ.
bool SameShape(const Shape& a, const Shape& b);
// SameShape(found, expected).
absl::Status CheckShape(absl::string_view constraint, absl::string_view what, const Shape& found,
                        const Shape& expected);
// All operands have the sizes of the first.
absl::Status CheckEqualSizes(absl::string_view constraint, const Instruction& instruction);

// An array shape of at most Shape::kMaxRank dimensions whose number of bytes fits 64 bits; A6 if it does
// not.
absl::StatusOr<Shape> MakeArray(PrimitiveType type, absl::Span<const int64_t> dims);
// Leaves and inner tuples a tuple may have. Tuples of tuples double with every line; past any real
// program they only cost memory.
inline constexpr int64_t kMaxTupleParts = 1 << 16;
// Leaves and tuples in a shape, itself included.
int64_t NumParts(const Shape& shape);
// A6 holds of this shape: depth, parts and bytes of a tuple.
absl::Status CheckExtent(const Shape& shape);
// The product of these sizes and 16 fits 64 bits. `what` names it in the message.
absl::Status CheckProduct(absl::string_view constraint, absl::string_view what,
                          absl::Span<const int64_t> sizes);

// The computation takes these parameters and gives this result.
absl::Status CheckCallee(absl::string_view constraint, absl::string_view role, const Computation& callee,
                         absl::Span<const Shape> parameters, const Shape& result);

// Equal, or both floats: values of the one are rounded to the other, which compilers call mixed precision.
bool SameUpToFloats(PrimitiveType a, PrimitiveType b);
// The one float type that holds the values of both: the wider, f32 for different ones of one width.
PrimitiveType CommonFloat(PrimitiveType a, PrimitiveType b);
// SameShape, the types up to floats.
absl::Status CheckShapeUpToFloats(absl::string_view constraint, absl::string_view what, const Shape& found,
                                  const Shape& expected);
// Whether the result may be given in another float type than the one that follows: elementwise ops, copies,
// ops that move data, and reductions round then. Ops that hand values on (tuples, calls, loops, custom calls)
// do not.
bool MayRound(Opcode opcode);

// CheckCallee, the types of parameters up to floats.
absl::Status CheckCalleeUpToFloats(absl::string_view constraint, absl::string_view role,
                                   const Computation& callee, absl::Span<const Shape> parameters,
                                   const Shape& result);

// A reducer over `types` accumulators: scalars (acc_0.. acc_n-1, x_0.. x_n-1) -> acc, a tuple if n > 1; types
// up to floats.
absl::Status CheckReducer(absl::string_view constraint, const Computation& reducer,
                          absl::Span<const PrimitiveType> types);
// One addition, multiplication, maximum or minimum of the two parameters, whatever their type.
bool IsSimpleReducer(const Computation& reducer);
// The types in which such a reducer of n accumulators computes: for each the common float of what it takes
// and gives.
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

#endif  // TOROID_HLO_OPS_CONSTRAINT_H_
