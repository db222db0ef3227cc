#include "runtime/npz.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "runtime/kernels/convert.h"

namespace toroid {
namespace {

// Little-endian number of `width` bytes; the caller has checked the range.
uint64_t Number(absl::string_view bytes, size_t at, int width) {
  uint64_t value = 0;
  for (int i = 0; i < width; ++i)
    value |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
  return value;
}

// The text behind 'key': in the header's dictionary.
std::optional<absl::string_view> Field(absl::string_view header, absl::string_view key) {
  const size_t at = header.find(absl::StrCat("'", key, "':"));
  if (at == absl::string_view::npos) return std::nullopt;
  return absl::StripLeadingAsciiWhitespace(header.substr(at + key.size() + 3));
}

constexpr std::pair<absl::string_view, PrimitiveType> kTypes[] = {
    {"b1", xla::PRED}, {"i1", xla::S8},  {"i2", xla::S16}, {"i4", xla::S32},  {"i8", xla::S64},
    {"u1", xla::U8},   {"u2", xla::U16}, {"u4", xla::U32}, {"u8", xla::U64},  {"f2", xla::F16},
    {"f4", xla::F32},  {"f8", xla::F64}, {"c8", xla::C64}, {"c16", xla::C128}};

std::optional<PrimitiveType> TypeOfDescription(absl::string_view type) {
  for (const auto& [name, primitive] : kTypes) {
    if (name == type) return primitive;
  }
  return std::nullopt;
}

// Reverses the bytes of each number.
void SwapBytes(PrimitiveType type, int64_t n, char* data) {
  const int64_t width = ByteWidth(RealTypeOf(type)), count = n * (ByteWidth(type) / width);
  for (int64_t i = 0; i < count; ++i) std::reverse(data + i * width, data + (i + 1) * width);
}

// Row-major order from column-major.
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

absl::StatusOr<Shape> ShapeOfHeader(absl::string_view header, bool* swapped, bool* fortran) {
  const auto descr = Field(header, "descr"), order = Field(header, "fortran_order"),
             shape = Field(header, "shape");
  if (!descr.has_value() || !order.has_value() || !shape.has_value() || descr->size() < 4 ||
      (*descr)[0] != '\'') {
    return absl::InvalidArgumentError("the array's header lacks descr, fortran_order or shape");
  }
  const size_t end = descr->find('\'', 1);
  if (end == absl::string_view::npos || end < 3)
    return absl::InvalidArgumentError("the array's header is cut short");
  const absl::string_view type = descr->substr(2, end - 2);
  const std::optional<PrimitiveType> primitive = TypeOfDescription(type);
  if (!primitive.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("arrays of type ", descr->substr(0, end + 1), " are not read"));
  }
  *swapped = (*descr)[1] == '>';
  *fortran = absl::StartsWith(*order, "True");
  const size_t close = shape->find(')');
  if ((*shape)[0] != '(' || close == absl::string_view::npos) {
    return absl::InvalidArgumentError("the array's shape is no tuple");
  }
  Dims dims;
  int64_t elements = 16;
  for (absl::string_view part : absl::StrSplit(shape->substr(1, close - 1), ',')) {
    part = absl::StripAsciiWhitespace(part);
    if (part.empty()) continue;
    int64_t size;
    if (!absl::SimpleAtoi(part, &size) || size < 0 || dims.size() == Shape::kMaxRank ||
        !CheckedMultiply(elements, std::max<int64_t>(size, 1)).has_value()) {
      return absl::InvalidArgumentError(absl::StrCat("the array's shape holds ", part));
    }
    elements *= std::max<int64_t>(size, 1);
    dims.push_back(size);
  }
  return Shape(*primitive, dims);
}

std::string LittleEndian(uint64_t value, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  return bytes;
}

// The array as an .npy file.
absl::StatusOr<std::string> ToNpy(const Literal& literal) {
  const Shape& shape = literal.shape();
  if (!shape.IsArray()) return absl::InvalidArgumentError(absl::StrCat(shape.ToString(), " is no array"));
  PrimitiveType type = shape.element_type();
  if (IsFloat(type) && BitWidth(type) <= 16 && type != xla::F16) type = xla::F32;
  if (IsInt(type) && BitWidth(type) < 8) type = IsSignedInt(type) ? xla::S8 : xla::U8;
  absl::string_view description;
  for (const auto& [name, primitive] : kTypes) {
    if (primitive == type) description = name;
  }
  std::string header = absl::StrCat("{'descr': '", ByteWidth(type) > 1 ? "<" : "|", description,
                                    "', 'fortran_order': False, 'shape': (");
  for (const int64_t size : shape.dims()) absl::StrAppend(&header, size, ", ");
  absl::StrAppend(&header, "), }");
  // Data begins at a multiple of 64.
  header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
  header.push_back('\n');
  std::string bytes = absl::StrCat(absl::string_view("\x93NUMPY\1\0", 8), LittleEndian(header.size(), 2), header);
  std::string data(shape.NumElements() * ByteWidth(type), '\0');
  FindConvertLoop(shape.element_type(), type)(literal.bytes(), data.data(), shape.NumElements());
  return bytes + data;
}

absl::StatusOr<std::string> Inflate(absl::string_view packed, uint64_t size) {
  // Deflate shrinks at most about a thousandfold: more is a lie about the size.
  if (size / 1100 > packed.size()) return absl::InvalidArgumentError("the member's size cannot be right");
  std::string out(size, '\0');
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return absl::InternalError("zlib does not start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = inflate(&stream, Z_FINISH);
  const bool complete = status == Z_STREAM_END && stream.total_out == size;
  inflateEnd(&stream);
  if (!complete) return absl::InvalidArgumentError("the member's compressed data is damaged");
  return out;
}

}  // namespace

absl::StatusOr<Literal> ReadNpy(absl::string_view bytes) {
  if (bytes.size() < 12 || bytes.substr(0, 6) != absl::string_view("\x93NUMPY", 6)) {
    return absl::InvalidArgumentError("is no .npy array");
  }
  const int version = bytes[6], length_width = version == 1 ? 2 : 4;
  const size_t header_at = 8 + length_width;
  const uint64_t header_size = Number(bytes, 8, length_width);
  if (version < 1 || version > 3 || header_size > bytes.size() - header_at) {
    return absl::InvalidArgumentError("the array's header is cut short");
  }
  bool swapped, fortran;
  ASSIGN_OR_RETURN(const Shape shape,
                   ShapeOfHeader(bytes.substr(header_at, header_size), &swapped, &fortran));
  const absl::string_view data = bytes.substr(header_at + header_size);
  if (static_cast<int64_t>(data.size()) < shape.ByteSize()) {
    return absl::InvalidArgumentError(absl::StrCat("holds ", data.size(), " bytes of ", shape.ToString(),
                                                   ", ", shape.ByteSize(), " expected"));
  }
  Literal literal(shape);
  char* out = literal.mutable_bytes();
  if (fortran) {
    FromFortranOrder(shape, data.data(), out);
  } else {
    std::memcpy(out, data.data(), shape.ByteSize());
  }
  if (swapped) SwapBytes(shape.element_type(), shape.NumElements(), out);
  if (shape.element_type() == xla::PRED) {
    for (int64_t i = 0; i < shape.NumElements(); ++i) out[i] = out[i] != 0;
  }
  return literal;
}

absl::StatusOr<std::vector<std::pair<std::string, Literal>>> ReadNpz(absl::string_view bytes) {
  // The directory stands at the end, before a record of 22 bytes and a comment.
  constexpr absl::string_view kEnd("PK\5\6", 4), kEntry("PK\1\2", 4), kMember("PK\3\4", 4);
  const size_t end = bytes.rfind(kEnd);
  if (end == absl::string_view::npos || bytes.size() - end < 22) {
    return absl::InvalidArgumentError("the archive has no directory");
  }
  const uint64_t count = Number(bytes, end + 10, 2);
  size_t at = Number(bytes, end + 16, 4);
  std::vector<std::pair<std::string, Literal>> arrays;
  for (uint64_t i = 0; i < count; ++i) {
    if (at > bytes.size() || bytes.size() - at < 46 || bytes.substr(at, 4) != kEntry) {
      return absl::InvalidArgumentError("the archive's directory is damaged");
    }
    const uint64_t method = Number(bytes, at + 10, 2), packed_size = Number(bytes, at + 20, 4);
    const uint64_t size = Number(bytes, at + 24, 4), name_size = Number(bytes, at + 28, 2);
    const uint64_t member = Number(bytes, at + 42, 4);
    if (bytes.size() - at - 46 < name_size)
      return absl::InvalidArgumentError("the archive's directory is damaged");
    const std::string name(bytes.substr(at + 46, name_size));
    at += 46 + name_size + Number(bytes, at + 30, 2) + Number(bytes, at + 32, 2);
    if (member > bytes.size() || bytes.size() - member < 30 || bytes.substr(member, 4) != kMember) {
      return absl::InvalidArgumentError(absl::StrCat(name, ": the member is missing"));
    }
    const uint64_t data_at = member + 30 + Number(bytes, member + 26, 2) + Number(bytes, member + 28, 2);
    if (data_at > bytes.size() || bytes.size() - data_at < packed_size || (method != 0 && method != 8)) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ": the member is cut short, or packed in another way"));
    }
    const absl::string_view packed = bytes.substr(data_at, packed_size);
    absl::StatusOr<std::string> unpacked = method == 0 ? std::string(packed) : Inflate(packed, size);
    if (!unpacked.ok()) return Annotate(unpacked.status(), name);
    absl::StatusOr<Literal> literal = ReadNpy(*unpacked);
    if (!literal.ok()) return Annotate(literal.status(), name);
    arrays.emplace_back(std::string(absl::StripSuffix(name, ".npy")), *std::move(literal));
  }
  return arrays;
}

