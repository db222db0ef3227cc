// The cost of a partitioned program per device: collectives (hlo/analysis/collective.h), flops, memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "hlo/analysis/memory_spaces.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/cost/predicted_times.h"
#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"
#include "partitioner/provenance/replication_log.h"

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

// One array of a collective, with its cause. A merged collective (hlo/analysis/merged_collectives.h) has one
// record for each of its arrays, any other collective has one record.
struct CollectiveRecord {
  std::string opcode;
  std::string instruction;
  const Instruction* op = nullptr;
  int array = 0;              // The array's number in a merged collective.
  double share = 1;           // The array's fraction of the collective's bytes.
  int64_t group_size = 1;     // 0 if unknown: sent_bytes is then that of a group of one device.
  int64_t operand_bytes = 0;  // In one execution.
  int64_t sent_bytes = 0;     // In one execution.
  Executions executions;
  // "NAME: STEP", if this partitioner made the collective; otherwise the name from its op_name, or its own
  // name.
  std::string cause;
  std::string source;
};
std::vector<CollectiveRecord> ListCollectives(const Module& module);

struct PhaseSeconds {
  double read = 0;
  double propagate = 0;
  double partition = 0;
  double optimize = 0;
  double write = 0;
  double total = 0;
  std::vector<PassReport> passes;  // In order.
};

// The JSON of `hlo-partition --stats`: one line, whose keys are documented in docs/commands.md and stable. `module`: the program
// of one partition. `instructions_before`: the number of instructions of the global program.
std::string StatisticsJson(const Module& module, int64_t num_partitions, int64_t instructions_before,
                           absl::Span<const FullReplication> replications, const PhaseSeconds& seconds,
                           const PredictedTimes* predicted = nullptr);

}  // namespace toroid
