// The cost of a partitioned program per device: collectives (collective.h), flops, memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "hlo/analysis/memory_spaces.h"
#include "hlo/ir/module.h"

namespace toroid {

struct CollectiveTotals {
  int64_t count = 0;
  int64_t operand_bytes = 0;   // Per device.
  int64_t sent_bytes = 0;      // Per device, under a bandwidth-optimal algorithm.
  int64_t unknown_groups = 0;  // Collectives whose group size is unknown; they count as groups of one device.
};

struct MemoryBytes {
  int64_t parameters = 0;  // Parameters of the entry.
  int64_t outputs = 0;
  int64_t peak = 0;  // hlo/analysis/peak_memory.h
};

struct ProgramStatistics {
  std::map<std::string, CollectiveTotals> collectives;  // By opcode.
  int64_t flops = 0;                                    // Matrix flops (hlo/analysis/work.h).
  MemoryBytes device, host;                             // In the device's and in the host's memory.
  HostTraffic host_traffic;                             // Between the two memories, in one run.
};

// Every instruction of every computation counts once; in loops over the parts of a product
// (hlo/passes/windowed_einsum_pass.h) it counts with the trips.
ProgramStatistics ComputeStatistics(const Module& module);

// The work of one device in a whole run: every instruction counts with the trips of its loops.
struct WholeRun {
  double flops = 0;  // Contractions only.
  double sent_bytes = 0;
  double made_bytes = 0;  // The sizes of all results that ops write.
  double collectives = 0;

  bool CostsNoMoreThan(const WholeRun& other) const {
    return flops <= other.flops && sent_bytes <= other.sent_bytes;
  }
};
WholeRun WorkOfWholeRun(const Module& module);

}  // namespace toroid
