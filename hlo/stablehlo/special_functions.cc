#include "hlo/stablehlo/special_functions.h"

#include <cmath>
#include <limits>

#include "absl/types/span.h"

namespace toroid {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Horner's rule; the coefficient of the highest power first.
Value Polynomial(InstructionBuilder& b, Value x, absl::Span<const double> coefficients) {
  Value sum = b.FullLike(x, coefficients[0]);
  for (const double coefficient : coefficients.subspan(1)) sum = b.AddNumber(b.Multiply(sum, x), coefficient);
  return sum;
}

// Parts of Lanczos' approximation at z = x - 1, or -x where the reflection is used.
struct Lanczos {
  static constexpr double kG = 7;
  Value reflect, z, sum, derivative, t, log_t;
};

Lanczos LanczosOf(InstructionBuilder& b, Value x) {
  static constexpr double kTerms[] = {676.520368121885098567009190444019, -1259.13921672240287047156078755283,
                                      771.3234287776530788486528258894,   -176.61502916214059906584551354,
                                      12.507343278686904814458936853,     -0.13857109526572011689554707,
                                      9.984369578019570859563e-6,         1.50563273514931155834e-7};
  Lanczos l;
  l.reflect = b.Compare(x, b.FullLike(x, 0.5), "LT");
  l.z = b.Select(l.reflect, b.Negate(x), b.AddNumber(x, -1));
  l.sum = b.FullLike(x, 0.99999999999980993227684700473478);
  l.derivative = b.FullLike(x, 0);
  for (int i = 0; i < 8; ++i) {
    const Value place = b.AddNumber(l.z, i + 1), term = b.Divide(b.FullLike(x, kTerms[i]), place);
    l.sum = b.Add(l.sum, term);
    l.derivative = b.Subtract(l.derivative, b.Divide(term, place));
  }
  l.t = b.AddNumber(l.z, Lanczos::kG + 0.5);
  l.log_t = b.AddNumber(b.Unary(Opcode::kLog1p, b.MultiplyNumber(l.z, 1 / (Lanczos::kG + 0.5))),
                        std::log(Lanczos::kG + 0.5));
  return l;
}

}  // namespace

Value Erfc(InstructionBuilder& b, Value x) {
  static constexpr double kErf[] = {7.853861353153693e-5,  -8.010193625184903e-4, 5.188327685732524e-3,
                                    -2.685381193529856e-2, 1.128358514861418e-1,  -3.761262582423300e-1,
                                    1.128379165726710};
  static constexpr double kNear[] = {2.326819970068386e-2,  -1.387039388740657e-1, 3.687424674597105e-1,
                                     -5.824733027278666e-1, 6.210004621745983e-1,  -4.944515323274145e-1,
                                     3.404879937665872e-1,  -2.741127028184656e-1, 5.638259427386472e-1};
  static constexpr double kFar[] = {-1.047766399936249e+1, 1.297719955372516e+1, -7.495518717768503,
                                    2.921019019210786,     -1.015265279202700,   4.218463358204948e-1,
                                    -2.820767439740514e-1, 5.641895067754075e-1};
  const Value one = b.FullLike(x, 1), zero = b.FullLike(x, 0), size = b.Unary(Opcode::kAbs, x);
  const Value square = b.Multiply(x, x), exponent = b.Negate(square), inverse = b.Divide(one, square);
  const Value inner = b.Subtract(one, b.Multiply(x, Polynomial(b, square, kErf)));
  const Value scale = b.Multiply(b.Exp(exponent), b.Divide(one, size));
  const Value near = b.Compare(size, b.FullLike(x, 2), "LT");
  const Value tail =
      b.Multiply(scale, b.Select(near, Polynomial(b, inverse, kNear), Polynomial(b, inverse, kFar)));
  // e^-88.7 is the smallest power that f32 holds.
  const Value positive = b.Select(b.Compare(exponent, b.FullLike(x, -88.7228391), "LT"), zero, tail);
  const Value outer = b.Select(b.Compare(x, zero, "LT"), b.Subtract(b.FullLike(x, 2), positive), positive);
  return b.Select(b.Compare(size, one, "LT"), inner, outer);
}

