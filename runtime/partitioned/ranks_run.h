// Runs a module on all ranks of a transport, led by rank 0: rank 0 has the module, the arguments and the
// result, and sends the other ranks what they need to run the module on their share of the devices.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "runtime/engine/executor.h"
#include "runtime/mesh/mesh_value.h"
#include "runtime/transport/transport.h"

namespace toroid {

// Gives argument i as devices [begin, end) hold it.
using ArgumentOfDevices = absl::FunctionRef<absl::StatusOr<MeshValue>(int i, int64_t begin, int64_t end)>;

// On rank 0, while the other ranks are in ServeRuns: runs the module on all devices of `options`, whose
// transport connects the ranks. Sends each rank its part of the arguments. The result covers all devices, or
// only rank 0's if `whole` is false. `seconds`, if given, is set to the time of the run alone.
// Errors: those of Executor, of `argument` and of the transport.
absl::StatusOr<MeshValue> RunOnRanks(const Module& module, ArgumentOfDevices argument,
                                     const RunOptions& options, bool whole, double* seconds = nullptr);

// On the other ranks: takes part in runs until rank 0 calls EndRuns. The limits of `options` are this rank's
// own.
// Errors: those of Executor and of the transport.
absl::Status ServeRuns(const RunOptions& options);
absl::Status EndRuns(Transport& transport);

}  // namespace toroid
