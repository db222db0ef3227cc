// The candidates of ChooseAssignment (assignment.h): first guesses, and what an assignment costs.
#pragma once

#include <cstdint>
#include <vector>

#include "partitioner/assign/assignment.h"

namespace toroid {

// The first guess of an assignment by the sharding of one tensor of an op.
//
// Example: a product of lhs f32[8,16] cut by rows and rhs f32[16,4] cut by columns has the seeds {m: lhs' axes} and
// {n: rhs' axes}.
struct Seed {
  FactorAxesList axes;
  int64_t bytes = 0;  // Of the whole tensor.
};

// Those of results first, then those of operands, the largest tensor first.
std::vector<Seed> SeedsOf(const AssignmentProblem& problem, const Mesh& mesh);

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

  const AssignmentProblem& problem_;
  const ShardingRule& rule_;
  const Pricing& pricing_;
  const Mesh& mesh_;
};

}  // namespace toroid