absl::StatusOr<std::string> WriteNpz(absl::Span<const Literal> arrays) {
  std::string archive, directory;
  for (size_t i = 0; i < arrays.size(); ++i) {
    ASSIGN_OR_RETURN(const std::string member, ToNpy(arrays[i]));
    const std::string name = absl::StrCat("arr_", i, ".npy");
    if (archive.size() + member.size() >= (uint64_t{1} << 31) || arrays.size() > 65535) {
      return absl::ResourceExhaustedError("an archive of 2 GiB or more, or of more than 65535 arrays");
    }
    const uint32_t crc = crc32(0, reinterpret_cast<const Bytef*>(member.data()), static_cast<uInt>(member.size()));
    // Version 2.0, no flags, stored, 1980-01-01.
    const std::string common =
        absl::StrCat(LittleEndian(20, 2), LittleEndian(0, 2), LittleEndian(0, 2), LittleEndian(0, 2), LittleEndian(33, 2),
                     LittleEndian(crc, 4), LittleEndian(member.size(), 4), LittleEndian(member.size(), 4),
                     LittleEndian(name.size(), 2), LittleEndian(0, 2));
    absl::StrAppend(&directory, absl::string_view("PK\1\2", 4), LittleEndian(20, 2), common, LittleEndian(0, 2),
                    LittleEndian(0, 2), LittleEndian(0, 2), LittleEndian(0, 4), LittleEndian(archive.size(), 4), name);
    absl::StrAppend(&archive, absl::string_view("PK\3\4", 4), common, name, member);
  }
  const std::string end = absl::StrCat(absl::string_view("PK\5\6", 4), LittleEndian(0, 4), LittleEndian(arrays.size(), 2),
                                       LittleEndian(arrays.size(), 2), LittleEndian(directory.size(), 4),
                                       LittleEndian(archive.size(), 4), LittleEndian(0, 2));
  return absl::StrCat(archive, directory, end);
}

bool LooksLikeNpz(absl::string_view bytes) {
  return absl::StartsWith(bytes, absl::string_view("PK\3\4", 4)) ||
         absl::StartsWith(bytes, absl::string_view("PK\5\6", 4));
}

}  // namespace toroid
