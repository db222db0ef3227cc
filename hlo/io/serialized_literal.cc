#include "hlo/io/serialized_literal.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

// Elements packed into one byte; 1 for types of a byte and more.
int64_t PerByte(PrimitiveType type) {
  const int64_t bits = BitWidth(type);
  return bits < 8 && 8 % bits == 0 ? 8 / bits : 1;
}

int64_t PackedBytes(const Shape& shape) {
  const int64_t n = shape.NumElements(), per_byte = PerByte(shape.element_type());
  return per_byte > 1 ? n / per_byte + (n % per_byte != 0) : n * ByteWidth(shape.element_type());
}

// Calls visit(i), i the row-major number of an element, in the order of the layout.
template <typename Visit>
void ForEachInLayout(const Shape& shape, const Visit& visit) {
  const int64_t n = shape.NumElements();
  if (shape.HasRowMajorLayout()) {
    for (int64_t i = 0; i < n; ++i) visit(i);
    return;
  }
  const Dims order = shape.MinorToMajor();
  Dims strides(shape.rank(), 1), index(shape.rank(), 0);
  for (int d = shape.rank() - 2; d >= 0; --d) strides[d] = strides[d + 1] * shape.dim(d + 1);
  int64_t logical = 0;
  for (int64_t i = 0; i < n; ++i) {
    visit(logical);
    for (const int64_t d : order) {
      logical += strides[d];
      if (++index[d] < shape.dim(d)) break;
      logical -= strides[d] * shape.dim(d);
      index[d] = 0;
    }
  }
}

void AppendElements(const Literal& literal, std::string* out) {
  const Shape& shape = literal.shape();
  const int64_t width = ByteWidth(shape.element_type()), per_byte = PerByte(shape.element_type());
  const char* data = literal.bytes();
  if (per_byte == 1) {
    ForEachInLayout(shape, [&](int64_t i) { out->append(data + i * width, width); });
    return;
  }
  const int bits = static_cast<int>(8 / per_byte);
  const uint8_t mask = static_cast<uint8_t>((1 << bits) - 1);
  int64_t at = 0;
  ForEachInLayout(shape, [&](int64_t i) {
    if (at % per_byte == 0) out->push_back('\0');
    const int shift = static_cast<int>(at++ % per_byte) * bits;
    out->back() = static_cast<char>(static_cast<uint8_t>(out->back()) | (static_cast<uint8_t>(data[i]) & mask)
                                                                            << shift);
  });
}

// The low bits of a byte as a stored element: signed integers are sign-extended.
char Unpacked(PrimitiveType type, uint8_t value, int bits) {
  if (IsSignedInt(type) && (value >> (bits - 1)) != 0) value |= static_cast<uint8_t>(0xff << bits);
  return static_cast<char>(value);
}

// Reads an array from `bytes`, which hold PackedBytes(shape) bytes.
Literal Elements(const Shape& shape, const char* bytes) {
  Literal literal(shape);
  char* data = literal.mutable_bytes();
  const PrimitiveType type = shape.element_type();
  const int64_t width = ByteWidth(type), per_byte = PerByte(type);
  int64_t at = 0;
  if (per_byte == 1) {
    ForEachInLayout(shape, [&](int64_t i) { std::memcpy(data + i * width, bytes + at++ * width, width); });
    if (type == xla::F6E2M3FN || type == xla::F6E3M2FN) {
      for (int64_t i = 0; i < shape.NumElements(); ++i) data[i] = static_cast<char>(data[i] & 0x3f);
    }
    return literal;
  }
  const int bits = static_cast<int>(8 / per_byte);
  ForEachInLayout(shape, [&](int64_t i) {
    const int shift = static_cast<int>(at % per_byte) * bits;
    const uint8_t byte = static_cast<uint8_t>(bytes[at++ / per_byte]);
    data[i] = Unpacked(type, static_cast<uint8_t>(byte >> shift & ((1 << bits) - 1)), bits);
  });
  return literal;
}

absl::Status EndsEarly() { return absl::InvalidArgumentError("the literal ends early"); }

absl::Status Take(size_t size, absl::string_view* bytes, absl::string_view* taken) {
  if (bytes->size() < size) return EndsEarly();
  *taken = bytes->substr(0, size);
  bytes->remove_prefix(size);
  return absl::OkStatus();
}

