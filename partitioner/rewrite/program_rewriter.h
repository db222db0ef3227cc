// Writes the program of one partition, from a prepared program and a plan.
//
// Instructions are rewritten in order. The operands of each are resharded as the plan's decision for it needs
// them (sharded_values.h), and its local program is written. The results keep the shardings they were
// computed in until a consumer needs others. Bodies, conditions and branches are rewritten with their
// callers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "partitioner/plan/plan.h"
#include "partitioner/prepare/prepared_program.h"
#include "partitioner/provenance/cut_note.h"
#include "partitioner/provenance/replication_log.h"
#include "partitioner/spmd/local_value_hook.h"

namespace toroid {

struct RewrittenProgram {
  // The program of one partition, with the causes of its collectives. It still has dead instructions, and
  // does not state the shardings of its parameters and results.
  std::unique_ptr<Module> module;
  std::vector<FullReplication> full_replications;
  std::vector<CutNote> cuts;  // Uneven cuts, and shardings asked for that the program does not follow.
  std::string made_up_axes;   // Mesh axes that causes name if the module names none: "a4, b2".
};

// Errors: kInvalidArgument and kUnimplemented, "computation/instruction: ...", for an instruction that has no
// partitioned form; kInternal if an instruction that was written is invalid.
absl::StatusOr<RewrittenProgram> RewriteProgram(const PreparedProgram& program, const Plan& plan,
                                                LocalValueHook on_local_value = nullptr);

}  // namespace toroid
