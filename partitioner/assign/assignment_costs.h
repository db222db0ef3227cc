// What an assignment costs, and which of two is better: the one with
//
//   1. less flops * kBytesPerFlop + cost, if flops per device differ and the cost model does not price flops
//   2. otherwise, no operand replicated that the op could take in shards
//   3. otherwise, less cost
//
// The cost is the time of resharding operands and results and of the op's own exchanges, plus local memory
// traffic in units of link time, so that of equal communication the more parallel assignment wins. A cost
// model that prices flops adds their time.
#pragma once

#include <cstdint>

#include "partitioner/assign/assignment_problem.h"
#include "partitioner/assign/exchange_prices.h"
#include "partitioner/reshard/plan.h"

namespace toroid {

// The most bytes that saving one flop is worth. A limit is needed, as moving tiles that are small or uneven
// costs more than it saves. The target (hlo/cost/target.h) does 880 flops in the time in which it sends a byte. Here one flop
// per byte is enough, because repeating work on several devices is not a good way to save bytes.
inline constexpr double kBytesPerFlop = 1;
// Finds out what assignments cost. All must outlive the calls they are given to.
struct Pricing {
  const Mesh* mesh = nullptr;
  ReshardPlanner* planner = nullptr;
  ExchangePrices* exchanges = nullptr;
};

class AssignmentCosts {
 public:
  // Both must outlive this object.
  AssignmentCosts(const AssignmentProblem& problem, const Pricing& pricing)
      : problem_(problem), rule_(*problem.rule), pricing_(pricing), mesh_(*pricing.mesh) {}

  // Fills all fields but `factor_axes` from those.
  void Evaluate(Assignment* candidate) const;
  bool IsBetter(const Assignment& a, const Assignment& b) const;

 private:
  struct Sums;

  void AddOperands(const FactorAxesList& factor_axes, Sums* sums) const;
  void AddResults(const FactorAxesList& factor_axes, Sums* sums) const;
  bool CanTakeParts(size_t operand) const;
  double LocalBytes(const TensorView& view, const Sharding& sharding) const;

  const AssignmentProblem& problem_;
  const ShardingRule& rule_;
  const Pricing& pricing_;
  const Mesh& mesh_;
};

}  // namespace toroid
