#include "hlo/analysis/rough_costs.h"

#include "hlo/analysis/trip_count.h"
#include "hlo/analysis/work.h"

namespace toroid {
namespace {

// Bytes of memory traffic that take as long as one sent byte, and as one flop of a contraction.
constexpr double kTrafficPerSentByte = 16, kTrafficPerFlop = 0.01;

}  // namespace

RoughCosts::RoughCosts(const Module& module) : of_computation_(module.num_computations(), 0) {
  for (const auto& computation : module.computations()) {  // Callees are before their callers.
    double& sum = of_computation_[computation->index()];
    for (const auto& op : computation->instructions()) sum += CostOf(*op);
  }
}

double RoughCosts::CostOf(const Instruction& op) const {
  double cost = 0;
  if (HasTrait(op.opcode(), kRunsBody)) {
    for (const Computation* callee : op.called()) cost += of_computation_[callee->index()];
    if (op.opcode() == Opcode::kWhile) cost *= static_cast<double>(TripCount(op).value_or(1));
    return cost;
  }
  if (!HasTrait(op.opcode(), kNoStorage)) cost += static_cast<double>(ArrayBytes(op.shape()));
  if (IsCollective(op.opcode())) cost *= kTrafficPerSentByte;
  return cost + kTrafficPerFlop * static_cast<double>(MatrixFlops(op));
}

}  // namespace toroid
