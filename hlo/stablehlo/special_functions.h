// Functions that HLO has no operation for, as sums of simpler ones. Arguments are f32 (gamma functions also f64).
#pragma once

#include "hlo/builder/instruction_builder.h"

namespace toroid {

// 1 - erf(x), accurate relative to itself. Source: Cephes, erfcf: polynomials in x^2 for |x| < 1, in 1 / x^2 beyond.
Value Erfc(InstructionBuilder& b, Value x);

// y with erf(y) = x. Source: Giles, "Approximating the erfinv function" (GPU Computing Gems, 2011): polynomials in
// -log(1 - x^2).
Value ErfInv(InstructionBuilder& b, Value x);

// log |Gamma(x)|. Source: Lanczos' approximation with g = 7 and nine terms; Gamma(x) Gamma(1 - x) = pi / sin(pi x)
// for x < 1/2.
Value LogGamma(InstructionBuilder& b, Value x);

// The derivative of LogGamma.
Value Digamma(InstructionBuilder& b, Value x);

}  // namespace toroid
