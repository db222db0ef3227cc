// The collectives of a program, each with its cause.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hlo/analysis/source_frames.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/ir/module.h"

namespace toroid {

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
  const xla::OpMetadata* metadata = nullptr;  // Whose line `source` is; null if there is none.
};
// `frames`: of the module, to choose the lines; null: as the module's own stacks say.
std::vector<CollectiveRecord> ListCollectives(const Module& module, SourceFrames* frames = nullptr);

}  // namespace toroid
