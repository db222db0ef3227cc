#include "hlo/ops/constraint.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "hlo/base/math.h"

namespace toroid {
namespace {

struct Extent {
  int64_t parts = 0;
  int64_t bytes = 0;
};

constexpr bool IsRoundingFamily(absl::string_view family) {
  for (const absl::string_view rounding : {"Unary",
                                           "Binary",
                                           "Select",
                                           "Clamp",
                                           "Broadcast",
                                           "Reshape",
                                           "Transpose",
                                           "Reverse",
                                           "Concatenate",
                                           "Slice",
                                           "Pad",
                                           "DynamicSlice",
                                           "DynamicUpdateSlice",
                                           "Gather",
                                           "Scatter",
                                           "Reduce",
                                           "ReduceWindow",
                                           "SelectAndScatter",
                                           "Map",
                                           "Sort",
                                           "BatchNormTraining",
                                           "BatchNormInference",
                                           "BatchNormGrad",
                                           "AllReduce",
                                           "ReduceScatter"}) {
    if (family == rounding) return true;
  }
  return false;
}

bool SameShapeUpToFloats(const Shape& a, const Shape& b) {
  if (!SameUpToFloats(a.element_type(), b.element_type()) || a.IsBuffer() != b.IsBuffer() || !a.SameDims(b) ||
      a.tuple_shapes().size() != b.tuple_shapes().size()) {
    return false;
  }
  for (size_t i = 0; i < a.tuple_shapes().size(); ++i) {
    if (!SameShapeUpToFloats(a.tuple_shapes()[i], b.tuple_shapes()[i])) return false;
  }
  return true;
}

absl::Status AddExtent(const Shape& shape, int depth, Extent* extent) {
  if (depth > Shape::kMaxDepth) {
    return Violates("A6", "the nesting of a tuple", absl::StrCat("more than ", Shape::kMaxDepth, " levels"),
                    absl::StrCat("at most ", Shape::kMaxDepth));
  }
  if (++extent->parts > kMaxTupleParts) {
    return Violates("A6", "the leaves and inner tuples of a tuple",
                    absl::StrCat("more than ", kMaxTupleParts), absl::StrCat("at most ", kMaxTupleParts));
  }
  if (shape.IsTuple()) {
    for (const Shape& element : shape.tuple_shapes()) RETURN_IF_ERROR(AddExtent(element, depth + 1, extent));
    return absl::OkStatus();
  }
  const std::optional<int64_t> bytes = CheckedAdd(extent->bytes, shape.ByteSize());
  if (!bytes) return Violates("A6", "the bytes of a tuple", "2^63 or more", "a number of 64 bits");
  extent->bytes = *bytes;
  return absl::OkStatus();
}

}  // namespace

int64_t NumParts(const Shape& shape) {
  int64_t parts = 1;
  for (const Shape& element : shape.tuple_shapes()) parts += NumParts(element);
  return parts;
}

absl::Status Violates(absl::string_view constraint, absl::string_view what, absl::string_view found,
                      absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, ": found ", found, ", expected ", expected, " (", constraint, ")"));
}

absl::StatusOr<Shape> GivenShape(const Instruction& instruction) {
  if (instruction.shape().element_type() == xla::PRIMITIVE_TYPE_INVALID) {
    return Violates("A4", absl::StrCat("the result of ", instruction.opcode_name()), "no shape",
                    "the shape, which does not follow from the operands and must be given");
  }
  return instruction.shape();
}

absl::Status CheckArrays(const Instruction& instruction, int first) {
  for (int i = first; i < instruction.num_operands(); ++i) {
    const Shape& shape = instruction.operand(i)->shape();
    if (!shape.IsArray()) return Violates("A3", absl::StrCat("operand ", i), shape.ToString(), "an array");
  }
  return absl::OkStatus();
}

absl::Status CheckOperandCount(const Instruction& instruction, int minimum) {
  if (instruction.num_operands() >= minimum) return absl::OkStatus();
  return Violates("A1", absl::StrCat("operands of ", instruction.opcode_name()),
                  absl::StrCat(instruction.num_operands()), absl::StrCat("at least ", minimum));
}

