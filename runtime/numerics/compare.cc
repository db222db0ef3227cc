#include "runtime/numerics/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/ir/native_types.h"

namespace toroid {
namespace {

template <typename T>
struct IsComplexNumber : std::false_type {};
template <typename R>
struct IsComplexNumber<std::complex<R>> : std::true_type {};

std::string IndexText(const Shape& shape, int64_t i) {
  std::vector<int64_t> index(shape.rank());
  for (int d = shape.rank() - 1; d >= 0; --d) {
    index[d] = i % shape.dim(d);
    i /= shape.dim(d);
  }
  return absl::StrCat("[", absl::StrJoin(index, ","), "]");
}

template <typename T>
std::string ValueText(T value) {
  if constexpr (IsComplexNumber<T>::value) {
    return absl::StrCat("(", value.real(), ", ", value.imag(), ")");
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_arithmetic_v<T>) {
    return absl::StrCat(value);
  } else {
    return absl::StrCat(static_cast<double>(static_cast<float>(value)));
  }
}

// The real components of elements: one, or two of a complex number.
template <typename T>
std::array<double, 2> Components(T value) {
  if constexpr (IsComplexNumber<T>::value) {
    return {static_cast<double>(value.real()), static_cast<double>(value.imag())};
  } else if constexpr (std::is_same_v<T, double>) {
    return {value, 0};
  } else {
    return {static_cast<double>(static_cast<float>(value)), 0};
  }
}

// Whether both are infinite or NaN alike; `finite` says that neither is.
bool SameNonFinite(double a, double b, bool* finite) {
  *finite = std::isfinite(a) && std::isfinite(b);
  return *finite || (std::isnan(a) && std::isnan(b)) || a == b;
}

template <typename T>
void CompareFloats(const Shape& shape, const T* a, const T* b, double tolerance, ArrayComparison* result) {
  const int64_t n = shape.NumElements();
  double scale = 0;
  int64_t worst = -1, mismatch = -1;
  for (int64_t i = 0; i < n; ++i) {
    const auto x = Components(a[i]), y = Components(b[i]);
    for (int c = 0; c < 2; ++c) {
      bool finite;
      if (!SameNonFinite(x[c], y[c], &finite) && mismatch < 0) mismatch = i;
      if (std::isfinite(y[c])) scale = std::max(scale, std::fabs(y[c]));
      if (!finite) continue;
      const double error = std::fabs(x[c] - y[c]);
      if (error > result->max_abs_error) {
        result->max_abs_error = error;
        worst = i;
      }
    }
  }
  result->max_rel_error = scale > 0 ? result->max_abs_error / scale : result->max_abs_error;
  if (mismatch < 0 && result->max_rel_error > tolerance) mismatch = worst;
  if (mismatch < 0) return;
  result->equal = false;
  result->difference = absl::StrCat(IndexText(shape, mismatch), ": ", ValueText(a[mismatch]), " instead of ",
                                    ValueText(b[mismatch]));
}

template <typename T>
void CompareExactly(const Shape& shape, const T* a, const T* b, ArrayComparison* result) {
  for (int64_t i = 0; i < shape.NumElements(); ++i) {
    const double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    if (a[i] == b[i]) continue;
    result->max_abs_error = std::max(result->max_abs_error, std::fabs(x - y));
    result->max_rel_error =
        std::max(result->max_rel_error, y != 0 ? std::fabs(x - y) / std::fabs(y) : std::fabs(x));
    if (!result->equal) continue;
    result->equal = false;
    result->difference =
        absl::StrCat(IndexText(shape, i), ": ", ValueText(a[i]), " instead of ", ValueText(b[i]));
  }
}

ArrayComparison CompareArrays(const Literal& actual, const Literal& expected,
                              std::optional<double> tolerance) {
  ArrayComparison result;
  const Shape& shape = expected.shape();
  VisitArrayType(
      shape.element_type(),
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        const T* a = actual.data<T>().data();
        const T* b = expected.data<T>().data();
        const PrimitiveType type = shape.element_type();
        if constexpr (std::is_integral_v<T>) {
          CompareExactly(shape, a, b, &result);
        } else if (IsInt(type)) {
          if constexpr (!IsComplexNumber<T>::value) CompareExactly(shape, a, b, &result);
        } else {
          CompareFloats(shape, a, b, tolerance.value_or(Tolerance(type)), &result);
        }
        return 0;
      },
      0);
  return result;
}

// `tolerances`: one for all leaves, or one for each; the types say where there is none.
void CompareInto(const Literal& actual, const Literal& expected, absl::Span<const double> tolerances,
                 Comparison* comparison) {
  const bool tuples = actual.shape().IsTuple() && expected.shape().IsTuple();
  if (tuples && actual.elements().size() == expected.elements().size()) {
    for (size_t i = 0; i < expected.elements().size(); ++i) {
      CompareInto(actual.element(i), expected.element(i), tolerances, comparison);
    }
    return;
  }
  ArrayComparison array;
  if (!actual.shape().Compatible(expected.shape())) {
    array.equal = false;
    array.difference =
        absl::StrCat("shape ", actual.shape().ToString(), " instead of ", expected.shape().ToString());
  } else if (expected.shape().IsArray()) {
    const size_t leaf = tolerances.size() == 1 ? 0 : comparison->outputs.size();
    array = CompareArrays(actual, expected,
                          leaf < tolerances.size() ? std::optional<double>(tolerances[leaf]) : std::nullopt);
  } else {
    return;
  }
  comparison->equal &= array.equal;
  comparison->max_abs_error = std::max(comparison->max_abs_error, array.max_abs_error);
  comparison->max_rel_error = std::max(comparison->max_rel_error, array.max_rel_error);
  comparison->outputs.push_back(std::move(array));
}

template <typename T>
bool SameBitsOrNan(T a, T b) {
  if constexpr (IsComplexNumber<T>::value) {
    return SameBitsOrNan(a.real(), b.real()) && SameBitsOrNan(a.imag(), b.imag());
  } else {
    return std::memcmp(&a, &b, sizeof(T)) == 0 || (a != a && b != b);
  }
}

template <typename T>
int64_t CountNonfinite(absl::Span<const T> values) {
  int64_t count = 0;
  for (const T& value : values) {
    const auto parts = Components(value);
    count += !std::isfinite(parts[0]) || !std::isfinite(parts[1]);
  }
  return count;
}

void AppendShares(const Literal& literal, std::vector<double>* shares) {
  for (const Literal& element : literal.elements()) AppendShares(element, shares);
  const Shape& shape = literal.shape();
  if (!shape.IsArray()) return;
  int64_t count = 0;
  if (IsFloat(shape.element_type()) || IsComplex(shape.element_type())) {
    count = VisitArrayType(
        shape.element_type(),
        [&](auto tag) -> int64_t {
          using T = typename decltype(tag)::type;
          if constexpr (std::is_integral_v<T>) {
            return 0;
          } else {
            return CountNonfinite(literal.data<T>());
          }
        },
        int64_t{0});
  }
  shares->push_back(static_cast<double>(count) /
                    static_cast<double>(std::max<int64_t>(1, shape.NumElements())));
}

}  // namespace