// The literal cut to the first sizes[d] indices of each dimension d.
Literal Shortened(const Literal& literal, absl::Span<const int32_t> sizes) {
  const Shape& from = literal.shape();
  Dims dims(sizes.begin(), sizes.end());
  Literal out(Shape(from.element_type(), dims));
  const int64_t width = ByteWidth(from.element_type()), n = out.shape().NumElements();
  Dims strides(from.rank(), 1), index(from.rank(), 0);
  for (int d = from.rank() - 2; d >= 0; --d) strides[d] = strides[d + 1] * from.dim(d + 1);
  for (int64_t i = 0, source = 0; i < n; ++i) {
    std::memcpy(out.mutable_bytes() + i * width, literal.bytes() + source * width, width);
    for (int d = from.rank() - 1; d >= 0; --d) {
      source += strides[d];
      if (++index[d] < dims[d]) break;
      source -= strides[d] * dims[d];
      index[d] = 0;
    }
  }
  return out;
}

absl::StatusOr<Literal> TakeArray(const Shape& shape, absl::string_view* bytes) {
  if (!shape.IsBounded()) {
    return absl::InvalidArgumentError(
        absl::StrCat("literal of ", shape.ToString(), ", whose size is not known"));
  }
  std::vector<int32_t> sizes(shape.IsDynamic() ? shape.rank() : 0);
  bool shorter = false;
  absl::string_view taken;
  RETURN_IF_ERROR(Take(4 * sizes.size(), bytes, &taken));
  if (!sizes.empty()) std::memcpy(sizes.data(), taken.data(), taken.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t bound = shape.dim(d);
    if (sizes[d] < 0 || sizes[d] > bound) {
      return absl::InvalidArgumentError(
          absl::StrCat("size ", sizes[d], " of dimension ", d, " of ", shape.ToString()));
    }
    shorter |= sizes[d] != bound;
  }
  RETURN_IF_ERROR(Take(static_cast<size_t>(PackedBytes(shape)), bytes, &taken));
  Literal literal = Elements(shape, taken.data());
  return shorter ? Shortened(literal, sizes) : literal;
}

absl::StatusOr<Literal> TakeLiteral(const Shape& shape, absl::string_view* bytes) {
  if (shape.IsArray()) return TakeArray(shape, bytes);
  if (!shape.IsTuple()) return absl::InvalidArgumentError(absl::StrCat("literal of ", shape.ToString()));
  std::vector<Literal> elements;
  for (const Shape& element : shape.tuple_shapes()) {
    ASSIGN_OR_RETURN(Literal literal, TakeLiteral(element, bytes));
    elements.push_back(std::move(literal));
  }
  return Literal::Tuple(std::move(elements));
}

absl::Status AppendLeaves(const Literal& literal, std::string* out) {
  const Shape& shape = literal.shape();
  if (shape.IsTuple()) {
    for (const Literal& element : literal.elements()) RETURN_IF_ERROR(AppendLeaves(element, out));
    return absl::OkStatus();
  }
  if (!shape.IsArray()) {
    return absl::InvalidArgumentError(absl::StrCat("a literal of ", shape.ToString(), " cannot be streamed"));
  }
  for (int d = 0; shape.IsDynamic() && d < shape.rank(); ++d) {
    const int32_t size = static_cast<int32_t>(shape.dim(d));
    out->append(reinterpret_cast<const char*>(&size), sizeof(size));
  }
  AppendElements(literal, out);
  return absl::OkStatus();
}

}  // namespace

absl::Status AppendSerializedLiteral(const Literal& literal, std::string* out) {
  const std::string shape = literal.shape().ToProto().SerializeAsString();
  const uint64_t size = shape.size();
  out->append(reinterpret_cast<const char*>(&size), sizeof(size));
  out->append(shape);
  return AppendLeaves(literal, out);
}

absl::StatusOr<Literal> TakeSerializedLiteral(absl::string_view* bytes) {
  absl::string_view taken;
  uint64_t size;
  RETURN_IF_ERROR(Take(sizeof(size), bytes, &taken));
  std::memcpy(&size, taken.data(), sizeof(size));
  if (size > bytes->size()) return EndsEarly();
  RETURN_IF_ERROR(Take(static_cast<size_t>(size), bytes, &taken));
  xla::ShapeProto proto;
  if (!proto.ParseFromArray(taken.data(), static_cast<int>(taken.size()))) {
    return absl::InvalidArgumentError("the shape of the literal is damaged");
  }
  ASSIGN_OR_RETURN(const Shape shape, Shape::FromProto(proto));
  return TakeLiteral(shape, bytes);
}

}  // namespace toroid
