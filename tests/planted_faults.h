// Partitioned programs with one fault each, of the kinds that a partitioner makes.
//
//   kCollectiveDropped   ar = all-reduce(x)              =>  x; gathers and scatters keep their own part
//   kGroupHalved         replica_groups={{0,1,2,3}}      =>  {{0,1},{2,3}}; a permute loses half of its pairs
//   kMaskRemoved         m = select(p, x, zeros)         =>  x
//   kHaloTooShort        h = collective-permute(rows)    =>  its last row is zero
//   kReducedTwice        ar = all-reduce(x)              =>  all-reduce(all-reduce(x))
//   kWrongReducer        to_apply=add                    =>  maximum, and the other way round
//   kIndexOffByOne       dynamic-slice(x, i), gathers    =>  i + 1
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

enum class Fault {
  kCollectiveDropped,
  kGroupHalved,
  kMaskRemoved,
  kHaloTooShort,
  kReducedTwice,
  kWrongReducer,
  kIndexOffByOne
};
inline constexpr int kNumFaults = 7;
const char* FaultName(Fault fault);

// A place where a fault can be planted.
struct FaultSite {
  Fault fault;
  int computation, instruction;  // Indices.
  int operand = 0;               // The index operand.
};

std::vector<FaultSite> FaultSites(const Module& module);

// The module with the fault; null if the result is no valid module (a halved group that changes a shape).
std::unique_ptr<Module> PlantFault(const Module& module, const FaultSite& site);

}  // namespace toroid