double Tolerance(PrimitiveType type) {
  switch (type) {
    case xla::F64:
    case xla::C128:
      return 1e-12;
    case xla::F32:
    case xla::C64:
      return 1e-5;
    case xla::F16:
      return 4e-3;
    case xla::BF16:
      return 2e-2;
    // One step is 2^-mantissa bits of the value.
    case xla::F8E3M4:
      return 1.0 / 16;
    case xla::F8E4M3:
    case xla::F8E4M3FN:
    case xla::F8E4M3FNUZ:
    case xla::F8E4M3B11FNUZ:
    case xla::F6E2M3FN:
      return 1.0 / 8;
    case xla::F8E5M2:
    case xla::F8E5M2FNUZ:
    case xla::F6E3M2FN:
      return 1.0 / 4;
    case xla::F4E2M1FN:
      return 1.0 / 2;
    case xla::F8E8M0FNU:
      return 1;
    default:
      return 0;
  }
}

Comparison Compare(const Literal& actual, const Literal& expected, std::optional<double> tolerance) {
  const double given = tolerance.value_or(0);
  return Compare(actual, expected, absl::MakeConstSpan(&given, tolerance.has_value() ? 1 : 0));
}

Comparison Compare(const Literal& actual, const Literal& expected, absl::Span<const double> tolerances) {
  Comparison comparison;
  CompareInto(actual, expected, tolerances, &comparison);
  return comparison;
}

std::optional<int64_t> FirstOtherElement(const Literal& a, const Literal& b) {
  return VisitArrayType(
      a.shape().element_type(),
      [&](auto tag) -> std::optional<int64_t> {
        using T = typename decltype(tag)::type;
        const absl::Span<const T> x = a.data<T>(), y = b.data<T>();
        const auto [first, other] = std::mismatch(x.begin(), x.end(), y.begin(), SameBitsOrNan<T>);
        if (first == x.end()) return std::nullopt;
        return first - x.begin();
      },
      std::optional<int64_t>());
}

bool SameBits(const Literal& a, const Literal& b) {
  if (!a.shape().Compatible(b.shape())) return false;
  if (a.shape().IsTuple())
    return std::equal(a.elements().begin(), a.elements().end(), b.elements().begin(), SameBits);
  const int64_t bytes = a.shape().IsArray() ? a.shape().ByteSize() : 0;
  if (bytes == 0 || std::memcmp(a.bytes(), b.bytes(), bytes) == 0) return true;
  const int64_t values = a.shape().NumElements() * ByteWidth(a.shape().element_type());
  return std::memcmp(a.bytes() + values, b.bytes() + values, bytes - values) == 0 &&  // Run-time sizes.
         !FirstOtherElement(a, b).has_value();
}

std::vector<double> NonfiniteShares(const Literal& literal) {
  std::vector<double> shares;
  AppendShares(literal, &shares);
  return shares;
}

}  // namespace toroid
