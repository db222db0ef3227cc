#include "hlo/ir/literal.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/ir/native_types.h"

namespace toroid {
namespace {

std::shared_ptr<char[]> Allocate(int64_t bytes) {
  return std::shared_ptr<char[]>(new (std::align_val_t(64)) char[std::max<int64_t>(bytes, 1)],
                                 [](char* p) { ::operator delete[](p, std::align_val_t(64)); });
}

// F(element type, C++ type of the element, proto field) for fields of repeated numbers ...
#define TOROID_FOR_EACH_NUMBER_FIELD(F) \
  F(PRED, bool, preds)                  \
  F(S32, int32_t, s32s)                 \
  F(S64, int64_t, s64s) F(U32, uint32_t, u32s) F(U64, uint64_t, u64s) F(F32, float, f32s) F(F64, double, f64s)
// ... and for fields of bytes.
// clang-format off
#define TOROID_FOR_EACH_BYTES_FIELD(F)                                                                \
  F(S1, s1s) F(S2, s2s) F(S4, s4s) F(S8, s8s) F(S16, s16s)                                            \
  F(U1, u1s) F(U2, u2s) F(U4, u4s) F(U8, u8s) F(U16, u16s)                                            \
  F(F16, f16s) F(BF16, bf16s) F(F8E5M2, f8e5m2s) F(F8E4M3, f8e4m3s) F(F8E3M4, f8e3m4s)                \
  F(F8E4M3FN, f8e4m3fns) F(F8E5M2FNUZ, f8e5m2fnuzs) F(F8E4M3FNUZ, f8e4m3fnuzs)                        \
  F(F8E4M3B11FNUZ, f8e4m3b11fnuzs) F(F8E8M0FNU, f8e8m0fnus)                                           \
  F(F6E3M2FN, f6e3m2fns) F(F6E2M3FN, f6e2m3fns) F(F4E2M1FN, f4e2m1fns)
// clang-format on

// Copies between row-major order and the physical order of `shape`'s layout.
void Permute(const Shape& shape, const char* from, char* to, bool to_physical) {
  const int rank = shape.rank();
  const int64_t width = ByteWidth(shape.element_type());
  const int64_t n = shape.NumElements();
  if (n == 0) return;
  Dims strides(rank);  // Strides in the physical order, per logical dimension.
  int64_t stride = 1;
  for (const int64_t d : shape.MinorToMajor()) {
    strides[d] = stride;
    stride *= shape.dim(d);
  }
  Dims index(rank, 0);
  int64_t physical = 0;
  for (int64_t logical = 0; logical < n; ++logical) {
    const int64_t source = to_physical ? logical : physical;
    const int64_t target = to_physical ? physical : logical;
    std::memcpy(to + target * width, from + source * width, width);
    for (int d = rank - 1; d >= 0; --d) {
      physical += strides[d];
      if (++index[d] < shape.dim(d)) break;
      physical -= strides[d] * shape.dim(d);
      index[d] = 0;
    }
  }
}

// Masks sub-byte values to their bits, sign-extending signed ones.
template <typename T>
void Canonicalize(T* values, int64_t n) {
  if constexpr (IsSmallFloat<T>::value) {
    for (int64_t i = 0; i < n; ++i) values[i] = T::FromBits(values[i].bits);
  } else if constexpr (!std::is_arithmetic_v<T> && sizeof(T) == 1) {
    for (int64_t i = 0; i < n; ++i) values[i] = T(reinterpret_cast<const uint8_t*>(values)[i]);
  }
}

absl::Status WrongCount(const Shape& shape, int64_t found) {
  return absl::InvalidArgumentError(absl::StrCat("literal of ", shape.ToString(), " holds ", found,
                                                 " values, expected ", shape.NumElements()));
}

absl::Status ReadElements(const xla::LiteralProto& proto, const Shape& shape, char* out) {
  const int64_t n = shape.NumElements();
  switch (shape.element_type()) {
#define TOROID_READ(enumerator, cpp, field)                                             \
  case xla::enumerator:                                                                 \
    if (proto.field##_size() != n) return WrongCount(shape, proto.field##_size());      \
    std::copy(proto.field().begin(), proto.field().end(), reinterpret_cast<cpp*>(out)); \
    return absl::OkStatus();
    TOROID_FOR_EACH_NUMBER_FIELD(TOROID_READ)
#undef TOROID_READ
#define TOROID_READ(enumerator, field)                                              \
  case xla::enumerator: {                                                           \
    const int64_t width = ByteWidth(xla::enumerator);                               \
    if (static_cast<int64_t>(proto.field().size()) != n * width) {                  \
      return WrongCount(shape, static_cast<int64_t>(proto.field().size()) / width); \
    }                                                                               \
    std::memcpy(out, proto.field().data(), proto.field().size());                   \
    return absl::OkStatus();                                                        \
  }
    TOROID_FOR_EACH_BYTES_FIELD(TOROID_READ)
#undef TOROID_READ
    case xla::C64:
      if (proto.c64s_size() != 2 * n) return WrongCount(shape, proto.c64s_size() / 2);
      std::copy(proto.c64s().begin(), proto.c64s().end(), reinterpret_cast<float*>(out));
      return absl::OkStatus();
    case xla::C128:
      if (proto.c128s_size() != 2 * n) return WrongCount(shape, proto.c128s_size() / 2);
      std::copy(proto.c128s().begin(), proto.c128s().end(), reinterpret_cast<double*>(out));
      return absl::OkStatus();
    default:
      return absl::InvalidArgumentError(absl::StrCat("literal of type ", TypeName(shape.element_type())));
  }
}

void WriteElements(const Shape& shape, const char* in, xla::LiteralProto* proto) {
  const int64_t n = shape.NumElements();
  switch (shape.element_type()) {
#define TOROID_WRITE(enumerator, cpp, field)              \
  case xla::enumerator: {                                 \
    const cpp* values = reinterpret_cast<const cpp*>(in); \
    proto->mutable_##field()->Add(values, values + n);    \
    return;                                               \
  }
    TOROID_FOR_EACH_NUMBER_FIELD(TOROID_WRITE)
#undef TOROID_WRITE
#define TOROID_WRITE(enumerator, field)                                 \
  case xla::enumerator:                                                 \
    proto->set_##field(std::string(in, n* ByteWidth(xla::enumerator))); \
    return;
    TOROID_FOR_EACH_BYTES_FIELD(TOROID_WRITE)
#undef TOROID_WRITE
    case xla::C64: {
      const float* values = reinterpret_cast<const float*>(in);
      proto->mutable_c64s()->Add(values, values + 2 * n);
      return;
    }
    case xla::C128: {
      const double* values = reinterpret_cast<const double*>(in);
      proto->mutable_c128s()->Add(values, values + 2 * n);
      return;
    }
    default:
      return;
  }
}

absl::StatusOr<Literal> ReadLiteral(const xla::LiteralProto& proto, int depth);

}  // namespace

Literal::Literal(const Shape& shape) : shape_(shape.WithoutBuffers()) {
  if (shape.IsTuple()) {
    for (const Shape& element : shape.tuple_shapes()) elements_.emplace_back(element);
  } else if (shape.IsArray()) {
    buffer_ = Allocate(shape.ByteSize());
    std::memset(buffer_.get(), 0, shape.ByteSize());
  }
}

Literal Literal::Tuple(std::vector<Literal> elements) {
  std::vector<Shape> shapes;
  for (const Literal& element : elements) shapes.push_back(element.shape());
  Literal literal;
  literal.shape_ = Shape::Tuple(std::move(shapes));
  literal.elements_ = std::move(elements);
  return literal;
}

absl::StatusOr<Literal> Literal::FromProto(const xla::LiteralProto& proto) { return ReadLiteral(proto, 0); }

void Literal::ToProto(xla::LiteralProto* proto) const {
  shape_.ToProto(proto->mutable_shape());
  for (const Literal& element : elements_) element.ToProto(proto->add_tuple_literals());
  if (!shape_.IsArray()) return;
  if (shape_.HasRowMajorLayout()) {
    WriteElements(shape_, bytes(), proto);
  } else {
    std::string physical(shape_.ByteSize(), '\0');
    Permute(shape_, bytes(), physical.data(), /*to_physical=*/true);
    WriteElements(shape_, physical.data(), proto);
  }
}

char* Literal::mutable_bytes() {
  if (buffer_ != nullptr && buffer_.use_count() > 1) {
    std::shared_ptr<char[]> copy = Allocate(shape_.ByteSize());
    std::memcpy(copy.get(), buffer_.get(), shape_.ByteSize());
    buffer_ = std::move(copy);
  }
  return buffer_.get();
}

Literal Literal::Reshaped(const Shape& shape) const {
  TOROID_CHECK(shape.element_type() == shape_.element_type() && shape.NumElements() == shape_.NumElements());
  Literal literal = *this;
  literal.shape_ = shape;
  return literal;
}

bool Literal::operator==(const Literal& other) const {
  if (!shape_.Compatible(other.shape_)) return false;
  if (shape_.IsTuple()) return elements_ == other.elements_;
  return !shape_.IsArray() || std::memcmp(bytes(), other.bytes(), shape_.ByteSize()) == 0;
}

namespace {

absl::StatusOr<Literal> ReadLiteral(const xla::LiteralProto& proto, int depth) {
  if (depth > Shape::kMaxDepth) return absl::InvalidArgumentError("tuple literals are nested too deeply");
  if (!proto.has_shape())
    return absl::InvalidArgumentError(
        "literal without a value: HLO text prints large ones as {...}; give the .hlo.pb, or make the text with "
        "XLA_FLAGS=--xla_dump_large_constants");
  ASSIGN_OR_RETURN(const Shape shape, Shape::FromProto(proto.shape()));
  if (shape.IsTuple()) {
    if (proto.tuple_literals_size() != static_cast<int>(shape.tuple_shapes().size())) {
      return absl::InvalidArgumentError(absl::StrCat("tuple literal of ", proto.tuple_literals_size(),
                                                     " elements, expected ", shape.tuple_shapes().size()));
    }
    std::vector<Literal> elements;
    for (int i = 0; i < proto.tuple_literals_size(); ++i) {
      ASSIGN_OR_RETURN(Literal element, ReadLiteral(proto.tuple_literals(i), depth + 1));
      if (!element.shape().Compatible(shape.tuple_shape(i))) {
        return absl::InvalidArgumentError(absl::StrCat("element ", i, " of a tuple literal is ",
                                                       element.shape().ToString(), ", expected ",
                                                       shape.tuple_shape(i).ToString()));
      }
      elements.push_back(std::move(element));
    }
    return Literal::Tuple(std::move(elements));
  }
  if (shape.IsToken() || !shape.IsArray()) {
    if (shape.IsToken()) return Literal(shape);
    return absl::InvalidArgumentError(absl::StrCat("literal of type ", TypeName(shape.element_type())));
  }
  if (!shape.IsBounded()) {
    return absl::InvalidArgumentError(
        absl::StrCat("literal of ", shape.ToString(), ", whose size is not known"));
  }
  // Check the count before allocating: a small file must not make us allocate gigabytes.
  const int64_t stored = static_cast<int64_t>(proto.ByteSizeLong());
  if (shape.NumElements() > stored) return WrongCount(shape, 0);
  Literal literal(shape);
  char* out = literal.mutable_bytes();
  if (shape.HasRowMajorLayout()) {
    RETURN_IF_ERROR(ReadElements(proto, shape, out));
  } else {
    std::string physical(shape.ByteSize(), '\0');
    RETURN_IF_ERROR(ReadElements(proto, shape, physical.data()));
    Permute(shape, physical.data(), out, /*to_physical=*/false);
  }
  VisitArrayType(
      shape.element_type(),
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        Canonicalize(reinterpret_cast<T*>(out), shape.NumElements());
        return 0;
      },
      0);
  return literal;
}

}  // namespace

bool IsSplat(const Literal& literal) {
  const int64_t n = literal.shape().NumElements();
  if (n == 0) return false;
  const int64_t width = ByteWidth(literal.shape().element_type());
  return std::memcmp(literal.bytes(), literal.bytes() + width, (n - 1) * width) == 0;
}

}  // namespace toroid
