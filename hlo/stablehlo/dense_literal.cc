#include "hlo/stablehlo/dense_literal.h"

#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/io/text_scanner.h"
#include "hlo/ir/native_types.h"

namespace toroid {
namespace {

bool InNumber(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '+' || c == '-';
}

template <typename T>
class DenseParser {
 public:
  DenseParser(absl::string_view body, const Shape& shape) : scanner_(body), shape_(shape) {}

  absl::StatusOr<DenseValue> Parse(size_t size) {
    DenseValue value;
    if (scanner_.Peek() != '[' && !scanner_.AtEnd()) {
      value.is_splat = true;
      value.literal = Literal(Shape(shape_.element_type(), {}));
      RETURN_IF_ERROR(ParseElement(&value.literal.mutable_data<T>()[0]));
      if (!scanner_.AtEnd()) return scanner_.Error("expected one value");
      return value;
    }
    // Every element takes a character at least.
    if (shape_.NumElements() > static_cast<int64_t>(size))
      return scanner_.Error("fewer values than elements");
    value.literal = Literal(shape_);
    values_ = value.literal.mutable_data<T>();
    if (!scanner_.AtEnd()) RETURN_IF_ERROR(ParseList(0));
    if (!scanner_.AtEnd() || next_ != shape_.NumElements()) {
      return scanner_.Error(absl::StrCat("expected values of ", shape_.ToString()));
    }
    return value;
  }

 private:
  absl::Status ParseList(int depth) {
    int64_t count = 0;
    RETURN_IF_ERROR(scanner_.List("[", "]", [&]() -> absl::Status {
      ++count;
      if (scanner_.Peek() == '[') {
        if (depth + 1 >= shape_.rank()) return scanner_.Error("more brackets than dimensions");
        return ParseList(depth + 1);
      }
      if (depth + 1 != shape_.rank() || next_ >= shape_.NumElements()) {
        return scanner_.Error(absl::StrCat("expected values of ", shape_.ToString()));
      }
      return ParseElement(&values_[next_++]);
    }));
    if (count == shape_.dim(depth)) return absl::OkStatus();
    return scanner_.Error(
        absl::StrCat(count, " values where ", shape_.ToString(), " has ", shape_.dim(depth)));
  }

  absl::Status ParseElement(T* out) {
    if constexpr (kIsComplex<T>) {
      typename T::value_type parts[2];
      RETURN_IF_ERROR(scanner_.Expect("("));
      RETURN_IF_ERROR(ParseReal(&parts[0]));
      RETURN_IF_ERROR(scanner_.Expect(","));
      RETURN_IF_ERROR(ParseReal(&parts[1]));
      *out = T(parts[0], parts[1]);
      return scanner_.Expect(")");
    } else {
      return ParseReal(out);
    }
  }

  template <typename Real>
  absl::Status ParseReal(Real* out) {
    const size_t begin = scanner_.Position();
    const absl::string_view word = scanner_.Run(InNumber);
    uint64_t bits = 0;
    const bool is_hex = absl::StartsWith(word, "0x") && absl::SimpleHexAtoi(word, &bits);
    if constexpr (std::is_same_v<Real, bool>) {
      if (word != "true" && word != "false" && word != "1" && word != "0") {
        return scanner_.ErrorAt(begin, "expected true or false");
      }
      *out = word == "true" || word == "1";
    } else if constexpr (kIsInteger<Real>) {
      int64_t value = static_cast<int64_t>(bits);
      if (!is_hex && !absl::SimpleAtoi(word, &value)) {
        if (!absl::SimpleAtoi(word, &bits)) return scanner_.ErrorAt(begin, "expected an integer");
        value = static_cast<int64_t>(bits);
      }
      *out = Real(value);
    } else {
      if (is_hex) {
        constexpr uint64_t kAllBits = ~uint64_t{0} >> (64 - 8 * sizeof(Real));
        if ((bits & ~kAllBits) != 0) {
          return scanner_.ErrorAt(begin, "more bits than the type has");
        }
        std::memcpy(static_cast<void*>(out), &bits, sizeof(Real));
        return absl::OkStatus();
      }
      double value;
      if (!absl::SimpleAtod(word, &value)) return scanner_.ErrorAt(begin, "expected a number");
      *out = static_cast<Real>(value);
    }
    return absl::OkStatus();
  }

  TextScanner scanner_;
  const Shape& shape_;
  absl::Span<T> values_;
  int64_t next_ = 0;
};

// The bytes of a string "0x..".
absl::StatusOr<std::string> HexBytes(absl::string_view body) {
  const absl::string_view text = absl::StripAsciiWhitespace(body);
  if (text.size() < 4 || !absl::StartsWith(text, "\"0x") || !absl::EndsWith(text, "\"") ||
      text.size() % 2 != 0) {
    return absl::InvalidArgumentError("bytes of a constant are \"0x\" and two hexadecimal digits for each");
  }
  const absl::string_view digits = text.substr(3, text.size() - 4);
  for (const char c : digits) {
    if (!absl::ascii_isxdigit(static_cast<unsigned char>(c))) {
      return absl::InvalidArgumentError(absl::StrCat("'", std::string(1, c), "' is no hexadecimal digit"));
    }
  }
  return absl::HexStringToBytes(digits);
}

// Types below a byte keep their value in the low bits, sign-extended for signed integers.
void StoreByte(PrimitiveType type, uint8_t byte, char* out) {
  const int width = static_cast<int>(BitWidth(type));
  if (width < 8) {
    byte &= static_cast<uint8_t>((1 << width) - 1);
    if (IsSignedInt(type) && (byte >> (width - 1)) != 0) byte |= static_cast<uint8_t>(0xff << width);
  }
  *out = static_cast<char>(byte);
}

absl::StatusOr<DenseValue> FromBytes(absl::string_view bytes, const Shape& shape) {
  const int64_t size = static_cast<int64_t>(bytes.size()), width = ByteWidth(shape.element_type());
  const int64_t elements = shape.NumElements();
  const bool packed = shape.element_type() == xla::PRED && elements != 1 && size == (elements + 7) / 8;
  const bool splat = !packed && size == width && elements != 1;
  if (!packed && !splat && size != shape.ByteSize()) {
    return absl::InvalidArgumentError(
        absl::StrCat(size, " bytes for ", shape.ToString(), ", which has ", shape.ByteSize()));
  }
  DenseValue value;
  value.is_splat = splat;
  value.literal = Literal(splat ? Shape(shape.element_type(), {}) : shape);
  char* out = value.literal.mutable_bytes();
  if (packed) {
    for (int64_t i = 0; i < elements; ++i) out[i] = static_cast<char>((bytes[i / 8] >> (i % 8)) & 1);
  } else if (width == 1) {
    for (int64_t i = 0; i < size; ++i)
      StoreByte(shape.element_type(), static_cast<uint8_t>(bytes[i]), out + i);
  } else if (size > 0) {
    std::memcpy(out, bytes.data(), size);
  }
  return value;
}

}  // namespace

absl::StatusOr<DenseValue> ParseDense(absl::string_view body, const Shape& shape) {
  if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(body), "\"")) {
    ASSIGN_OR_RETURN(const std::string bytes, HexBytes(body));
    return FromBytes(bytes, shape);
  }
  return VisitArrayType(
      shape.element_type(),
      [&](auto tag) { return DenseParser<typename decltype(tag)::type>(body, shape).Parse(body.size()); },
      absl::StatusOr<DenseValue>(absl::InvalidArgumentError("a constant of a type without elements")));
}

}  // namespace toroid
