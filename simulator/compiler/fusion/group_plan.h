// Which instructions of a computation run as one group, as data: written values (materialized_values.h) that are made together.
// fusion_pass.h says by which rules.
// BUILD: srcs += "grouper.h", "group_merging.cc", "group_joining.cc"
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/ir/module.h"
#include "simulator/program/tiling.h"

namespace toroid {

struct GroupPlan {
  // By index of an instruction: its value is written to memory. Others are computed inside of the groups that read them.
  std::vector<bool> written;
  // By index: a transpose or reshape that moves nothing, of a value that is written. It is another name of the same memory: no
  // group makes it.
  std::vector<bool> renamed;
  // The written values that each group makes.
  std::vector<std::vector<Instruction*>> groups;
};

GroupPlan PlanGroups(const Computation& computation, const Tiling& tiling);

}  // namespace toroid
