// Enumerates the choices of an op: which units of the mesh cut which of its factors.
//
// A unit is a run of mesh axes that a program always uses together, such as the named axis "x" of 8 devices.
// With u units and f factors there are at most (f + 1)^u choices, times the orders of units that cut one
// factor.
// Example: [m,k] x [k,n] over units x and y: x cuts m, k, n or nothing, and so does y. If both cut one
// factor, they do so in the order xy or yx.
#pragma once

#include <vector>

#include "partitioner/plan/plan.h"
#include "partitioner/plan/version_sets.h"

namespace toroid {

using AxisUnits = std::vector<AxisList>;

// The units of a mesh under a plan: the longest runs of axes that are adjacent in the same order in every
// axis list of every sharding that uses them. Axes that the plan does not use are in no unit.
AxisUnits UnitsOf(const Mesh& mesh, const ShardingPlan& plan);

// Each axis as a unit: axes that a program uses together might be better used separately.
AxisUnits SingleAxes(const Mesh& mesh);

struct OpChoice {
  FactorAxesList factor_axes;
  AxisSet used = 0;                      // Axes that cut some factor.
  absl::InlinedVector<int, 3> operands;  // The numbers of the shardings it needs, which are not partial.
  // The numbers of those it makes, partial over the axes of cut reductions.
  absl::InlinedVector<int, 1> results;
  const ExchangePrices::Exchanges* exchanges = nullptr;  // Its own; never null.
  // By the cost model: of its own exchanges, of a contraction if the model prices flops, and 1/1000 of the
  // time to write and read its results in memory.
  double time = 0;
  double flops = 0;          // Local flops of a contraction.
  double sent_bytes = 0;     // Of its own exchanges.
  double collectives = 0;    // Those of its own exchanges.
  double written_bytes = 0;  // The local sizes of its results.
};

// The choice that cuts the factors of an op over `factor_axes`.
OpChoice ChoiceUnder(const PreparedProgram& program, const FlowOp& op, absl::Span<const AxisList> factor_axes,
                     VersionSets* versions);

// An upper bound on the number of choices, not counting the orders of units.
double CountChoices(const PreparedProgram& program, const FlowOp& op, const AxisUnits& units);

// The axes of the factors under each choice.
std::vector<FactorAxesList> FactorAxesOf(const PreparedProgram& program, const FlowOp& op,
                                         const AxisUnits& units);

}  // namespace toroid
