#include "tests/runtime/kernels/number_format.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

// The codes beyond the finite numbers.
enum class Top { kInfinityAndNan, kOneNan, kNanIsMinusZero, kNothing, kScale };

struct Format {
  int exponent_bits, mantissa_bits, bias;
  Top top;
};

const std::map<PrimitiveType, Format>& Formats() {
  static const auto* const formats =
      new std::map<PrimitiveType, Format>{{xla::F16, {5, 10, 15, Top::kInfinityAndNan}},
                                          {xla::BF16, {8, 7, 127, Top::kInfinityAndNan}},
                                          {xla::F8E5M2, {5, 2, 15, Top::kInfinityAndNan}},
                                          {xla::F8E4M3, {4, 3, 7, Top::kInfinityAndNan}},
                                          {xla::F8E3M4, {3, 4, 3, Top::kInfinityAndNan}},
                                          {xla::F8E4M3FN, {4, 3, 7, Top::kOneNan}},
                                          {xla::F8E5M2FNUZ, {5, 2, 16, Top::kNanIsMinusZero}},
                                          {xla::F8E4M3FNUZ, {4, 3, 8, Top::kNanIsMinusZero}},
                                          {xla::F8E4M3B11FNUZ, {4, 3, 11, Top::kNanIsMinusZero}},
                                          {xla::F6E3M2FN, {3, 2, 3, Top::kNothing}},
                                          {xla::F6E2M3FN, {2, 3, 1, Top::kNothing}},
                                          {xla::F4E2M1FN, {2, 1, 1, Top::kNothing}},
                                          {xla::F8E8M0FNU, {8, 0, 127, Top::kScale}}};
  return *formats;
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Decodes one code of a format with a sign bit, by hand.
double Decode(const Format& format, uint32_t code) {
  const int e = format.exponent_bits, m = format.mantissa_bits;
  if (format.top == Top::kScale) return code == 255 ? kNan : std::pow(2.0, static_cast<int>(code) - 127);
  const bool negative = (code >> (e + m)) & 1;
  const uint32_t exponent = (code >> m) & ((1u << e) - 1), mantissa = code & ((1u << m) - 1);
  const uint32_t last = (1u << e) - 1;
  if (format.top == Top::kInfinityAndNan && exponent == last)
    return mantissa != 0 ? kNan : negative ? -kInf : kInf;
  if (format.top == Top::kOneNan && exponent == last && mantissa == (1u << m) - 1) return kNan;
  if (format.top == Top::kNanIsMinusZero && negative && exponent == 0 && mantissa == 0) return kNan;
  const double fraction = mantissa / std::pow(2.0, m);
  const double value = exponent == 0
                           ? fraction * std::pow(2.0, 1 - format.bias)
                           : (1 + fraction) * std::pow(2.0, static_cast<int>(exponent) - format.bias);
  return negative ? -value : value;
}

struct Table {
  std::vector<double> values;      // By code.
  std::vector<double> magnitudes;  // Finite values from zero up, by code, and one step beyond the largest.
  uint32_t sign = 0, nan = 0, above = 0;  // Codes of the sign bit, of a NaN, and of the result of overflow.
};

const Table& TableOf(PrimitiveType type) {
  static auto* const tables = new std::map<PrimitiveType, Table>;
  Table& table = (*tables)[type];
  if (!table.values.empty()) return table;
  const Format& format = Formats().at(type);
  const int magnitude_bits = format.exponent_bits + format.mantissa_bits;
  const bool scale = format.top == Top::kScale;
  for (uint32_t code = 0; code < (1u << (magnitude_bits + !scale)); ++code)
    table.values.push_back(Decode(format, code));
  for (uint32_t code = 0; code < (1u << magnitude_bits) && std::isfinite(table.values[code]); ++code) {
    table.magnitudes.push_back(table.values[code]);
  }
  const size_t n = table.magnitudes.size();
  table.magnitudes.push_back(scale ? 2 * table.magnitudes[n - 1]
                                   : 2 * table.magnitudes[n - 1] - table.magnitudes[n - 2]);
  table.sign = scale ? 0 : 1u << magnitude_bits;
  switch (format.top) {
    case Top::kInfinityAndNan:
      table.above = static_cast<uint32_t>(n);
      table.nan = static_cast<uint32_t>(n) + (1u << (format.mantissa_bits - 1));
      break;
    case Top::kOneNan:
    case Top::kScale:
      table.above = table.nan = static_cast<uint32_t>(n);
      break;
    case Top::kNanIsMinusZero:
      table.above = table.nan = table.sign;
      break;
    case Top::kNothing:
      table.above = static_cast<uint32_t>(n) - 1;
      table.nan = table.sign;
      break;
  }
  return table;
}

uint64_t Encode(PrimitiveType type, double value) {
  const Table& table = TableOf(type);
  const Top top = Formats().at(type).top;
  if (std::isnan(value)) return table.nan;
  if (top == Top::kScale && value <= 0) return table.nan;
  const uint32_t sign = std::signbit(value) && table.sign != 0 ? table.sign : 0;
  const double magnitude = std::fabs(value);
  const std::vector<double>& all = table.magnitudes;
  const auto signed_code = [&](uint32_t code) -> uint32_t {
    if (code == table.sign) return code;  // In formats without minus zero this code is the NaN.
    if (code == 0 && top == Top::kNanIsMinusZero) return 0;
    return code | sign;
  };
  const size_t above = std::lower_bound(all.begin(), all.end(), magnitude) - all.begin();
  if (above >= all.size()) return signed_code(table.above);
  size_t code = above;
  if (all[above] != magnitude && above > 0) {
    const double down = magnitude - all[above - 1], up = all[above] - magnitude;
    if (down < up || (down == up && above % 2 == 1)) code = above - 1;
  }
  return signed_code(code + 1 == all.size() ? table.above : static_cast<uint32_t>(code));
}

int64_t Components(const Shape& shape) {
  return shape.NumElements() * (IsComplex(shape.element_type()) ? 2 : 1);
}

int64_t ComponentWidth(PrimitiveType type) { return ByteWidth(type) / (IsComplex(type) ? 2 : 1); }

}  // namespace

