// The arrays inside a program as they were before partitioning, with their shardings, for the mesh of a page.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hlo/devices/hlo_sharding.h"
#include "hlo/ir/module.h"

namespace toroid {

struct WholeArray {
  std::string name;  // In the author's scopes, as rows have it: layers_0..3/mlp/dot_general.*
  Shape shape;       // Of the whole array.
  HloSharding sharding;
};

// `propagated`: the global program with the sharding of every array on its instruction, as a PassObserver sees it after the
// phase "propagate". Returns at most `most` arrays, the largest first, without the arguments. Those that differ by the numbers
// in their names alone are one.
std::vector<WholeArray> ListWholeArrays(const Module& propagated, size_t most = 300);

}  // namespace toroid
