// Classification of reduction computations, and their neutral elements.
#pragma once

#include <optional>
#include <vector>

#include "hlo/devices/mesh.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace toroid {

// The reducer that a computation on two scalars applies. nullopt unless its root, looking through copies and
// Sharding annotations, is one binary op on its two parameters.
std::optional<Reducer> ClassifyReducer(const Computation& computation);

// The reducers of a computation that reduces n arrays independently: output k is one binary op on parameters
// k and n + k. nullopt if it is no such computation.
std::optional<std::vector<Reducer>> ClassifyReducers(const Computation& computation);

// True if f(x, x) = x follows from the ops of f: every output k chooses between parameters k and n + k, by
// selects (on any condition), maxima, minima, and, or. Since reducers are associative and commutative, a
// value may then be reduced any number of times. Example: argmax.
bool IsIdempotent(const Computation& computation);

// The binary opcode of a reducer.
Opcode ReducerOpcode(Reducer reducer);

// The value that leaves every other value unchanged under the reducer: 0 and 1 for add and multiply; for
// maximum the lowest value (-infinity where the type has one, false for pred), for minimum the highest; all
// ones for and, 0 for or. Shape: scalar of `type`.
Literal NeutralElement(Reducer reducer, PrimitiveType type);

// True if a reduce or reduce-window of one array has a known reducer and starts from its neutral element, so
// that the results on parts of the array, reduced, give the result on the whole array.
bool StartsNeutral(const Instruction& reduce);

}  // namespace toroid