const std::vector<PrimitiveType>& IntTypes() {
  static const auto* const types =
      new std::vector<PrimitiveType>{xla::S2, xla::S4, xla::S8, xla::S16, xla::S32, xla::S64,
                                     xla::U2, xla::U4, xla::U8, xla::U16, xla::U32, xla::U64};
  return *types;
}

const std::vector<PrimitiveType>& FloatTypes() {
  static const auto* const types = [] {
    auto* all = new std::vector<PrimitiveType>;
    for (const auto& [type, format] : Formats()) all->push_back(type);
    all->push_back(xla::F32);
    all->push_back(xla::F64);
    return all;
  }();
  return *types;
}

const std::vector<PrimitiveType>& ComplexTypes() {
  static const auto* const types = new std::vector<PrimitiveType>{xla::C64, xla::C128};
  return *types;
}

const std::vector<PrimitiveType>& AllTypes() {
  static const auto* const types = [] {
    auto* all = new std::vector<PrimitiveType>{xla::PRED};
    for (const auto* some : {&IntTypes(), &FloatTypes(), &ComplexTypes()})
      all->insert(all->end(), some->begin(), some->end());
    return all;
  }();
  return *types;
}

std::string TypedShape(PrimitiveType type, absl::Span<const int64_t> dims) {
  return absl::StrCat(TypeName(type), "[", absl::StrJoin(dims, ","), "]");
}

uint64_t BitsAt(const Literal& literal, int64_t i) {
  const PrimitiveType type = literal.shape().element_type();
  const int64_t width = ComponentWidth(type);
  TOROID_CHECK(i >= 0 && i < Components(literal.shape()));
  uint64_t bits = 0;
  std::memcpy(&bits, literal.bytes() + i * width, width);
  const int64_t significant = BitWidth(type);
  return significant < 8 ? bits & ((1u << significant) - 1) : bits;
}

void SetBits(Literal* literal, int64_t i, uint64_t bits) {
  const PrimitiveType type = literal->shape().element_type();
  const int64_t width = ComponentWidth(type), significant = BitWidth(type);
  if (IsSignedInt(type) && significant < 8 && (bits >> (significant - 1)) & 1) bits |= 0xFFu << significant;
  std::memcpy(literal->mutable_bytes() + i * width, &bits, width);
}

