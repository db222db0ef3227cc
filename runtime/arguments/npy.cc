#include "runtime/arguments/npy.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

constexpr absl::string_view kMagic("\x93NUMPY", 6);

// The types that NumPy has names for, without the byte order.
constexpr std::pair<absl::string_view, PrimitiveType> kTypes[] = {
    {"b1", xla::PRED}, {"i1", xla::S8},  {"i2", xla::S16}, {"i4", xla::S32},  {"i8", xla::S64},
    {"u1", xla::U8},   {"u2", xla::U16}, {"u4", xla::U32}, {"u8", xla::U64},  {"f2", xla::F16},
    {"f4", xla::F32},  {"f8", xla::F64}, {"c8", xla::C64}, {"c16", xla::C128}};

// Types for which a file states only the element's width, and the type in which the bytes are kept. ml_dtypes
// writes float8_e5m2 as "f1", all others as "V".
constexpr std::pair<absl::string_view, PrimitiveType> kUntyped[] = {
    {"V1", xla::U8}, {"f1", xla::U8}, {"V2", xla::U16}};

absl::Status CutShort() { return absl::InvalidArgumentError("the array's header is cut short"); }

// The text after 'key': in the header's dictionary.
std::optional<absl::string_view> Field(absl::string_view header, absl::string_view key) {
  const size_t at = header.find(absl::StrCat("'", key, "':"));
  if (at == absl::string_view::npos) return std::nullopt;
  return absl::StripLeadingAsciiWhitespace(header.substr(at + key.size() + 3));
}

// descr is a byte order and a type in quotes, or a list for records.
absl::Status ReadType(absl::string_view descr, NpyHeader* header, PrimitiveType* type) {
  if (absl::StartsWith(descr, "[")) return absl::InvalidArgumentError("arrays of records are not read");
  const size_t end = descr.find('\'', 1);
  if (!absl::StartsWith(descr, "'") || end == absl::string_view::npos || end < 3) return CutShort();
  const absl::string_view name = descr.substr(2, end - 2);
  header->swapped = descr[1] == '>';
  for (const auto& [known, primitive] : kTypes) {
    *type = primitive;
    if (known == name) return absl::OkStatus();
  }
  for (const auto& [known, primitive] : kUntyped) {
    *type = primitive;
    if (known != name) continue;
    header->untyped = std::string(descr.substr(1, end - 1));
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "arrays of type ",
      absl::Utf8SafeCHexEscape(absl::StripSuffix(absl::StripPrefix(descr.substr(0, end + 1), "'"), "'")),
      " are not read; save them as one of NumPy's number types"));
}

absl::StatusOr<Dims> ReadDims(absl::string_view shape) {
  const size_t close = shape.find(')');
  if (!absl::StartsWith(shape, "(") || close == absl::string_view::npos) {
    return absl::InvalidArgumentError("the array's shape is no tuple");
  }
  Dims dims;
  int64_t elements = 16;  // Room for the widest element.
  for (absl::string_view part : absl::StrSplit(shape.substr(1, close - 1), ',')) {
    part = absl::StripAsciiWhitespace(part);
    if (part.empty()) continue;
    int64_t size;
    if (!absl::SimpleAtoi(part, &size) || size < 0 || dims.size() == Shape::kMaxRank ||
        !CheckedMultiply(elements, std::max<int64_t>(size, 1)).has_value()) {
      return absl::InvalidArgumentError(absl::StrCat("the array's shape holds ", absl::CHexEscape(part)));
    }
    elements *= std::max<int64_t>(size, 1);
    dims.push_back(size);
  }
  return dims;
}

absl::StatusOr<NpyHeader> ReadHeader(absl::string_view text) {
  const auto descr = Field(text, "descr"), order = Field(text, "fortran_order"), shape = Field(text, "shape");
  if (!descr.has_value() || !order.has_value() || !shape.has_value()) {
    return absl::InvalidArgumentError("the array's header lacks descr, fortran_order or shape");
  }
  NpyHeader header;
  PrimitiveType type;
  RETURN_IF_ERROR(ReadType(*descr, &header, &type));
  header.fortran = absl::StartsWith(*order, "True");
  ASSIGN_OR_RETURN(const Dims dims, ReadDims(*shape));
  header.shape = Shape(type, dims);
  return header;
}

