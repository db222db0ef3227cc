// Functions of single floats without branches, so that loops of them are vectorized.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace toroid {

// e^x in float without branches, so that loops of it are vectorized; error below 2 units in the last place.
//   x = n ln 2 + r, |r| <= ln(2) / 2, e^x = 2^n * e^r with e^r = 1 + r + r^2 * polynomial(r)
// Source: coefficients of expf in the Cephes library (Moshier).
inline float ExpOfFloat(float x) {
  // Beyond these the result is 0 or infinite; NaN passes through.
  const float bounded = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x;
  // Adding 1.5 * 2^23 rounds to an integer, which is then in the low bits.
  constexpr float kRound = 12582912.0f;
  const float rounded = bounded * 1.44269504088896341f + kRound;
  const float n = rounded - kRound;
  const float r = (bounded - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  const float y = p * (r * r) + r + 1.0f;
  // 2^n in two factors, each a normal number.
  const int32_t exponent =
      static_cast<int32_t>(std::bit_cast<uint32_t>(rounded) - std::bit_cast<uint32_t>(kRound));
  const int32_t half = exponent >> 1;
  const float first = std::bit_cast<float>((static_cast<uint32_t>(half) + 127u) << 23);
  const float second =
      std::bit_cast<float>((static_cast<uint32_t>(exponent) - static_cast<uint32_t>(half) + 127u) << 23);
  return y * first * second;
}

// tanh |x| = |x| + |x|^3 * polynomial(x^2) below 0.625, 1 - 2 / (e^2|x| + 1) above.
// Source: coefficients of tanhf in the Cephes library (Moshier).
inline float TanhOfFloat(float x) {
  const float a = std::fabs(x), z = a * a;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float small = p * z * a + a;
  const float large = 1.0f - 2.0f / (ExpOfFloat(2.0f * a) + 1.0f);
  return std::copysign(a < 0.625f ? small : large, x);
}

// ln x; error below 1 unit in the last place.
//   x = 2^e (1 + m), sqrt(1/2) <= 1 + m < sqrt(2), ln x = e ln 2 + m - m^2 / 2 + m^3 * polynomial(m)
// Source: coefficients of logf in the Cephes library (Moshier).
inline float LogOfFloat(float x) {
  constexpr float kLeastNormal = std::numeric_limits<float>::min(),
                  kInfinity = std::numeric_limits<float>::infinity();
  const bool denormal = x < kLeastNormal;
  const uint32_t bits = std::bit_cast<uint32_t>(denormal ? x * 33554432.0f : x);
  // The exponent that leaves a factor between sqrt(1/2) and sqrt(2): 0x3F3504F3 are the bits of sqrt(1/2).
  const int32_t exponent = static_cast<int32_t>(bits - 0x3F3504F3u) >> 23;
  const float m = std::bit_cast<float>(bits - (static_cast<uint32_t>(exponent) << 23)) - 1.0f;
  const float e = static_cast<float>(exponent) - (denormal ? 25.0f : 0.0f), z = m * m;
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  const float low = p * m * z - 2.12194440e-4f * e - 0.5f * z;
  const float y = (m + low) + 0.693359375f * e;
  const float ends = x == 0 ? -kInfinity : x < 0 ? std::numeric_limits<float>::quiet_NaN() : x;
  return x > 0 && x < kInfinity ? y : ends;
}

// ln(1 + x); error below 2 units in the last place. With u = 1 + x rounded, ln(1 + x) = ln u + (x - (u - 1)) / u.
inline float Log1pOfFloat(float x) {
  const float u = 1.0f + x;
  const float y = LogOfFloat(u) + (x - (u - 1.0f)) / u;
  // The quotient is not a number at the ends.
  const float ends = u == 1.0f ? x : LogOfFloat(u);
  return u == 1.0f || !(u > 0) || u > std::numeric_limits<float>::max() ? ends : y;
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
