// Facts about a value being finite that follow from the program alone.
//
// A sum may be multiplied term by term, (a + b) c = a c + b c, only while c is finite: with c infinite, terms
// of opposite signs give infinities of opposite signs, whose sum is NaN where the whole product is infinite.
#ifndef TOROID_PARTITIONER_OPS_FINITE_H_
#define TOROID_PARTITIONER_OPS_FINITE_H_

#include "hlo/ir/instruction.h"
#include "partitioner/ops/sharding_rule.h"

namespace toroid {

// True if some element of a value may be seen to be infinite or NaN: it comes from a constant that holds one,
// or from a division by a constant that holds zero (so does its reciprocal square root or logarithm), by way
// of ops that move, select, scale or combine. Values that are computed from arguments count as finite.
bool IsVisiblyNonFinite(const Instruction& value);

// True if `value` is a constant with a zero in it, by way of ops that move or select.
bool IsVisiblyZero(const Instruction& value);

// `product`, a product of its two operands in any sense, is linear in either, unless the other is seen to hold
// infinities.
void AddLinearityOfProduct(const Instruction& product, ShardingRule* rule);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_FINITE_H_
