#include "hlo/io/literal_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/charconv.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/math.h"
#include "hlo/ir/native_types.h"

namespace toroid {
namespace {

template <typename T>
constexpr bool kIsComplex = std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;
template <typename T>
struct IsSmallInt : std::false_type {};
template <int kBits, bool kSigned>
struct IsSmallInt<SmallInt<kBits, kSigned>> : std::true_type {
  static constexpr int64_t kMin = kSigned ? -(int64_t{1} << (kBits - 1)) : 0;
  static constexpr int64_t kMax = (int64_t{1} << (kSigned ? kBits - 1 : kBits)) - 1;
};

// The bits of a floating-point type's NaNs.
template <typename T>
struct NanFormat {
  static constexpr int kWidth = 8 * sizeof(T);
  static constexpr int kMantissaBits = std::is_same_v<T, half>       ? 10
                                       : std::is_same_v<T, bfloat16> ? 7
                                       : std::is_same_v<T, float>    ? 23
                                                                     : 52;
  static constexpr bool kHasNan = true, kHasSign = true, kHasPayload = true;
};
template <int kExponentBits, int kMantissa, int kBias, SmallFloatKind kKind>
struct NanFormat<SmallFloat<kExponentBits, kMantissa, kBias, kKind>> {
  static constexpr int kWidth = SmallFloat<kExponentBits, kMantissa, kBias, kKind>::kWidth;
  static constexpr int kMantissaBits = kMantissa;
  static constexpr bool kHasNan = kKind != SmallFloatKind::kFinite;
  static constexpr bool kHasSign = kKind == SmallFloatKind::kIeee || kKind == SmallFloatKind::kFn;
  static constexpr bool kHasPayload = kKind == SmallFloatKind::kIeee;
};

template <typename T>
uint64_t BitsOf(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <typename T>
T FromBits(uint64_t bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}
template <typename T>
constexpr uint64_t MantissaMask() {
  return (uint64_t{1} << NanFormat<T>::kMantissaBits) - 1;
}
template <typename T>
constexpr uint64_t QuietBit() {
  return NanFormat<T>::kMantissaBits == 0 ? 0 : uint64_t{1} << (NanFormat<T>::kMantissaBits - 1);
}
template <typename T>
constexpr uint64_t SignBit() {
  return uint64_t{1} << (NanFormat<T>::kWidth - 1);
}

// ---- Reading ----------------------------------------------------------------------------------------------

class LiteralParser {
 public:
  explicit LiteralParser(TextScanner* scanner) : scanner_(*scanner) {}

  // The value is meaningless if omitted().
  absl::StatusOr<Literal> Parse(const Shape& shape) {
    const size_t begin = scanner_.Position();
    if (scanner_.Consume("{") && scanner_.Consume("...")) {
      omitted_ = true;
      RETURN_IF_ERROR(scanner_.Expect("}"));
      return Literal();
    }
    scanner_.Reset(begin);
    if (shape.IsTuple()) {
      std::vector<Literal> elements;
      RETURN_IF_ERROR(scanner_.Expect("("));
      for (size_t i = 0; i < shape.tuple_shapes().size(); ++i) {
        if (i > 0) RETURN_IF_ERROR(scanner_.Expect(","));
        ASSIGN_OR_RETURN(Literal element, Parse(shape.tuple_shapes()[i]));
        elements.push_back(std::move(element));
      }
      RETURN_IF_ERROR(scanner_.Expect(")"));
      return omitted_ ? Literal() : Literal::Tuple(std::move(elements));
    }
    if (shape.IsToken()) {
      scanner_.ConsumeWord("token");
      return Literal(shape);
    }
    if (!shape.IsArray()) return scanner_.Error(absl::StrCat("no literal has shape ", shape.ToString()));
    RETURN_IF_ERROR(CheckBounded(shape));
    const int64_t width = ByteWidth(shape.element_type());
    std::string bytes;
    if (shape.rank() > 0 && scanner_.Peek() != '{') {
      RETURN_IF_ERROR(ParseSplat(shape, &bytes));
    } else if (shape.NumElements() == 0) {
      RETURN_IF_ERROR(ParseEmptyBraces());
    } else {
      RETURN_IF_ERROR(VisitArrayType(
          shape.element_type(),
          [&](auto tag) { return ParseElements<typename decltype(tag)::type>(shape, 0, &bytes); },
          absl::OkStatus()));
    }
    TOROID_CHECK(static_cast<int64_t>(bytes.size()) == shape.NumElements() * width);
    Literal literal(shape);
    std::memcpy(literal.mutable_bytes(), bytes.data(), bytes.size());
    return literal;
  }

  // True if some part was `{...}`, so that the value is not in the text.
  bool omitted() const { return omitted_; }

 private:
  absl::Status CheckBounded(const Shape& shape) {
    if (shape.IsBounded()) return absl::OkStatus();
    return scanner_.Error(
        absl::StrCat("a literal of ", shape.ToString(), ", whose size is not known; before this"));
  }

  // Reads one value for all elements.
  absl::Status ParseSplat(const Shape& shape, std::string* bytes) {
    if (shape.NumElements() > kMaxSplatElements) {
      return scanner_.Error(absl::StrCat("one value for ", shape.NumElements(), " elements; at most ",
                                         kMaxSplatElements, " here, so broadcast a scalar"));
    }
    const Shape scalar(shape.element_type(), {});
    std::string element;
    RETURN_IF_ERROR(VisitArrayType(
        shape.element_type(),
        [&](auto tag) { return ParseElements<typename decltype(tag)::type>(scalar, 0, &element); },
        absl::OkStatus()));
    for (int64_t i = 0; i < shape.NumElements(); ++i) *bytes += element;
    return absl::OkStatus();
  }

  absl::Status ParseEmptyBraces() {
    Nesting nesting(&scanner_);
    RETURN_IF_ERROR(nesting.status());
    return scanner_.List("{", "}", [this] { return ParseEmptyBraces(); });
  }

  template <typename T>
  absl::Status ParseElements(const Shape& shape, int dimension, std::string* bytes) {
    if (dimension == shape.rank()) {
      T value;
      RETURN_IF_ERROR(ParseElement(&value));
      bytes->append(reinterpret_cast<const char*>(&value), sizeof(T));
      return absl::OkStatus();
    }
    const size_t begin = scanner_.Position();
    RETURN_IF_ERROR(scanner_.Expect("{"));
    const int64_t size = shape.dim(dimension);
    int64_t found = 0;
    if (scanner_.Peek() != '}') {
      do {
        if (found == size) break;
        RETURN_IF_ERROR((ParseElements<T>(shape, dimension + 1, bytes)));
        ++found;
      } while (scanner_.Consume(","));
    }
    if (found < size || scanner_.Peek() != '}') {
      return scanner_.ErrorAt(begin, absl::StrCat("dimension ", dimension, " of the literal has ",
                                                  found < size ? absl::StrCat(found) : "more",
                                                  " elements where ", shape.ToString(), " has ", size));
    }
    return scanner_.Expect("}");
  }

  template <typename T>
  absl::Status ParseElement(T* value) {
    if constexpr (std::is_same_v<T, bool>) {
      if (scanner_.ConsumeWord("true")) {
        *value = true;
      } else if (scanner_.ConsumeWord("false")) {
        *value = false;
      } else {
        absl::int128 number;
        RETURN_IF_ERROR(ParseInteger(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(),
                                     "pred", &number));
        *value = number != 0;
      }
      return absl::OkStatus();
    } else if constexpr (kIsComplex<T>) {
      typename T::value_type real, imaginary;
      RETURN_IF_ERROR(scanner_.Expect("("));
      RETURN_IF_ERROR(ParseFloat(&real));
      RETURN_IF_ERROR(scanner_.Expect(","));
      RETURN_IF_ERROR(ParseFloat(&imaginary));
      *value = T(real, imaginary);
      return scanner_.Expect(")");
    } else if constexpr (std::is_integral_v<T>) {
      absl::int128 number;
      // Some writers print u64 as the s64 with the same bits, the largest as -1.
      const bool as_signed = std::is_same_v<T, uint64_t>;
      RETURN_IF_ERROR(ParseInteger(
          as_signed ? absl::int128(std::numeric_limits<int64_t>::min()) : std::numeric_limits<T>::min(),
          std::numeric_limits<T>::max(), TypeName(PrimitiveTypeOf<T>::value), &number));
      *value = static_cast<T>(number);
      return absl::OkStatus();
    } else if constexpr (IsSmallInt<T>::value) {
      absl::int128 number;
      RETURN_IF_ERROR(ParseInteger(IsSmallInt<T>::kMin, IsSmallInt<T>::kMax,
                                   TypeName(PrimitiveTypeOf<T>::value), &number));
      *value = T(static_cast<int64_t>(number));
      return absl::OkStatus();
    } else {
      return ParseFloat(value);
    }
  }

  static bool IsNumberCharacter(char c) {
    return (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.' || c == 'e' || c == 'E';
  }

  absl::Status ParseInteger(absl::int128 min, absl::int128 max, absl::string_view type, absl::int128* value) {
    const size_t begin = scanner_.Position();
    const absl::string_view token = scanner_.Run(IsNumberCharacter);
    const bool negative = !token.empty() && token[0] == '-';
    uint64_t magnitude;
    if (token.substr(negative ? 1 : 0).find_first_not_of("0123456789") != absl::string_view::npos ||
        token.size() == (negative ? 1u : 0u)) {
      return scanner_.ErrorAt(begin, absl::StrCat("expected an integer of type ", type));
    }
    if (!absl::SimpleAtoi(token.substr(negative ? 1 : 0), &magnitude)) {
      return scanner_.ErrorAt(begin, absl::StrCat("integer is outside ", type));
    }
    *value = negative ? -absl::int128(magnitude) : absl::int128(magnitude);
    if (*value < min || *value > max)
      return scanner_.ErrorAt(begin, absl::StrCat("integer is outside ", type));
    return absl::OkStatus();
  }

  template <typename T>
  absl::Status ParseFloat(T* value) {
    const absl::string_view type = TypeName(PrimitiveTypeOf<T>::value);
    const size_t begin = scanner_.Position();
    const absl::string_view token = scanner_.Run(IsNumberCharacter);
    if (token.empty() || token == "-") {
      if (scanner_.ConsumeWord("nan")) return ParseNan(begin, token == "-", value);
      if (!scanner_.ConsumeWord("inf")) return scanner_.ErrorAt(begin, "expected a number");
      const double infinity = std::numeric_limits<double>::infinity();
      *value = static_cast<T>(token == "-" ? -infinity : infinity);
      if (!std::isinf(static_cast<float>(*value))) {
        return scanner_.ErrorAt(begin, absl::StrCat(type, " has no infinity"));
      }
      return absl::OkStatus();
    }
    // Parse floats directly: for f32, rounding to double first could change the result.
    using Parsed = std::conditional_t<std::is_same_v<T, float>, float, double>;
    Parsed number;
    const absl::from_chars_result result =
        absl::from_chars(token.data(), token.data() + token.size(), number);
    if (result.ec == std::errc::invalid_argument || result.ptr != token.data() + token.size()) {
      return scanner_.ErrorAt(begin, "expected a number");
    }
    *value = static_cast<T>(number);
    bool overflow = (result.ec == std::errc::result_out_of_range && std::fabs(number) > 1) ||
                    !std::isfinite(static_cast<double>(*value));
    if constexpr (!NanFormat<T>::kHasNan) {
      overflow |= std::fabs(number) > static_cast<double>(static_cast<float>(T::MaxFinite()));
    }
    if (overflow) return scanner_.ErrorAt(begin, absl::StrCat("number is outside ", type));
    return absl::OkStatus();
  }

  // Reads what follows the word `nan`.
  template <typename T>
  absl::Status ParseNan(size_t begin, bool negative, T* value) {
    using Format = NanFormat<T>;
    if constexpr (!Format::kHasNan) {
      return scanner_.ErrorAt(begin, absl::StrCat(TypeName(PrimitiveTypeOf<T>::value), " has no NaN"));
    } else {
      uint64_t payload = QuietBit<T>();
      if (scanner_.Consume("(")) {
        const size_t at = scanner_.Position();
        const absl::string_view digits = scanner_.Run(IsNameCharacter);
        if (digits.size() < 3 || digits.substr(0, 2) != "0x" || !absl::SimpleHexAtoi(digits, &payload) ||
            payload == 0 || payload > MantissaMask<T>()) {
          return scanner_.ErrorAt(at, "expected a NaN payload such as 0x1, within the mantissa");
        }
        RETURN_IF_ERROR(scanner_.Expect(")"));
      }
      if constexpr (IsSmallFloat<T>::value) {
        *value = T::QuietNan();
      } else {
        *value = FromBits<T>((SignBit<T>() - 1) & ~MantissaMask<T>());
      }
      if (Format::kHasPayload) *value = FromBits<T>((BitsOf(*value) & ~MantissaMask<T>()) | payload);
      if (Format::kHasSign && negative) *value = FromBits<T>(BitsOf(*value) | SignBit<T>());
      return absl::OkStatus();
    }
  }

  TextScanner& scanner_;
  bool omitted_ = false;
};

// ---- Printing ---------------------------------------------------------------------------------------------

template <typename T>
void AppendFloat(T value, std::string* out) {
  if (std::isnan(static_cast<double>(value))) {
    using Format = NanFormat<T>;
    const uint64_t bits = BitsOf(value);
    if (Format::kWidth > 0 && !std::is_same_v<T, f8e8m0fnu> && (bits & SignBit<T>()) != 0)
      out->push_back('-');
    out->append("nan");
    const uint64_t payload = bits & MantissaMask<T>();
    if (Format::kHasPayload && payload != QuietBit<T>()) absl::StrAppend(out, "(0x", absl::Hex(payload), ")");
    return;
  }
  char buffer[40];
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    out->append(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
  } else {
    const double wide = static_cast<double>(static_cast<float>(value));
    // Integers are exact; other values take the fewest digits that read back to the narrow type.
    if (wide != 0 && std::fabs(wide) < 1e6 && wide == std::trunc(wide)) {
      absl::StrAppend(out, static_cast<int64_t>(wide));
      return;
    }
    char* end = buffer;
    for (int digits = 1; digits <= 9; ++digits) {
      end = std::to_chars(buffer, buffer + sizeof(buffer), wide, std::chars_format::general, digits).ptr;
      double back = 0;
      absl::from_chars(buffer, end, back);
      // A saturating type would also read back a rounded value beyond its largest.
      bool in_range = true;
      if constexpr (!NanFormat<T>::kHasNan) in_range = std::fabs(back) <= static_cast<float>(T::MaxFinite());
      if (in_range && BitsOf(static_cast<T>(back)) == BitsOf(value)) break;
    }
    out->append(buffer, end);
  }
}

template <typename T>
void AppendElement(T value, std::string* out, bool scalar) {
  if constexpr (std::is_same_v<T, bool>) {
    out->append(scalar ? (value ? "true" : "false") : (value ? "1" : "0"));
  } else if constexpr (kIsComplex<T>) {
    out->push_back('(');
    AppendFloat(value.real(), out);
    out->append(", ");
    AppendFloat(value.imag(), out);
    out->push_back(')');
  } else if constexpr (std::is_integral_v<T>) {
    absl::StrAppend(out, +value);
  } else if constexpr (IsSmallInt<T>::value) {
    absl::StrAppend(out, static_cast<int>(static_cast<typename T::Storage>(value)));
  } else {
    AppendFloat(value, out);
  }
}

template <typename T>
void AppendElements(const Shape& shape, int dimension, const T** next, std::string* out) {
  if (dimension == shape.rank()) {
    AppendElement(*(*next)++, out, shape.rank() == 0);
    return;
  }
  const int64_t size = shape.dim(dimension);
  const absl::string_view blank =
      size == 0 || shape.rank() == 1 || (dimension == shape.rank() - 1 && size <= 1) ? "" : " ";
  absl::StrAppend(out, "{", blank);
  for (int64_t i = 0; i < size; ++i) {
    if (i > 0) out->append(", ");
    AppendElements(shape, dimension + 1, next, out);
  }
  absl::StrAppend(out, blank, "}");
}

// Number of `{}` at the level of the first dimension of size 0; they are text without elements.
int64_t EmptyLines(const Shape& shape) {
  int64_t lines = 1;
  for (const int64_t size : shape.dims()) {
    if (size == 0) break;
    lines = CheckedMultiply(lines, size).value_or(INT64_MAX);
  }
  return lines;
}
constexpr int64_t kMaxEmptyLines = 1024;

}  // namespace

absl::StatusOr<std::optional<Literal>> ParseLiteral(const Shape& shape, TextScanner* scanner) {
  LiteralParser parser(scanner);
  ASSIGN_OR_RETURN(Literal literal, parser.Parse(shape));
  if (parser.omitted()) return std::optional<Literal>();
  return std::optional<Literal>(std::move(literal));
}

void AppendLiteral(const Literal& literal, std::string* out) {
  const Shape& shape = literal.shape();
  if (shape.IsTuple()) {
    out->append(literal.elements().empty() ? "(" : "( ");
    for (size_t i = 0; i < literal.elements().size(); ++i) {
      if (i > 0) out->append(", ");
      AppendLiteral(literal.elements()[i], out);
    }
    out->append(literal.elements().empty() ? ")" : " )");
  } else if (!shape.IsArray()) {
    out->append("token");
  } else if (shape.NumElements() == 0 && EmptyLines(shape) > kMaxEmptyLines) {
    out->append("{}");  // The parser accepts it for any shape without elements.
  } else {
    VisitArrayType(
        shape.element_type(),
        [&](auto tag) {
          using T = typename decltype(tag)::type;
          const T* next = literal.data<T>().data();
          AppendElements(shape, 0, &next, out);
          return 0;
        },
        0);
  }
}

}  // namespace toroid
