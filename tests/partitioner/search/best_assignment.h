// The fewest bytes any choice of assignments sends: all of them tried, for programs of a few ops.
//
// Ops are taken in order. For each, every assignment of mesh axes to its factors is tried, with partial operands reduced
// first or passed on, from every set of versions of the live values that the ops before may leave; of equal sets the
// cheapest is kept. Operands come from the version from which the reshard plan sends least, as in rewriting.
#ifndef TOROID_TESTS_PARTITIONER_SEARCH_BEST_ASSIGNMENT_H_
#define TOROID_TESTS_PARTITIONER_SEARCH_BEST_ASSIGNMENT_H_

#include <optional>
#include <vector>

#include "partitioner/prepare/prepared_program.h"
#include "partitioner/report/statistics.h"

namespace toroid {

// Axes of the mesh that are used together: the parts of one named axis.
using AxisUnits = std::vector<AxisList>;

// The bytes that the best program sends that computes no more flops than `bound` and sends less; those of `bound` if
// there is none. Only for programs without control flow, whose ops exchange nothing by themselves, with shardings given
// for all parameters and outputs. Nothing if there are more than `max_states` sets of versions after some op.
std::optional<double> FewestBytes(const PreparedProgram& program, const AxisUnits& units,
                                  const WholeRun& bound, size_t max_states);

}  // namespace toroid

#endif  // TOROID_TESTS_PARTITIONER_SEARCH_BEST_ASSIGNMENT_H_
