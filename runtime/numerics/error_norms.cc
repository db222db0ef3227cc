#include "runtime/numerics/error_norms.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "hlo/base/status.h"
#include "hlo/ir/native_types.h"
#include "runtime/numerics/promote.h"

namespace toroid {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// |a - b|, where NaN and equal infinities are no error.
double Distance(double exact, double value) {
  if (std::isfinite(exact) && std::isfinite(value)) return std::fabs(value - exact);
  const bool alike = (std::isnan(exact) && std::isnan(value)) || exact == value;
  return alike ? 0 : kInfinity;
}
double Distance(std::complex<double> exact, std::complex<double> value) {
  return std::hypot(Distance(exact.real(), value.real()), Distance(exact.imag(), value.imag()));
}
template <typename T>
double Distance(T exact, T value) {
  if (exact == value) return 0;
  return std::max(1.0, std::fabs(static_cast<double>(value) - static_cast<double>(exact)));
}

// Sums squares relative to the largest addend, so that none overflows.
class SquareSum {
 public:
  void Add(double value) {
    ++count_;
    if (value == 0) return;
    if (value > largest_) {
      sum_ = std::isfinite(value) ? sum_ * (largest_ / value) * (largest_ / value) + 1 : 1;
      largest_ = value;
    } else {
      sum_ += std::isfinite(largest_) ? (value / largest_) * (value / largest_) : 0;
    }
  }
  double Rms() const { return count_ == 0 ? 0 : largest_ * std::sqrt(sum_ / static_cast<double>(count_)); }
  double Largest() const { return largest_; }

 private:
  double largest_ = 0, sum_ = 0;
  int64_t count_ = 0;
};

ErrorNorms ErrorsOfArray(const Literal& exact, const Literal& value) {
  SquareSum errors, magnitudes;
  VisitArrayType(
      exact.shape().element_type(),
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_integral_v<T> || std::is_same_v<T, double> ||
                      std::is_same_v<T, std::complex<double>>) {
          const absl::Span<const T> x = exact.data<T>(), y = value.data<T>();
          for (size_t i = 0; i < x.size(); ++i) {
            errors.Add(Distance(x[i], y[i]));
            const double magnitude = static_cast<double>(std::abs(std::complex<double>(x[i])));
            if (std::isfinite(magnitude)) magnitudes.Add(magnitude);
          }
        } else if constexpr (std::is_constructible_v<double, T>) {  // Integers of a few bits.
          for (int64_t i = 0; i < exact.shape().NumElements(); ++i) {
            const double x = static_cast<double>(exact.data<T>()[i]);
            errors.Add(Distance(x, static_cast<double>(value.data<T>()[i])));
            magnitudes.Add(std::fabs(x));
          }
        }
        return 0;
      },
      0);
  return {errors.Rms(), errors.Largest(), magnitudes.Rms(), magnitudes.Largest(),
          exact.shape().NumElements()};
}

void AppendErrors(const Literal& exact, const Literal& value, std::vector<ErrorNorms>* errors) {
  TOROID_CHECK(exact.elements().size() == value.elements().size());
  for (size_t i = 0; i < exact.elements().size(); ++i) {
    AppendErrors(exact.element(static_cast<int>(i)), value.element(static_cast<int>(i)), errors);
  }
  if (exact.shape().IsArray()) errors->push_back(ErrorsOfArray(exact, PromotedLiteral(value)));
}

double Ratio(double error, double yardstick) {
  if (error == 0) return 0;
  return error == yardstick ? 1 : error / yardstick;
}

}  // namespace

std::vector<ErrorNorms> ErrorsFrom(const Literal& exact, const Literal& value) {
  std::vector<ErrorNorms> errors;
  AppendErrors(exact, value, &errors);
  return errors;
}

RelativeErrors Relative(const ErrorNorms& errors) {
  return {errors.exact_rms > 0 ? errors.rms / errors.exact_rms : errors.rms,
          errors.exact_max > 0 ? errors.max / errors.exact_max : errors.max};
}

double TimesAsFar(const RelativeErrors& errors, const RelativeErrors& yardstick, double floor) {
  return std::max(Ratio(errors.rms, std::max(yardstick.rms, floor)),
                  Ratio(errors.max, std::max(yardstick.max, floor)));
}

}  // namespace toroid
