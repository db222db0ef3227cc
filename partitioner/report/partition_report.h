// What `hlo-partition --stats` tells about a partitioned program.
#ifndef TOROID_PARTITIONER_REPORT_PARTITION_REPORT_H_
#define TOROID_PARTITIONER_REPORT_PARTITION_REPORT_H_

#include <string>

#include "partitioner/stages/spmd_partitioner.h"

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

}  // namespace toroid

#endif  // TOROID_PARTITIONER_REPORT_PARTITION_REPORT_H_
