// Seeds: first guesses of an assignment, one from the sharding of each tensor of an op.
//
// Example: a product of lhs f32[8,16] cut by rows and rhs f32[16,4] cut by columns has the seeds {m: lhs' axes} and
// {n: rhs' axes}.
#pragma once

#include <cstdint>
#include <vector>

#include "partitioner/assign/assignment_problem.h"

namespace toroid {

struct Seed {
  FactorAxesList axes;
  int64_t bytes = 0;  // Of the whole tensor.
};

// Those of results first, then those of operands, the largest tensor first.
std::vector<Seed> SeedsOf(const AssignmentProblem& problem, const Mesh& mesh);

}  // namespace toroid
