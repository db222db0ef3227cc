// What ops and collectives of a program take, in picoseconds on one device: the prices of a search.
//
// An op that writes its result takes the time of its products, or of reading its operands and writing its results if that is
// longer (roofline). One that is fused into its consumer takes next to nothing: the consumer reads what it is made of.
// Collectives take what the cost model says, and its fixed time each.
#pragma once

#include <vector>

#include "partitioner/plan/greedy_plan.h"
#include "partitioner/sharding_search/tensor_lives.h"

namespace toroid {

// Factors of prices, by what was measured on programs that were written.
struct PriceScales {
  double collectives = 1;
  double compute = 1;
};

// Of a whole run, in picoseconds.
struct PricedRun {
  double collectives = 0, compute = 0;
  double sum() const { return collectives + compute; }
};

class StepPrices {
 public:
  // `program` and `lives` must outlive this object.
  StepPrices(const PreparedProgram& program, const std::vector<TensorLife>& lives, const PriceScales& scales)
      : program_(program), lives_(lives), cost_(program.planner->cost()), scales_(scales) {}

  // `time`: of `count` collectives, in the cost model's unit.
  double OfCollectives(double time, double count) const;
  // One execution of an op, with what it exchanges by itself.
  double OfOp(const FlowOp& op, const OpChoice& choice) const;
  // A whole run under a plan that decides all ops.
  PricedRun OfPlan(const PricedPlan& plan, PlanMemo* memo) const;

 private:
  double Picoseconds(double cost) const;
  double ComputeOf(const FlowOp& op, const OpChoice& choice) const;

  const PreparedProgram& program_;
  const std::vector<TensorLife>& lives_;
  const CostModel& cost_;
  const PriceScales scales_;
};

}  // namespace toroid
