// Functions of single floats without branches, so that loops of them are vectorized. Those that are templates also make machine
// code (../native/vector_values.h), with the same bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace toroid {

// 32 bits as a whole number modulo 2^32.
struct WrappedInt {
  uint32_t bits;

  constexpr WrappedInt(uint32_t value) : bits(value) {}                        // NOLINT
  constexpr WrappedInt(int32_t value) : bits(static_cast<uint32_t>(value)) {}  // NOLINT
};
inline WrappedInt operator+(WrappedInt a, WrappedInt b) { return a.bits + b.bits; }
inline WrappedInt operator-(WrappedInt a, WrappedInt b) { return a.bits - b.bits; }
inline WrappedInt operator<<(WrappedInt a, int bits) { return a.bits << bits; }
// Keeps the sign.
inline WrappedInt operator>>(WrappedInt a, int bits) { return static_cast<int32_t>(a.bits) >> bits; }

// What the functions below do with a float; vector_values.h has the same for the values of machine code.
inline WrappedInt BitsOf(float x) { return std::bit_cast<uint32_t>(x); }
inline float FloatOfBits(WrappedInt x) { return std::bit_cast<float>(x.bits); }
inline float ToFloat(WrappedInt x) { return static_cast<float>(static_cast<int32_t>(x.bits)); }
inline float Choose(bool condition, float on_true, float on_false) { return condition ? on_true : on_false; }
// The second operand if either is not a number, or both are zero.
inline float GreaterOrSecond(float a, float b) { return a > b ? a : b; }
inline float LesserOrSecond(float a, float b) { return a < b ? a : b; }
inline float Magnitude(float x) { return std::fabs(x); }
// The magnitude has no sign.
inline float PositiveWithSignOf(float magnitude, float sign) { return std::copysign(magnitude, sign); }

// e^x = fraction * 2^exponent, the fraction between 0.7 and 1.5.
template <typename F>
struct PowerOfE {
  F fraction;
  decltype(BitsOf(std::declval<F>())) exponent;
};

// For -104 <= x <= 89; the fraction of what is not a number is none either.
//   x = n ln 2 + r, |r| <= ln(2) / 2, e^x = 2^n * e^r with e^r = 1 + r + r^2 * polynomial(r)
// The polynomial makes the largest relative error of e^r least, 3.7e-9 with these coefficients of float (Lawson's iteration).
template <typename F>
PowerOfE<F> PowerOfEOf(F x) {
  // Adding 1.5 * 2^23 rounds to an integer, which is then in the low bits.
  constexpr float kRound = 12582912.0f;
  const F rounded = x * 1.44269504088896341f + kRound;
  const F n = rounded - kRound;
  const F r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  F p = r * 1.381458365e-3f + 8.368727751e-3f;
  p = p * r + 4.166838899e-2f;
  p = p * r + 1.666652113e-1f;
  p = p * r + 4.999999404e-1f;
  return {p * (r * r) + r + 1.0f, BitsOf(rounded) - std::bit_cast<uint32_t>(kRound)};
}

// e^x in float; error below 1 unit in the last place.
template <typename F>
F ExpOf(F x) {
  // Beyond these the result is 0 or infinite; NaN passes through.
  const PowerOfE<F> power = PowerOfEOf<F>(GreaterOrSecond(F(-104.0f), LesserOrSecond(F(89.0f), x)));
  // 2^n in two factors, each a normal number.
  const auto half = power.exponent >> 1;
  const F first = FloatOfBits((half + 127) << 23);
  const F second = FloatOfBits((power.exponent - half + 127) << 23);
  return power.fraction * first * second;
}

// tanh |x| = |x| + |x|^3 * polynomial(x^2) below 0.625, 1 - 2 / (e^2|x| + 1) above; error below 2 units in the last place.
// Source: coefficients of tanhf in the Cephes library (Moshier).
template <typename F>
F TanhOf(F x) {
  const F a = Magnitude(x), z = a * a;
  F p = z * -5.70498872745e-3f + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const F small = p * z * a + a;
  // From e^20 on the quotient is too small to change the 1.
  const PowerOfE<F> power = PowerOfEOf<F>(LesserOrSecond(F(20.0f), a + a));
  const F exponential = power.fraction * FloatOfBits((power.exponent + 127) << 23);
  const F large = F(1.0f) - F(2.0f) / (exponential + 1.0f);
  return PositiveWithSignOf(Choose(a < 0.625f, small, large), x);
}

