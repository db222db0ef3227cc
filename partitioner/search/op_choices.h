// The ways in which one op can be computed: which units of the mesh cut which of its factors.
//
// A unit is a run of mesh axes that a program always uses together, such as the named axis "x" of 8 devices. With u units and f
// factors there are at most (f + 1)^u ways, times the orders of units that cut one factor.
// Example: [m,k] x [k,n] over units x and y: m, k, n or nothing cut over x, the same over y, and xy or yx on one factor.
#ifndef TOROID_PARTITIONER_SEARCH_OP_CHOICES_H_
#define TOROID_PARTITIONER_SEARCH_OP_CHOICES_H_

#include <vector>

#include "partitioner/prepare/prepared_program.h"
#include "partitioner/rewrite/op_decision.h"

namespace toroid {

using AxisUnits = std::vector<AxisList>;

// The units of a mesh under a plan: axes that stand side by side, in one order, in all lists of axes of all its shardings.
AxisUnits UnitsOf(const Mesh& mesh, const ShardingPlan& plan);

// Every axis by itself: what a program uses together might be better used apart.
AxisUnits SingleAxes(const Mesh& mesh);

struct OpChoice {
  absl::InlinedVector<AxisList, 6> factor_axes;
  AxisSet used = 0;                           // Axes that cut some factor.
  absl::InlinedVector<Sharding, 3> operands;  // Where it needs them; complete.
  absl::InlinedVector<Sharding, 1> results;  // Where they are made; partial over the reductions that are cut.
  double time = 0;   // Of its own exchanges, and of writing its results to memory, by the cost model.
  double flops = 0;  // Of a contraction.
};

// One choice, made ready to be compared.
OpChoice ChoiceUnder(const PreparedProgram& program, const FlowOp& op,
                     absl::Span<const AxisList> factor_axes);

// At most so many choices there are, orders of units apart.
double CountChoices(const PreparedProgram& program, const FlowOp& op, const AxisUnits& units);

// All choices.
std::vector<OpChoice> ChoicesOf(const PreparedProgram& program, const FlowOp& op, const AxisUnits& units);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_SEARCH_OP_CHOICES_H_