// Reverses the byte order of each number.
void SwapBytes(PrimitiveType type, int64_t n, char* data) {
  const int64_t width = ByteWidth(RealTypeOf(type)), count = n * (ByteWidth(type) / width);
  for (int64_t i = 0; i < count; ++i) std::reverse(data + i * width, data + (i + 1) * width);
}

// Turns column-major order into row-major order.
void FromFortranOrder(const Shape& shape, const char* in, char* out) {
  const int64_t width = ByteWidth(shape.element_type());
  Dims index(shape.rank(), 0);
  for (int64_t i = 0; i < shape.NumElements(); ++i) {
    int64_t at = 0;
    for (int d = shape.rank() - 1; d >= 0; --d) at = at * shape.dim(d) + index[d];
    std::memcpy(out + i * width, in + at * width, width);
    for (int d = shape.rank() - 1; d >= 0; --d) {
      if (++index[d] < shape.dim(d)) break;
      index[d] = 0;
    }
  }
}

// Sign-extends the low bits of each byte, or clears the high ones.
void SpreadLowBits(PrimitiveType type, int64_t n, char* data) {
  const int unused = 8 - static_cast<int>(BitWidth(type));
  for (int64_t i = 0; i < n; ++i) {
    const uint8_t high = static_cast<uint8_t>(static_cast<uint8_t>(data[i]) << unused);
    data[i] = IsSignedInt(type) ? static_cast<char>(static_cast<int8_t>(high) >> unused)
                                : static_cast<char>(high >> unused);
  }
}

bool IsNarrow(PrimitiveType type) { return type != xla::PRED && BitWidth(type) < 8; }

std::string Description(PrimitiveType type) {
  for (const auto& [name, primitive] : kTypes) {
    if (primitive == type) return absl::StrCat(ByteWidth(type) == 1 ? "|" : "<", name);
  }
  return absl::StrCat("<V", ByteWidth(type));
}

}  // namespace

bool LooksLikeNpy(absl::string_view bytes) { return absl::StartsWith(bytes, kMagic); }

absl::StatusOr<NpyHeader> ReadNpyHeader(absl::string_view bytes) {
  if (!LooksLikeNpy(bytes)) return absl::InvalidArgumentError("is no .npy array");
  if (bytes.size() < 12) return CutShort();
  const int version = bytes[6], length_width = version == 1 ? 2 : 4;
  const size_t header_at = 8 + length_width;
  size_t header_size = 0;
  for (int i = length_width - 1; i >= 0; --i) {
    header_size = header_size << 8 | static_cast<uint8_t>(bytes[8 + static_cast<size_t>(i)]);
  }
  if (version < 1 || version > 3) {
    return absl::InvalidArgumentError(absl::StrCat("version ", version, " of the .npy format is not known"));
  }
  if (header_size > bytes.size() - header_at) return CutShort();
  ASSIGN_OR_RETURN(NpyHeader header, ReadHeader(bytes.substr(header_at, header_size)));
  header.data_at = static_cast<int64_t>(header_at + header_size);
  return header;
}

absl::StatusOr<NpyArray> ReadNpy(absl::string_view bytes) {
  ASSIGN_OR_RETURN(const NpyHeader header, ReadNpyHeader(bytes));
  const absl::string_view data = bytes.substr(header.data_at);
  const Shape& shape = header.shape;
  if (static_cast<int64_t>(data.size()) < shape.ByteSize()) {
    return absl::InvalidArgumentError(absl::StrCat("holds ", data.size(), " bytes of ", shape.ToString(),
                                                   ", ", shape.ByteSize(), " expected"));
  }
  NpyArray array = {Literal(shape), header.untyped};
  char* out = array.values.mutable_bytes();
  if (header.fortran) {
    FromFortranOrder(shape, data.data(), out);
  } else if (shape.ByteSize() > 0) {
    std::memcpy(out, data.data(), shape.ByteSize());
  }
  if (header.swapped) SwapBytes(shape.element_type(), shape.NumElements(), out);
  if (shape.element_type() == xla::PRED) {
    for (int64_t i = 0; i < shape.NumElements(); ++i) out[i] = out[i] != 0;
  }
  return array;
}