// ln x; error below 1 unit in the last place.
//   x = 2^e (1 + m), sqrt(1/2) <= 1 + m < sqrt(2), ln x = e ln 2 + m - m^2 / 2 + m^3 * polynomial(m)
// Source: coefficients of logf in the Cephes library (Moshier).
template <typename F>
F LogOf(F x) {
  constexpr float kLeastNormal = std::numeric_limits<float>::min(),
                  kInfinity = std::numeric_limits<float>::infinity();
  const auto bits = BitsOf(Choose(x < kLeastNormal, x * 33554432.0f, x));
  // The exponent that leaves a factor between sqrt(1/2) and sqrt(2): 0x3F3504F3 are the bits of sqrt(1/2).
  const auto exponent = (bits - 0x3F3504F3u) >> 23;
  const F m = FloatOfBits(bits - (exponent << 23)) - 1.0f;
  const F e = ToFloat(exponent) - Choose(x < kLeastNormal, F(25.0f), F(0.0f)), z = m * m;
  F p = m * 7.0376836292e-2f - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  const F low = p * m * z - e * 2.12194440e-4f - z * 0.5f;
  const F y = (m + low) + e * 0.693359375f;
  const F below = Choose(x < 0.0f, F(std::numeric_limits<float>::quiet_NaN()), x);
  const F ends = Choose(x == 0.0f, F(-kInfinity), below);
  return Choose(x > 0.0f, Choose(x < kInfinity, y, ends), ends);
}

// ln(1 + x); error below 2 units in the last place. With u = 1 + x rounded, ln(1 + x) = ln u + (x - (u - 1)) / u.
template <typename F>
F Log1pOf(F x) {
  const F u = x + 1.0f;
  const F log = LogOf<F>(u), y = log + (x - (u - 1.0f)) / u;
  // The quotient is not a number at the ends.
  const F inside = Choose(u > 0.0f, Choose(u > std::numeric_limits<float>::max(), log, y), log);
  return Choose(u == 1.0f, x, inside);
}

template <typename F>
F LogisticOf(F x) {
  return F(1.0f) / (F(1.0f) + ExpOf<F>(-x));
}

// sin(x + quarters * pi / 2) for |x| up to kMostRadians, in double: error below 0.51 units in the last place of float.
//   x = n pi / 2 + r, |r| <= pi / 4, pi / 2 in two parts, the first of 33 bits; Taylor series of sine and cosine.
inline constexpr float kMostRadians = 1 << 20;
inline float SineOfFloat(float x, int64_t quarters) {
  constexpr double kRound =
      6755399441055744.0;  // Adding 1.5 * 2^52 rounds to an integer, which is then in the low bits.
  const double wide = x, rounded = wide * 0.63661977236758134308 + kRound, n = rounded - kRound;
  const double r = (wide - n * 1.57079632673412561417) - n * 6.07710050650619224932e-11, z = r * r;
  double sine = -2.50521083854417187751e-8;
  sine = sine * z + 2.75573192239858906526e-6;
  sine = sine * z - 1.98412698412698412698e-4;
  sine = sine * z + 8.33333333333333333333e-3;
  sine = sine * z - 1.66666666666666666667e-1;
  sine = sine * z * r + r;
  double cosine = 2.08767569878680989792e-9;
  cosine = cosine * z - 2.75573192239858906526e-7;
  cosine = cosine * z + 2.48015873015873015873e-5;
  cosine = cosine * z - 1.38888888888888888889e-3;
  cosine = cosine * z + 4.16666666666666666667e-2;
  cosine = cosine * z - 0.5;
  cosine = cosine * z + 1.0;
  const int64_t quarter = std::bit_cast<int64_t>(rounded) + quarters;
  const double y = (quarter & 1) != 0 ? cosine : sine;
  return static_cast<float>((quarter & 2) != 0 ? -y : y);
}

}  // namespace toroid
