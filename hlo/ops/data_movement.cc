#include "hlo/ops/data_movement.h"

#include <optional>

#include "absl/strings/str_join.h"
#include "hlo/base/math.h"
#include "hlo/ops/constraint.h"

namespace toroid {

absl::StatusOr<Shape> InferBroadcastShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  const absl::Span<const int64_t> dimensions = instruction.dimensions();
  if (static_cast<int>(dimensions.size()) != operand.rank()) {
    return Violates("C1", absl::StrCat(dimensions.size(), " dimensions for operand ", operand.ToString()),
                    "name one result dimension per operand dimension");
  }
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  RETURN_IF_ERROR(CheckDistinctDimensions("C1", "dimension", dimensions, given.rank()));
  for (int i = 0; i < operand.rank(); ++i) {
    if (given.dim(static_cast<int>(dimensions[i])) != operand.dim(i)) {
      return Violates("C2", absl::StrCat("operand dimension ", i, " of size ", operand.dim(i),
                                         " becomes dimension ", dimensions[i], " of ", given.ToString()));
    }
  }
  if (!given.IsArray()) return Violates("C2", absl::StrCat("a result ", given.ToString()));
  return MakeArray(operand.element_type(), given.dims());
}

absl::StatusOr<Shape> InferReshapeShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  if (!given.IsArray() || given.NumElements() != operand.NumElements()) {
    return Violates("C1", absl::StrCat(operand.ToString(), " does not reshape to ", given.ToString()),
                    "keep the number of elements");
  }
  return MakeArray(operand.element_type(), given.dims());
}

absl::StatusOr<Shape> InferBitcastShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  const auto bits = [](const Shape& s) {
    return CheckedMultiply(s.NumElements(), BitWidth(s.element_type()));
  };
  if (!given.IsArray() || !bits(given) || bits(given) != bits(operand)) {
    return Violates("C1",
                    absl::StrCat(operand.ToString(), " and ", given.ToString(), " differ in their bytes"));
  }
  return given.WithRowMajorLayout();
}

absl::StatusOr<Shape> InferTransposeShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  const absl::Span<const int64_t> permutation = instruction.dimensions();
  RETURN_IF_ERROR(CheckDistinctDimensions("C1", "dimension", permutation, operand.rank()));
  if (static_cast<int>(permutation.size()) != operand.rank()) {
    return Violates("C1", absl::StrCat("{", absl::StrJoin(permutation, ","),
                                       "} is no permutation of the dimensions of ", operand.ToString()));
  }
  Dims dims;
  for (const int64_t d : permutation) dims.push_back(operand.dim(static_cast<int>(d)));
  return Shape(operand.element_type(), dims);
}

absl::StatusOr<Shape> InferReverseShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  RETURN_IF_ERROR(CheckDistinctDimensions("C1", "dimension", instruction.dimensions(), operand.rank()));
  return operand.WithRowMajorLayout();
}

absl::StatusOr<Shape> InferConcatenateShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 1));
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& first = instruction.operand(0)->shape();
  if (instruction.dimensions().size() != 1) return Violates("C1", "not exactly one dimension");
  const int64_t dimension = instruction.dimension();
  RETURN_IF_ERROR(CheckDimension("C1", "dimension", dimension, first.rank()));
  Dims dims(first.dims().begin(), first.dims().end());
  for (int i = 1; i < instruction.num_operands(); ++i) {
    const Shape& other = instruction.operand(i)->shape();
    bool fits = other.rank() == first.rank() && other.element_type() == first.element_type();
    for (int d = 0; fits && d < first.rank(); ++d) fits = d == dimension || other.dim(d) == first.dim(d);
    const std::optional<int64_t> sum =
        fits ? CheckedAdd(dims[dimension], other.dim(static_cast<int>(dimension))) : std::nullopt;
    if (!sum) {
      return Violates("C2",
                      absl::StrCat("operand ", i, " is ", other.ToString(), " beside ", first.ToString()));
    }
    dims[dimension] = *sum;
  }
  return MakeArray(first.element_type(), dims);
}

absl::StatusOr<Shape> InferSliceShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  const auto& slices = instruction.attrs().slice_dimensions();
  if (slices.size() != operand.rank()) {
    return Violates("C1", absl::StrCat(slices.size(), " slice entries for ", operand.ToString()));
  }
  Dims dims;
  for (int i = 0; i < slices.size(); ++i) {
    const auto& slice = slices[i];
    if (slice.start() < 0 || slice.start() > slice.limit() || slice.limit() > operand.dim(i)) {
      return Violates("C2", absl::StrCat("slice [", slice.start(), ":", slice.limit(), "] of dimension ", i,
                                         " of size ", operand.dim(i)));
    }
    if (slice.stride() < 1) {
      return Violates("C3", absl::StrCat("slice stride ", slice.stride(), " in dimension ", i),
                      "use 1 or more");
    }
    const int64_t extent = slice.limit() - slice.start();
    dims.push_back(extent / slice.stride() + (extent % slice.stride() != 0));
  }
  return Shape(operand.element_type(), dims);
}

absl::StatusOr<Shape> InferPadShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  const auto& padding = instruction.attrs().padding_config().dimensions();
  if (padding.size() != operand.rank()) {
    return Violates("C1", absl::StrCat(padding.size(), " padding entries for ", operand.ToString()));
  }
  RETURN_IF_ERROR(
      CheckScalar("C2", "the padding value", instruction.operand(1)->shape(), operand.element_type()));
  Dims dims;
  for (int i = 0; i < padding.size(); ++i) {
    const auto& p = padding[i];
    if (p.interior_padding() < 0) {
      return Violates("C3", absl::StrCat("interior padding ", p.interior_padding(), " is negative"),
                      "use 0 or more");
    }
    const int64_t n = operand.dim(i);
    std::optional<int64_t> size = CheckedMultiply(std::max<int64_t>(n - 1, 0), p.interior_padding());
    for (const int64_t term : {n, p.edge_padding_low(), p.edge_padding_high()}) {
      if (size) size = CheckedAdd(*size, term);
    }
    if (!size || *size < 0) {
      return Violates("C4", absl::StrCat("padding ", p.edge_padding_low(), "_", p.edge_padding_high(), "_",
                                         p.interior_padding(), " of dimension ", i, " of size ", n,
                                         " gives no valid size"));
    }
    dims.push_back(*size);
  }
  return MakeArray(operand.element_type(), dims);
}

absl::StatusOr<Shape> InferIotaShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  if (instruction.dimensions().size() != 1) return Violates("C1", "not exactly one iota dimension");
  RETURN_IF_ERROR(CheckDimension("C1", "iota dimension", instruction.dimension(), given.rank()));
  const PrimitiveType type = given.element_type();
  if (!IsInt(type) && !IsFloat(type) && !IsComplex(type)) {
    return Violates("C2", absl::StrCat("iota of type ", TypeName(type)));
  }
  return MakeArray(type, given.dims());
}

absl::StatusOr<Shape> InferIdentityShape(const Instruction& instruction) {
  return instruction.operand(0)->shape();
}

}  // namespace toroid