Value ErfInv(InstructionBuilder& b, Value x) {
  static constexpr double kCentral[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                        -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                        -0.00417768164,  0.246640727,    1.50140941};
  static constexpr double kTail[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                                     -0.00367342844,  0.00573950773,  -0.0076224613,
                                     0.00943887047,   1.00167406,     2.83297682};
  const Value w = b.Negate(b.Unary(Opcode::kLog1p, b.Multiply(x, b.Negate(x))));
  const Value central = b.Compare(w, b.FullLike(w, 5), "LT");
  const Value t = b.Select(central, b.AddNumber(w, -2.5), b.AddNumber(b.Unary(Opcode::kSqrt, w), -3));
  Value p = b.Select(central, b.FullLike(w, kCentral[0]), b.FullLike(w, kTail[0]));
  for (int i = 1; i < 9; ++i) {
    p = b.Add(b.Select(central, b.FullLike(w, kCentral[i]), b.FullLike(w, kTail[i])), b.Multiply(p, t));
  }
  const Value end = b.Compare(b.Unary(Opcode::kAbs, x), b.FullLike(x, 1), "EQ");
  return b.Select(end, b.MultiplyNumber(x, kInfinity), b.Multiply(p, x));
}

Value LogGamma(InstructionBuilder& b, Value x) {
  const Lanczos l = LanczosOf(b, x);
  const Value power = b.Multiply(b.Subtract(b.AddNumber(l.z, 0.5), b.Divide(l.t, l.log_t)), l.log_t);
  const Value direct = b.Add(b.AddNumber(power, 0.5 * std::log(2 * kPi)), b.Log(l.sum));
  const Value size = b.Unary(Opcode::kAbs, x), fraction = b.Subtract(size, b.Unary(Opcode::kFloor, size));
  const Value half = b.Compare(fraction, b.FullLike(x, 0.5), "GT");
  const Value reduced = b.Select(half, b.Subtract(b.FullLike(x, 1), fraction), fraction);
  const Value sine = b.Log(b.Unary(Opcode::kSin, b.MultiplyNumber(reduced, kPi)));
  const Value finite = b.Op(Opcode::kIsFinite, Shape(xla::PRED, x->shape().dims()), {sine});
  const Value difference = b.Subtract(b.AddNumber(b.Negate(sine), std::log(kPi)), direct);
  const Value reflected = b.Select(finite, difference, b.Negate(sine));
  const Value infinite = b.Compare(size, b.FullLike(x, kInfinity), "EQ");
  return b.Select(infinite, b.FullLike(x, kInfinity), b.Select(l.reflect, reflected, direct));
}

Value Digamma(InstructionBuilder& b, Value x) {
  const Lanczos l = LanczosOf(b, x);
  const Value direct =
      b.Subtract(b.Add(l.log_t, b.Divide(l.derivative, l.sum)), b.Divide(b.FullLike(x, Lanczos::kG), l.t));
  const Value whole = b.Unary(Opcode::kAbs, b.Unary(Opcode::kFloor, b.AddNumber(x, 0.5)));
  const Value angle = b.MultiplyNumber(b.Add(x, whole), kPi);
  const Value cotangent = b.Divide(b.Unary(Opcode::kCos, angle), b.Unary(Opcode::kSin, angle));
  const Value reflected = b.Subtract(direct, b.MultiplyNumber(cotangent, kPi));
  const Value pole =
      b.And(b.Compare(x, b.FullLike(x, 0), "LE"), b.Compare(x, b.Unary(Opcode::kFloor, x), "EQ"));
  const Value nan = b.FullLike(x, std::numeric_limits<double>::quiet_NaN());
  return b.Select(pole, nan, b.Select(l.reflect, reflected, direct));
}

}  // namespace toroid
