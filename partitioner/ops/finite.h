// Which values constants of the program make infinite, NaN or zero.
//
// A partial sum may be multiplied term by term, (a + b) c = a c + b c, only while c is finite: if c is
// infinite and a and b have opposite signs, a c and b c are infinities of opposite signs and add up to NaN,
// but (a + b) c is infinite.
#pragma once

#include "hlo/ir/instruction.h"
#include "partitioner/ops/sharding_rule.h"

namespace toroid {

// True if a short chain of ops shows that some element of a value may be infinite or NaN: the chain starts at
// a constant that holds such an element, or at a division by a constant that holds a zero (or its reciprocal
// square root or logarithm), and goes on through ops that move, select, negate, add or multiply elements.
// Values computed from arguments count as finite.
bool IsVisiblyNonFinite(const Instruction& value);

// True if `value` is a constant that holds a zero, or is made of one by a short chain of ops that move,
// select or negate elements.
bool IsVisiblyZero(const Instruction& value);

// Declares that `product`, a bilinear op of its first two operands, is linear in each of them whose
// counterpart is not visibly non-finite.
void AddLinearityOfProduct(const Instruction& product, ShardingRule* rule);

}  // namespace toroid
