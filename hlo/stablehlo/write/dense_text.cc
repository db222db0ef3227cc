#include "hlo/stablehlo/write/dense_text.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "hlo/ir/native_types.h"
#include "hlo/ir/types.h"

namespace toroid {
namespace {

// More elements than these are written as bytes.
constexpr int64_t kMostListed = 64;

template <typename T>
std::string RealText(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (kIsInteger<T>) {
    const double wide = static_cast<double>(value);
    return wide < 0 ? absl::StrCat(static_cast<int64_t>(value)) : absl::StrCat(static_cast<uint64_t>(value));
  } else {
    const double wide = static_cast<double>(value);
    constexpr int kDigits = sizeof(T) == 8 ? 17 : 9;
    if (std::isfinite(wide) && sizeof(T) > 1) return absl::StrFormat("%.*e", kDigits, wide);
    // Infinities, NaNs, and types of one byte by their bits.
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return absl::StrFormat("0x%0*X", static_cast<int>(2 * sizeof(T)), bits);
  }
}

template <typename T>
std::string ElementText(const T& value) {
  if constexpr (kIsComplex<T>) {
    return absl::StrCat("(", RealText(value.real()), ",", RealText(value.imag()), ")");
  } else {
    return RealText(value);
  }
}

template <typename T>
void AppendLists(absl::Span<const T> values, absl::Span<const int64_t> dims, std::string* out) {
  if (dims.empty()) {
    absl::StrAppend(out, ElementText(values[0]));
    return;
  }
  const size_t part = values.size() / static_cast<size_t>(dims[0]);
  absl::StrAppend(out, "[");
  for (int64_t i = 0; i < dims[0]; ++i) {
    if (i > 0) absl::StrAppend(out, ", ");
    AppendLists(values.subspan(static_cast<size_t>(i) * part, part), dims.subspan(1), out);
  }
  absl::StrAppend(out, "]");
}

template <typename T>
std::string TextOf(const Literal& literal) {
  const absl::Span<const T> values = literal.data<T>();
  if (values.empty()) return "dense<>";
  const size_t bytes = values.size() * sizeof(T);
  if (std::memcmp(literal.bytes(), literal.bytes() + sizeof(T), bytes - sizeof(T)) == 0) {
    return absl::StrCat("dense<", ElementText(values[0]), ">");
  }
  // MLIR packs booleans and narrow integers, so their bytes are not those of the literal.
  const bool is_packed = BitWidth(literal.shape().element_type()) < 8;
  if (values.size() > kMostListed && !is_packed) {
    return absl::StrCat("dense<\"0x", absl::BytesToHexString(absl::string_view(literal.bytes(), bytes)),
                        "\">");
  }
  std::string text = "dense<";
  AppendLists(values, literal.shape().dims(), &text);
  return absl::StrCat(text, ">");
}

}  // namespace

std::string MlirElementType(PrimitiveType type) {
  switch (type) {
    case xla::PRED:
      return "i1";
    case xla::C64:
      return "complex<f32>";
    case xla::C128:
      return "complex<f64>";
    default:
      break;
  }
  const std::string name(TypeName(type));
  if (name[0] == 's') return absl::StrCat("i", name.substr(1));
  if (name[0] == 'u') return absl::StrCat("ui", name.substr(1));
  // f8e4m3fn is f8E4M3FN.
  if (absl::StartsWith(name, "f8") || absl::StartsWith(name, "f4") ||
      (absl::StartsWith(name, "f6") && name != "f64")) {
    return absl::StrCat("f", absl::AsciiStrToUpper(name.substr(1)));
  }
  return name;
}

std::string MlirType(const Shape& shape) {
  if (shape.IsToken()) return "!stablehlo.token";
  std::string text = "tensor<", bounds;
  for (int d = 0; d < shape.rank(); ++d) {
    absl::StrAppend(&text, shape.IsDynamic(d) ? "?" : absl::StrCat(shape.dim(d)), "x");
    absl::StrAppend(&bounds, d > 0 ? ", " : "", shape.IsDynamic(d) ? absl::StrCat(shape.dim(d)) : "?");
  }
  absl::StrAppend(&text, MlirElementType(shape.element_type()));
  if (shape.IsDynamic()) absl::StrAppend(&text, ", #stablehlo.bounds<", bounds, ">");
  return absl::StrCat(text, ">");
}

std::string DenseText(const Literal& literal) {
  return VisitArrayType(
      literal.shape().element_type(), [&](auto tag) { return TextOf<typename decltype(tag)::type>(literal); },
      std::string("dense<>"));
}

std::string DenseRows(absl::Span<const std::vector<int64_t>> rows, size_t columns) {
  const std::string type = absl::StrCat(" : tensor<", rows.size(), "x", columns, "xi64>");
  if (rows.empty() || columns == 0) return absl::StrCat("dense<>", type);
  return absl::StrCat("dense<[",
                      absl::StrJoin(rows, ", ",
                                    [](std::string* out, const std::vector<int64_t>& row) {
                                      absl::StrAppend(out, "[", absl::StrJoin(row, ", "), "]");
                                    }),
                      "]>", type);
}

std::string MlirString(absl::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || !absl::ascii_isprint(static_cast<unsigned char>(c))) {
      absl::StrAppendFormat(&out, "\\%02X", static_cast<unsigned char>(c));
    } else {
      out.push_back(c);
    }
  }
  return absl::StrCat(out, "\"");
}

}  // namespace toroid
