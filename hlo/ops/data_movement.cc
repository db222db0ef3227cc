#include "hlo/ops/data_movement.h"

#include <algorithm>
#include <optional>

#include "hlo/base/math.h"
#include "hlo/ir/tiled_places.h"
#include "hlo/ops/constraint.h"

namespace toroid {

namespace {

int64_t BufferBitsOf(PrimitiveType type) { return type == xla::PRED ? 8 : BitWidth(type); }

// Bits an array takes in a buffer of packed elements; nullopt if they overflow.
std::optional<int64_t> BufferBits(const Shape& shape) {
  return CheckedMultiply(shape.NumElements(), BufferBitsOf(shape.element_type()));
}

// Bits in a buffer, the padding of tiles included.
bool HaveEqualTiledBits(const Shape& a, const Shape& b) {
  const std::optional<TiledPlaces> places_a = PlacesOf(a), places_b = PlacesOf(b);
  if (!places_a || !places_b) return false;
  const auto bits = [](const TiledPlaces& places, const Shape& shape) {
    return CheckedMultiply(places.size, BufferBitsOf(shape.element_type()));
  };
  const std::optional<int64_t> bits_a = bits(*places_a, a);
  return bits_a && bits_a == bits(*places_b, b);
}

absl::Status CheckEntries(absl::string_view what, int entries, const Shape& operand) {
  if (entries == operand.rank()) return absl::OkStatus();
  return Violates("C1", what, absl::StrCat(entries, " entries"),
                  absl::StrCat("one per dimension of ", operand.ToString()));
}

// The size of dimension i under this padding.
absl::StatusOr<int64_t> PaddedSize(int i, int64_t n, const xla::PaddingConfig::PaddingConfigDimension& p) {
  if (p.interior_padding() < 0) {
    return Violates("C3", absl::StrCat("interior padding of dimension ", i),
                    absl::StrCat(p.interior_padding()), "0 or more");
  }
  std::optional<int64_t> size = CheckedMultiply(std::max<int64_t>(n - 1, 0), p.interior_padding());
  for (const int64_t term : {n, p.edge_padding_low(), p.edge_padding_high()}) {
    if (size) size = CheckedAdd(*size, term);
  }
  for (const int64_t padding : {p.edge_padding_low(), p.edge_padding_high(), p.interior_padding()}) {
    if (!CheckedMultiply(padding, 4)) size.reset();
  }
  if (size && *size >= 0) return *size;
  return Violates("C4", absl::StrCat("padding of dimension ", i, " of size ", n),
                  absl::StrCat(p.edge_padding_low(), "_", p.edge_padding_high(), "_", p.interior_padding()),
                  "one that gives a size of 0 or more");
}

}  // namespace

absl::StatusOr<Shape> InferBroadcastShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  const absl::Span<const int64_t> dimensions = instruction.dimensions();
  RETURN_IF_ERROR(CheckEntries("dimensions", static_cast<int>(dimensions.size()), operand));
  absl::StatusOr<Shape> shape = GivenShape(instruction);
  if (!shape.ok()) {
    // The shape follows from the operand if no dimension is added.
    for (int i = 0; i < operand.rank(); ++i) {
      if (dimensions[i] != i) return shape;
    }
    return operand;
  }
  const Shape& given = *shape;
  RETURN_IF_ERROR(CheckDistinctDimensions("C1", "dimension of the result", dimensions, given.rank()));
  for (int i = 0; i < operand.rank(); ++i) {
    const int64_t size = given.dim(dimensions[i]);
    if (size == operand.dim(i)) continue;
    return Violates("C2", absl::StrCat("dimension ", dimensions[i], " of the result ", given.ToString()),
                    absl::StrCat(size),
                    absl::StrCat(operand.dim(i), ", as dimension ", i, " of the operand"));
  }
  if (!SameUpToFloats(given.element_type(), operand.element_type())) {
    return Violates("C3", "the result", given.ToString(),
                    absl::StrCat("type ", TypeName(operand.element_type())));
  }
  return MakeArray(operand.element_type(), given.dims());
}

absl::StatusOr<Shape> InferReshapeShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  if (!given.IsArray() || given.NumElements() != operand.NumElements()) {
    return Violates(
        "C1", "the result", given.ToString(),
        absl::StrCat("an array of ", operand.NumElements(), " elements, as ", operand.ToString()));
  }
  if (!SameUpToFloats(given.element_type(), operand.element_type())) {
    return Violates("C2", "the result", given.ToString(),
                    absl::StrCat("type ", TypeName(operand.element_type())));
  }
  return MakeArray(operand.element_type(), given.dims());
}

