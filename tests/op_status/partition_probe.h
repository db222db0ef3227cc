// Cuts each array operand of a sample program in two, along each dimension in turn.
#pragma once

#include <string>
#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

struct PartitionProbe {
  int cut = 0;  // Ways to cut: an operand (or, if there is none, the result) and a dimension.
  // The cuts for which the partitioner reports a full replication: "f32[4,6], dimension 1".
  std::vector<std::string> replicated;
  std::vector<std::string> failures;
};

// `sample` takes no parameters. Its constants of rank 1 and more become parameters. Each is cut over two
// devices along each dimension of two rows or more, and the result must equal the sample's.
PartitionProbe ProbePartitioning(const Module& sample);

}  // namespace toroid
