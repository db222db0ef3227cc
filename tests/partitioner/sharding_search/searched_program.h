// Programs that tests of the search of shardings start from: without shardings, on a mesh, ready to be searched.
#pragma once

#include <memory>
#include <string>

#include "hlo/ir/module.h"
#include "partitioner/plan/plan_memo.h"
#include "partitioner/sharding_search/find_shardings.h"
#include "partitioner/sharding_search/sharding_problem.h"

namespace toroid {

// The parts point to each other.
struct SearchedProgram {
  std::unique_ptr<Module> module;
  std::unique_ptr<PreparedProgram> program;
  std::unique_ptr<PlanMemo> memo;
  Plan base;
  SearchSpace space;

  // The tensor of an instruction of the entry, or of one leaf of its tuple.
  int TensorOf(const std::string& name, int leaf = 0) const;
};

// Reads HLO text and gives the module a mesh, "x=2,y=4"; empty: it has its own. Ends the process if it is no valid module.
std::unique_ptr<Module> OnMesh(const std::string& text, const std::string& mesh);

// The module as a search prepares it; units are the axes of `mesh`. Ends the process if it cannot be partitioned.
SearchedProgram PrepareForSearch(const std::string& text, const std::string& mesh);

// Options of a search that takes few steps.
ShardingSearchOptions FewSteps();

}  // namespace toroid
