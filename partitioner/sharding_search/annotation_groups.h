// Tensors that a user annotates in one line: those of one kind, which are in layers that repeat; those of one name, as where a
// function is called twice; and a weight with its optimizer's averages.
//
// A weight and its averages are arguments of one shape, of which ops that work element by element make a new value of one of
// them.
// Example: of w' = w - rate * m' / sqrt(v') with m' = 0.9 m + 0.1 g and v' = 0.99 v + 0.01 g g, these are w, m and v. The
// gradient g is no argument: a product makes it.
#pragma once

#include <string>
#include <vector>

#include "partitioner/plan/plan.h"
#include "partitioner/sharding_search/program_state.h"
#include "partitioner/sharding_search/repeated_ops.h"

namespace toroid {

// One sharding for tensors that are annotated together.
struct SuggestedAnnotation {
  std::vector<int> tensors;  // Of the flow graph, in order.
  Sharding sharding;
};

// What may be annotated so that tensors have the shardings of a plan: arguments, and results of the ops that the plan decides,
// without those that are annotated already or have no name. Tensors of one name that the plan shards differently are left out:
// no line can say that. `names`: by tensor (tensor_names.h). In the order of their first tensors.
std::vector<SuggestedAnnotation> AnnotationGroups(const PreparedProgram& program, const Plan& plan,
                                                  const Kinds& kinds, const ProgramState& state,
                                                  const std::vector<std::string>& names);

}  // namespace toroid
