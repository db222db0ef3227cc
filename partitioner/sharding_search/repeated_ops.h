// Which ops and tensors of a program take the same place in layers that repeat.
//
// Two ops are of one kind if they are of one class (PlanMemo::ClassOf), run equally often, and what lies within a few ops
// around them is the same. In a model of 100 equal layers all but the outermost have the same kinds of ops, so that a search
// decides two or three layers.
// Example: of the products of a decoder's layers, those with the weights of the query and of the key are of one kind, those
// with the weights of the output of another one: their surroundings differ.
#pragma once

#include <vector>

#include "partitioner/plan/program_steps.h"

namespace toroid {

struct Kinds {
  std::vector<int> of_op;      // By flow op: the first op of its kind.
  std::vector<int> of_tensor;  // By tensor: the first tensor of its kind.
};

// Every op and tensor by itself.
Kinds AllApart(const ProgramSteps& steps);

Kinds RepeatedKinds(const ProgramSteps& steps, const PlanMemo& memo);

}  // namespace toroid
