// What `hlo-partition` tells about a partitioned program: `--stats` as JSON, `--explain` as a table.
#ifndef TOROID_PARTITIONER_PARTITION_REPORT_H_
#define TOROID_PARTITIONER_PARTITION_REPORT_H_

#include <string>

#include "partitioner/spmd_partitioner.h"

namespace toroid {

struct PhaseSeconds {
  double read = 0;
  double propagate = 0;
  double partition = 0;
  double optimize = 0;
  double write = 0;
  double total = 0;
};

// One line of JSON; its keys are documented in docs/commands.md and stable.
std::string StatisticsJson(const Partitioned& partitioned, int64_t instructions_before,
                           const PhaseSeconds& seconds);

// A table of the collectives: kind, group, bytes, the instruction each serves and its source line, largest
// first; then what was replicated.
std::string ExplainTable(const Partitioned& partitioned);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PARTITION_REPORT_H_