absl::Status CheckDimension(absl::string_view constraint, absl::string_view name, int64_t dimension,
                            int64_t rank) {
  if (dimension >= 0 && dimension < rank) return absl::OkStatus();
  return Violates(constraint, name, absl::StrCat(dimension),
                  absl::StrCat("one of the ", rank, " dimensions of an array of rank ", rank));
}

absl::Status CheckOneDimension(absl::string_view constraint, const Instruction& instruction, int64_t rank) {
  if (instruction.dimensions().size() != 1) {
    return Violates(constraint, "dimensions", ListOf(instruction.dimensions()), "exactly one");
  }
  return CheckDimension(constraint, "dimension", instruction.dimension(), rank);
}

absl::Status CheckDistinctDimensions(absl::string_view constraint, absl::string_view name,
                                     absl::Span<const int64_t> dimensions, int64_t rank) {
  uint64_t seen = 0;
  for (const int64_t d : dimensions) {
    RETURN_IF_ERROR(CheckDimension(constraint, name, d, rank));
    if ((seen >> d) & 1) return Violates(constraint, name, absl::StrCat(d, " twice"), "distinct ones");
    seen |= uint64_t{1} << d;
  }
  return absl::OkStatus();
}

absl::Status CheckSortedDimensions(absl::string_view constraint, absl::string_view name,
                                   absl::Span<const int64_t> dimensions, int64_t rank) {
  RETURN_IF_ERROR(CheckDistinctDimensions(constraint, name, dimensions, rank));
  if (std::is_sorted(dimensions.begin(), dimensions.end())) return absl::OkStatus();
  return Violates(constraint, name, ListOf(dimensions), "ascending ones");
}

bool SameShape(const Shape& a, const Shape& b) {
  if (a.element_type() != b.element_type() || a.IsBuffer() != b.IsBuffer() || !a.SameDims(b) ||
      a.tuple_shapes().size() != b.tuple_shapes().size()) {
    return false;
  }
  for (size_t i = 0; i < a.tuple_shapes().size(); ++i) {
    if (!SameShape(a.tuple_shapes()[i], b.tuple_shapes()[i])) return false;
  }
  return true;
}

absl::Status CheckShape(absl::string_view constraint, absl::string_view what, const Shape& found,
                        const Shape& expected) {
  if (SameShape(found, expected)) return absl::OkStatus();
  return Violates(constraint, what, found.ToString(), expected.ToString());
}