absl::StatusOr<Shape> InferBitcastShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  const bool same = given.IsArray() && BufferBits(given) && BufferBits(given) == BufferBits(operand);
  if (!same && !(given.IsArray() && HaveEqualTiledBits(given, operand))) {
    return Violates("C1", "the result", given.ToString(),
                    absl::StrCat("an array of as many bits as ", operand.ToString()));
  }
  return given.WithRowMajorLayout();
}

absl::StatusOr<Shape> InferTransposeShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  const absl::Span<const int64_t> permutation = instruction.dimensions();
  RETURN_IF_ERROR(CheckDistinctDimensions("C1", "dimension", permutation, operand.rank()));
  if (static_cast<int>(permutation.size()) != operand.rank()) {
    return Violates("C1", "dimensions", ListOf(permutation),
                    absl::StrCat("a permutation of the dimensions of ", operand.ToString()));
  }
  Dims dims;
  for (const int64_t d : permutation) dims.push_back(operand.dim(d));
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
  RETURN_IF_ERROR(CheckOneDimension("C1", instruction, first.rank()));
  const int64_t dimension = instruction.dimension();
  Dims dims(first.dims().begin(), first.dims().end());
  PrimitiveType type = first.element_type();
  for (int i = 1; i < instruction.num_operands(); ++i) {
    const Shape& other = instruction.operand(i)->shape();
    if (!SameUpToFloats(other.element_type(), first.element_type())) {
      return Violates("C2", absl::StrCat("operand ", i), other.ToString(),
                      absl::StrCat("type ", TypeName(first.element_type())));
    }
    type = CommonFloat(type, other.element_type());
    bool fits = other.rank() == first.rank();
    for (int d = 0; fits && d < first.rank(); ++d) fits = d == dimension || other.dim(d) == first.dim(d);
    const std::optional<int64_t> sum =
        fits ? CheckedAdd(dims[dimension], other.dim(dimension)) : std::nullopt;
    if (!sum) {
      return Violates("C3", absl::StrCat("operand ", i), other.ToString(),
                      absl::StrCat("the sizes of ", first.ToString(), " but for dimension ", dimension));
    }
    dims[dimension] = *sum;
  }
  return MakeArray(type, dims);
}

absl::StatusOr<Shape> InferSliceShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  const auto& slices = instruction.attrs().slice_dimensions();
  RETURN_IF_ERROR(CheckEntries("slice", slices.size(), operand));
  Dims dims;
  for (int i = 0; i < slices.size(); ++i) {
    const auto& slice = slices[i];
    if (slice.start() < 0 || slice.start() > slice.limit() || slice.limit() > operand.dim(i)) {
      return Violates("C2", absl::StrCat("slice of dimension ", i),
                      absl::StrCat("[", slice.start(), ":", slice.limit(), "]"),
                      absl::StrCat("0 <= start <= limit <= ", operand.dim(i)));
    }
    if (slice.stride() < 1 || !CheckedMultiply(std::max<int64_t>(operand.ByteSize(), 1), slice.stride())) {
      return Violates("C3", absl::StrCat("slice stride of dimension ", i), absl::StrCat(slice.stride()),
                      "1 or more, and not beyond 64 bits in bytes");
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
  RETURN_IF_ERROR(CheckEntries("padding", padding.size(), operand));
  const Shape& value = instruction.operand(1)->shape();
  RETURN_IF_ERROR(CheckShapeUpToFloats("C2", "the padding value", value, Shape(operand.element_type(), {})));
  Dims dims(padding.size());
  for (int i = 0; i < padding.size(); ++i) {
    ASSIGN_OR_RETURN(dims[i], PaddedSize(i, operand.dim(i), padding[i]));
  }
  return MakeArray(CommonFloat(operand.element_type(), value.element_type()), dims);
}

absl::StatusOr<Shape> InferIotaShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  RETURN_IF_ERROR(CheckOneDimension("C1", instruction, given.rank()));
  const PrimitiveType type = given.element_type();
  if (!IsInt(type) && !IsFloat(type) && !IsComplex(type)) {
    return Violates("C2", "the type of iota", TypeName(type), "integers, floats or complex numbers");
  }
  return MakeArray(type, given.dims());
}

absl::StatusOr<Shape> InferIdentityShape(const Instruction& instruction) {
  return instruction.operand(0)->shape();
}

}  // namespace toroid
