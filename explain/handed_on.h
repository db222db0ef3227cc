// Which neighbour hands an axis on to a value, where several could: in the order in which a reader of the program, and Shardy,
// goes.
//
// What cuts the values is known; the axes of annotated values come first, and then go from value to value along the ops:
//
//   1. from constraints to what they constrain, and from results to what makes them
//   2. backward through ops that keep elements in place (elementwise ops, reshapes, transposes, dynamic slices and updates) and whose operands have no other use
//   3. through all that keep elements in place, in both directions
//   4. forward through all ops but broadcasts
//   5. through all ops in both directions, broadcasts backward alone
//   6. through all ops in both directions
//
// In each step ops are visited in program order; an op whose neighbour has got an axis is visited next.
// Example: n = w - g, where w is an argument, and the result n is annotated as w is: n has its axes by its own annotation, g
// has them from n. In h = x * s, where x and what h goes to are constrained alike, h has its axes from what it goes to.
// Source: the order is that of Shardy's propagation (jaxlib 0.10.2), as its dumps show it; tools/shardy_origins.py compares.
#pragma once

#include "partitioner/prepare/prepared_program.h"

namespace toroid {

// By tensor and axis, without those that tensors are annotated by and those that no neighbour can hand on.
GrowthLog HandedOn(const PreparedProgram& program, const ShardingPlan& plan);

}  // namespace toroid