absl::Status CheckEqualSizes(absl::string_view constraint, const Instruction& instruction) {
  const Shape& first = instruction.operand(0)->shape();
  for (const Instruction* operand : instruction.operands()) {
    if (operand->shape().SameDims(first)) continue;
    return Violates(constraint, "operands",
                    absl::StrCat(first.ToString(), " and ", operand->shape().ToString()),
                    "equal sizes; broadcast one of them");
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> MakeArray(PrimitiveType type, absl::Span<const int64_t> dims) {
  if (dims.size() > Shape::kMaxRank) {
    return Violates("A6", "the rank of the result", absl::StrCat(dims.size()),
                    absl::StrCat("at most ", Shape::kMaxRank));
  }
  RETURN_IF_ERROR(CheckProduct("A6", "the bytes of the result", dims));
  return Shape(type, dims);
}

absl::Status CheckExtent(const Shape& shape) {
  if (shape.IsArray()) return absl::OkStatus();  // The bytes of an array were checked when it was made.
  Extent extent;
  return AddExtent(shape, 0, &extent);
}

absl::Status CheckProduct(absl::string_view constraint, absl::string_view what,
                          absl::Span<const int64_t> sizes) {
  int64_t bytes = 16;  // The widest element, as in Shape::FromProto.
  for (const int64_t size : sizes) {
    const std::optional<int64_t> product = CheckedMultiply(bytes, std::max<int64_t>(size, 1));
    if (size < 0 || !product) {
      return Violates(constraint, what, absl::StrCat("16 * ", absl::StrJoin(sizes, " * ")),
                      "a number of 64 bits");
    }
    bytes = *product;
  }
  return absl::OkStatus();
}

absl::Status CheckCallee(absl::string_view constraint, absl::string_view role, const Computation& callee,
                         absl::Span<const Shape> parameters, const Shape& result) {
  if (callee.num_parameters() != static_cast<int>(parameters.size())) {
    return Violates(constraint, absl::StrCat("parameters of ", role, " ", callee.name()),
                    absl::StrCat(callee.num_parameters()), absl::StrCat(parameters.size()));
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    RETURN_IF_ERROR(CheckShape(constraint, absl::StrCat("parameter ", i, " of ", role, " ", callee.name()),
                               callee.parameter(i)->shape(), parameters[i]));
  }
  return CheckShape(constraint, absl::StrCat("result of ", role, " ", callee.name()), callee.root()->shape(),
                    result);
}

bool SameUpToFloats(PrimitiveType a, PrimitiveType b) { return a == b || (IsFloat(a) && IsFloat(b)); }

PrimitiveType CommonFloat(PrimitiveType a, PrimitiveType b) {
  if (a == b) return a;
  if (BitWidth(a) != BitWidth(b)) return BitWidth(a) > BitWidth(b) ? a : b;
  return xla::F32;
}

absl::Status CheckShapeUpToFloats(absl::string_view constraint, absl::string_view what, const Shape& found,
                                  const Shape& expected) {
  if (SameShapeUpToFloats(found, expected)) return absl::OkStatus();
  return Violates(constraint, what, found.ToString(), expected.ToString());
}

bool MayRound(Opcode opcode) {
  static constexpr bool kRounds[] = {
#define HLO_OP(enumerator, name, arity, family, attributes, traits) IsRoundingFamily(#family),
#include "hlo/opcode.inc"
#undef HLO_OP
      false};
  if (opcode == Opcode::kCopy) return true;
  return opcode != Opcode::kStochasticConvert && kRounds[static_cast<int>(opcode)];
}

absl::Status CheckCalleeUpToFloats(absl::string_view constraint, absl::string_view role,
                                   const Computation& callee, absl::Span<const Shape> parameters,
                                   const Shape& result) {
  std::vector<Shape> own(parameters.begin(), parameters.end());
  for (int i = 0; i < std::min<int>(callee.num_parameters(), static_cast<int>(own.size())); ++i) {
    if (SameShapeUpToFloats(callee.parameter(i)->shape(), own[i])) own[i] = callee.parameter(i)->shape();
  }
  return CheckCallee(constraint, role, callee, own, result);
}

bool IsSimpleReducer(const Computation& reducer) {
  if (reducer.size() != 3 || reducer.num_parameters() != 2 || reducer.root()->num_operands() != 2)
    return false;
  switch (reducer.root()->opcode()) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return reducer.root()->operand(0)->opcode() == Opcode::kParameter &&
             reducer.root()->operand(1)->opcode() == Opcode::kParameter;
    default:
      return false;
  }
}

absl::Status CheckReducer(absl::string_view constraint, const Computation& reducer,
                          absl::Span<const PrimitiveType> types) {
  const int n = static_cast<int>(types.size());
  if (reducer.num_parameters() != 2 * n) {
    return Violates(constraint, absl::StrCat("parameters of reducer ", reducer.name()),
                    absl::StrCat(reducer.num_parameters()), absl::StrCat(2 * n));
  }
  std::vector<Shape> accumulators;
  for (const PrimitiveType type : types) accumulators.push_back(Shape(type, {}));
  for (int i = 0; i < 2 * n; ++i) {
    RETURN_IF_ERROR(CheckShapeUpToFloats(constraint,
                                         absl::StrCat("parameter ", i, " of reducer ", reducer.name()),
                                         reducer.parameter(i)->shape(), accumulators[i % n]));
  }
  return CheckShapeUpToFloats(constraint, absl::StrCat("result of reducer ", reducer.name()),
                              reducer.root()->shape(), n == 1 ? accumulators[0] : Shape::Tuple(accumulators));
}

std::vector<PrimitiveType> AccumulatorTypes(const Computation& reducer, int n) {
  std::vector<PrimitiveType> types;
  for (int i = 0; i < n; ++i) {
    const Shape& result = reducer.root()->shape();
    types.push_back(CommonFloat(CommonFloat(reducer.parameter(i)->shape().element_type(),
                                            reducer.parameter(n + i)->shape().element_type()),
                                (n == 1 ? result : result.tuple_shape(i)).element_type()));
  }
  return types;
}

std::string ListOf(absl::Span<const int64_t> values) {
  return absl::StrCat("{", absl::StrJoin(values, ","), "}");
}

}  // namespace toroid
