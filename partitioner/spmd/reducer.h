// Classification of reduction computations, and their neutral elements.
#ifndef TOROID_PARTITIONER_SPMD_REDUCER_H_
#define TOROID_PARTITIONER_SPMD_REDUCER_H_

#include <optional>
#include <vector>

#include "hlo/ir/literal.h"
#include "hlo/ir/mesh.h"
#include "hlo/ir/module.h"

namespace toroid {

// The reducer that a computation of two scalars applies: one binary op on its two parameters, looking through
// copies and Sharding annotations behind it. nullopt if it does something else.
std::optional<Reducer> ClassifyReducer(const Computation& computation);

// The reducers of a computation over n arrays, if it treats them apart: output k is one binary op on
// parameters k and n + k. nullopt if not.
std::optional<std::vector<Reducer>> ClassifyReducers(const Computation& computation);

// True if f(x, x) = x by the form of f alone: every output k chooses between parameters k and n + k, by
// selects (on any condition), maxima, minima, and, or. Argmax is such a one. As reducers are associative and
// commutative, a value may then enter any number of times.
bool IsIdempotent(const Computation& computation);

// The opcode of a reducer on values of a type (predicates: add is or, multiply is and).
Opcode ReducerOpcode(Reducer reducer);

// The value that leaves every other unchanged under the reducer: 0 and 1 for add and multiply; for maximum
// the lowest value (-infinity where the type has one, false for pred), for minimum the highest; all ones for
// and, 0 for or. Shape: scalar of `type`.
Literal NeutralElement(Reducer reducer, PrimitiveType type);

// True if a reduce or reduce-window of one array has a known reducer and starts from its neutral element, so
// that results of parts of the array combine into the whole result.
bool StartsNeutral(const Instruction& reduce);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_SPMD_REDUCER_H_