__int128 IntOfBits(PrimitiveType type, uint64_t bits) {
  const int64_t width = BitWidth(type);
  if (IsSignedInt(type) && (bits >> (width - 1)) & 1)
    return static_cast<__int128>(bits) - (static_cast<__int128>(1) << width);
  return bits;
}

uint64_t BitsOfInt(PrimitiveType type, __int128 value) {
  const int64_t width = BitWidth(type);
  const uint64_t bits = static_cast<uint64_t>(static_cast<unsigned __int128>(value));
  return width == 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}

double FloatOfBits(PrimitiveType type, uint64_t bits) {
  if (type == xla::F64 || type == xla::C128) {
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  if (type == xla::F32 || type == xla::C64) {
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  return TableOf(type).values[bits];
}

uint64_t BitsOfFloat(PrimitiveType type, double value) {
  uint64_t bits = 0;
  if (type == xla::F64 || type == xla::C128) {
    std::memcpy(&bits, &value, sizeof(value));
    return bits;
  }
  if (type == xla::F32 || type == xla::C64) {
    const float single = static_cast<float>(value);
    std::memcpy(&bits, &single, sizeof(single));
    return bits;
  }
  return Encode(type, value);
}

Literal RandomArray(PrimitiveType type, absl::Span<const int64_t> dims, std::mt19937_64& random,
                    bool specials) {
  Literal literal(Shape(type, dims));
  static constexpr double kSpecials[] = {0.0,   -0.0,    kInf, -kInf, kNan, 1,     -1,
                                         1e-40, -1e-310, 1e30, 0.5,   -2.5, 3.4e38};
  for (int64_t i = 0; i < Components(literal.shape()); ++i) {
    if (type == xla::PRED) {
      SetBits(&literal, i, random() & 1);
    } else if (IsInt(type)) {
      static constexpr uint64_t kEnds[] = {0, 1, ~uint64_t{0}, uint64_t{1} << 63, ~(uint64_t{1} << 63)};
      uint64_t bits = random() % 3 == 0 ? kEnds[random() % 5] : random() >> (random() % 64);
      // An extreme of a narrower width.
      if (bits >> 63 && BitWidth(type) < 64) bits = bits >> (64 - BitWidth(type));
      SetBits(&literal, i, BitsOfInt(type, bits));
    } else if (specials && random() % 4 == 0) {
      SetBits(&literal, i, BitsOfFloat(type, kSpecials[random() % std::size(kSpecials)]));
    } else {
      const double value = static_cast<double>(random() >> 11) * 0x1p-50 - 4;
      SetBits(&literal, i, BitsOfFloat(type, type == xla::F8E8M0FNU ? std::fabs(value) + 0.1 : value));
    }
  }
  return literal;
}

Literal RandomSmall(PrimitiveType type, absl::Span<const int64_t> dims, std::mt19937_64& random, int low,
                    int high) {
  Literal literal(Shape(type, dims));
  for (int64_t i = 0; i < Components(literal.shape()); ++i) {
    const int value = low + static_cast<int>(random() % static_cast<uint64_t>(high - low + 1));
    if (IsInt(type) || type == xla::PRED) {
      SetBits(&literal, i, type == xla::PRED ? value != low : BitsOfInt(type, value));
    } else {
      SetBits(&literal, i,
              BitsOfFloat(type, type == xla::F8E8M0FNU ? std::ldexp(1.0, std::abs(value)) : value));
    }
  }
  return literal;
}

bool IsNear(PrimitiveType type, uint64_t bits, double expected, int steps, double relative) {
  const uint64_t wanted = BitsOfFloat(type, expected);
  const double got = FloatOfBits(type, bits), rounded = FloatOfBits(type, wanted);
  if (std::isnan(rounded) || std::isnan(got)) return std::isnan(rounded) && std::isnan(got);
  if (bits == wanted) return true;
  if (got == rounded && (steps > 0 || relative > 0)) return true;  // Zeros of either sign.
  if (Formats().count(type) == 0) {
    return relative > 0 && std::isfinite(got) && std::isfinite(rounded) &&
           std::fabs(got - rounded) <= relative * std::max(std::fabs(rounded), 1e-30);
  }
  const uint64_t sign = TableOf(type).sign;
  return steps > 0 && (bits & sign) == (wanted & sign) &&
         std::max(bits, wanted) - std::min(bits, wanted) <= static_cast<uint64_t>(steps);
}

}  // namespace toroid
