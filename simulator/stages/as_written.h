// Programs that a TPU compiler has optimized already: simulated as they are written.
//
// Such a program is scheduled, and its layouts have tiles: {1,0:T(8,128)}. A fusion in it is one group, whatever fusions are in
// it; its instructions keep their order. Pairs of -start and -done run beside what is between them: collectives on the
// network, copies and slices between the device's memory and memory on the chip, S(1), at the memory's rate. What was copied
// before the program began (cross_program_prefetch_index) takes no time.
#pragma once

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "simulator/machines/core.pb.h"
#include "simulator/schedule/schedule.h"

namespace toroid {

bool IsWrittenByTpuCompiler(const Module& module);

// A copy in the order in which it is executed, fusions in fusions dissolved.
// Errors: those of SortInstructions.
absl::StatusOr<std::unique_ptr<Module>> AsWritten(const Module& module);

// Of the start of a copy that runs beside the core, and of what such a copy consists of; nothing for other ops.
std::optional<OpTime> OnChipCopyTime(const Instruction& op, const CoreSpec& core);

// Starts an exchange that other ops run beside.
bool StartsExchange(const Instruction& op);

}  // namespace toroid
