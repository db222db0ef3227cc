#include "hlo/ops/constraint.h"

#include <limits>
#include <optional>
#include <vector>

#include "absl/strings/str_join.h"
#include "hlo/base/math.h"

namespace toroid {

absl::Status Violates(absl::string_view constraint, absl::string_view what, absl::string_view fix) {
  return absl::InvalidArgumentError(absl::StrCat(what, " (", constraint, ")", fix.empty() ? "" : "; ", fix));
}

absl::StatusOr<Shape> GivenShape(const Instruction& instruction) {
  if (instruction.shape().element_type() == xla::PRIMITIVE_TYPE_INVALID) {
    return Violates("C0", absl::StrCat(instruction.opcode_name(), " has no result shape"),
                    "it does not follow from the operands and must be given");
  }
  return instruction.shape();
}

absl::Status CheckArrays(const Instruction& instruction, int first) {
  for (int i = first; i < instruction.num_operands(); ++i) {
    const Shape& shape = instruction.operand(i)->shape();
    if (!shape.IsArray())
      return Violates("C0", absl::StrCat("operand ", i, " is ", shape.ToString(), ", no array"));
  }
  return absl::OkStatus();
}

absl::Status CheckOperandCount(const Instruction& instruction, int minimum) {
  if (instruction.num_operands() >= minimum) return absl::OkStatus();
  return Violates("C0",
                  absl::StrCat(instruction.num_operands(), " operands, at least ", minimum, " are needed"));
}

absl::Status CheckDimension(absl::string_view constraint, absl::string_view name, int64_t dimension,
                            int64_t rank) {
  if (dimension >= 0 && dimension < rank) return absl::OkStatus();
  return Violates(constraint, absl::StrCat(name, " ", dimension, " is outside an array of rank ", rank));
}

absl::Status CheckDistinctDimensions(absl::string_view constraint, absl::string_view name,
                                     absl::Span<const int64_t> dimensions, int64_t rank) {
  uint64_t seen = 0;
  for (const int64_t d : dimensions) {
    RETURN_IF_ERROR(CheckDimension(constraint, name, d, rank));
    if ((seen >> d) & 1) return Violates(constraint, absl::StrCat(name, " ", d, " occurs twice"));
    seen |= uint64_t{1} << d;
  }
  return absl::OkStatus();
}

absl::Status CheckSortedDimensions(absl::string_view constraint, absl::string_view name,
                                   absl::Span<const int64_t> dimensions, int64_t rank) {
  RETURN_IF_ERROR(CheckDistinctDimensions(constraint, name, dimensions, rank));
  for (size_t i = 1; i < dimensions.size(); ++i) {
    if (dimensions[i] < dimensions[i - 1]) {
      return Violates(constraint,
                      absl::StrCat(name, " {", absl::StrJoin(dimensions, ","), "} is not ascending"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckScalar(absl::string_view constraint, absl::string_view name, const Shape& shape,
                         PrimitiveType type) {
  if (shape.IsScalar() && shape.element_type() == type) return absl::OkStatus();
  return Violates(constraint, absl::StrCat(name, " is ", shape.ToString(), ", not ", TypeName(type), "[]"));
}

absl::StatusOr<Shape> MakeArray(PrimitiveType type, absl::Span<const int64_t> dims) {
  if (dims.size() > Shape::kMaxRank) {
    return Violates("C0", absl::StrCat("the result has rank ", dims.size(), ", at most ", Shape::kMaxRank));
  }
  int64_t bytes = 16;  // As Shape::FromProto: no element is wider.
  for (const int64_t size : dims) {
    const std::optional<int64_t> product = CheckedMultiply(bytes, std::max<int64_t>(size, 1));
    if (size < 0 || !product) {
      return Violates("C0", absl::StrCat("the result [", absl::StrJoin(dims, ","), "] is no valid array"));
    }
    bytes = *product;
  }
  return Shape(type, dims);
}

bool SameShape(const Shape& a, const Shape& b) {
  if (a.element_type() != b.element_type() || !a.SameDims(b) ||
      a.tuple_shapes().size() != b.tuple_shapes().size()) {
    return false;
  }
  for (size_t i = 0; i < a.tuple_shapes().size(); ++i) {
    if (!SameShape(a.tuple_shapes()[i], b.tuple_shapes()[i])) return false;
  }
  return true;
}

absl::Status CheckCallee(absl::string_view constraint, absl::string_view role, const Computation& callee,
                         absl::Span<const Shape> parameters, const Shape& result) {
  if (callee.num_parameters() != static_cast<int>(parameters.size())) {
    return Violates(constraint, absl::StrCat(role, " ", callee.name(), " takes ", callee.num_parameters(),
                                             " parameters, not ", parameters.size()));
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Shape& found = callee.parameter(static_cast<int>(i))->shape();
    if (!SameShape(found, parameters[i])) {
      return Violates(constraint, absl::StrCat("parameter ", i, " of ", role, " ", callee.name(), " is ",
                                               found.ToString(), ", not ", parameters[i].ToString()));
    }
  }
  if (!SameShape(callee.root()->shape(), result)) {
    return Violates(constraint, absl::StrCat(role, " ", callee.name(), " gives ",
                                             callee.root()->shape().ToString(), ", not ", result.ToString()));
  }
  return absl::OkStatus();
}

absl::Status CheckReducer(absl::string_view constraint, const Computation& reducer,
                          absl::Span<const PrimitiveType> types) {
  std::vector<Shape> accumulators;
  for (const PrimitiveType type : types) accumulators.push_back(Shape(type, {}));
  std::vector<Shape> parameters = accumulators;
  parameters.insert(parameters.end(), accumulators.begin(), accumulators.end());
  const Shape result = accumulators.size() == 1 ? accumulators[0] : Shape::Tuple(accumulators);
  return CheckCallee(constraint, "reducer", reducer, parameters, result);
}

}  // namespace toroid
