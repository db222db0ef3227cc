// The precision that results of a program have at best.
//
//   p = f32[4] parameter(0)
//   b = bf16[4] convert(p)
//   c = bf16[4] multiply(b, b)      =>   output 0 is f32, but rounded to bf16 on its way
//   ROOT r = f32[4] convert(c)
#pragma once

#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

// Per array leaf of the result, in pre-order: the narrowest float type to which a value is rounded on the way
// to it, through calls, branches and loops. Parameters, constants and ops that only move or pick values round
// nothing: a bf16 parameter that is converted to f32 at once gives F32. PRED where nothing is rounded.
std::vector<PrimitiveType> NarrowestFloats(const Module& module);

// The tolerance (compare.h) of each array leaf of the result: that of the narrowest float, 0 for integers and
// booleans.
std::vector<double> OutputTolerances(const Module& module);

}  // namespace toroid