namespace {

// How to write, in Python, elements of the type; empty for types that no array can have.
std::string AdviceFor(PrimitiveType type) {
  constexpr std::pair<PrimitiveType, const char*> kNames[] = {
      {xla::PRED, "bool_"},    {xla::S8, "int8"},        {xla::S16, "int16"},   {xla::S32, "int32"},
      {xla::S64, "int64"},     {xla::U8, "uint8"},       {xla::U16, "uint16"},  {xla::U32, "uint32"},
      {xla::U64, "uint64"},    {xla::F16, "float16"},    {xla::F32, "float32"}, {xla::F64, "float64"},
      {xla::C64, "complex64"}, {xla::C128, "complex128"}};
  for (const auto& [known, name] : kNames) {
    if (known == type) return absl::StrCat("; give the array as .astype(numpy.", name, ")");
  }
  return type == xla::BF16 ? "; give the array as .astype(ml_dtypes.bfloat16)" : "";
}

}  // namespace

absl::Status CheckType(PrimitiveType given, absl::string_view untyped, PrimitiveType type) {
  if (untyped.empty()) {
    if (given == type) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("holds ", TypeName(given), " elements, ", TypeName(type),
                                                   " are needed", AdviceFor(type)));
  }
  const bool named = std::any_of(std::begin(kTypes), std::end(kTypes),
                                 [&](const auto& known) { return known.second == type; });
  if (!named && ByteWidth(type) == ByteWidth(given)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("holds elements of type '", untyped, "', of ",
                                                 ByteWidth(given), " bytes, which cannot be ",
                                                 TypeName(type)));
}

absl::StatusOr<Literal> AsType(const NpyArray& array, PrimitiveType type) {
  const Shape& shape = array.values.shape();
  RETURN_IF_ERROR(CheckType(shape.element_type(), array.untyped, type));
  if (array.untyped.empty()) return array.values;
  Literal literal(Shape(type, shape.dims()));
  if (shape.ByteSize() == 0) return literal;
  std::memcpy(literal.mutable_bytes(), array.values.bytes(), shape.ByteSize());
  if (IsNarrow(type)) SpreadLowBits(type, shape.NumElements(), literal.mutable_bytes());
  return literal;
}

std::string WriteNpy(const Literal& array) {
  const Shape& shape = array.shape();
  std::string header =
      absl::StrCat("{'descr': '", Description(shape.element_type()), "', 'fortran_order': False, 'shape': (");
  for (int d = 0; d < shape.rank(); ++d) {
    absl::StrAppend(&header, d > 0 ? " " : "", shape.dim(d), d == 0 || d + 1 < shape.rank() ? "," : "");
  }
  absl::StrAppend(&header, "), }");
  header.append(63 - (10 + header.size()) % 64, ' ');  // The data begins at a multiple of 64 bytes.
  header += '\n';
  std::string out(kMagic);
  for (const size_t byte : {size_t{1}, size_t{0}, header.size() & 255, header.size() >> 8}) {
    out += static_cast<char>(byte);
  }
  out += header;
  const size_t data_at = out.size();
  if (shape.ByteSize() > 0) out.append(array.bytes(), static_cast<size_t>(shape.ByteSize()));
  if (IsNarrow(shape.element_type())) {
    const int mask = (1 << BitWidth(shape.element_type())) - 1;
    for (size_t i = data_at; i < out.size(); ++i) out[i] = static_cast<char>(out[i] & mask);
  }
  return out;
}

}  // namespace toroid
