// The fewest bytes that any choice of assignments sends, by exhaustive search, for programs of a few ops.
//
// Ops are taken in order. For each op every assignment of mesh axes to its factors is tried, with partial
// operands reduced first or passed on, from every set of versions of the live values that the ops before can
// leave; of equal sets the cheapest stay. An operand comes from the version whose reshard plan sends least,
// as in rewriting.
#pragma once

#include <optional>
#include <vector>

#include "hlo/analysis/program_statistics.h"
#include "partitioner/prepare/prepared_program.h"

namespace toroid {

// Groups of mesh axes that cut a factor only together: the prime-sized parts of one named axis.
using AxisUnits = std::vector<AxisList>;

// The fewest bytes that the program sends with at most the flops of `bound`; at most the bytes of `bound`.
// nullopt if there are more than `max_states` sets of versions after some op.
// Requires: no control flow, ops whose local programs exchange nothing, and shardings given for all
// parameters and outputs.
std::optional<double> FewestBytes(const PreparedProgram& program, const AxisUnits& units,
                                  const WholeRun& bound, size_t max_states);

}  // namespace toroid
