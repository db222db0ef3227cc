// A module on all ranks of a transport, led by rank 0: it has the module, the arguments and the result, and the others
// what they need to run it on their share of the devices.
#ifndef TOROID_RUNTIME_PARTITIONED_RANKS_RUN_H_
#define TOROID_RUNTIME_PARTITIONED_RANKS_RUN_H_

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

// Argument i as devices [begin, end) hold it.
using ArgumentOfDevices = absl::FunctionRef<absl::StatusOr<MeshValue>(int i, int64_t begin, int64_t end)>;

// On rank 0, while the others are in ServeRuns: runs the module on all devices of `options`, whose transport connects
// them. Each rank is sent its part of the arguments. The result is that of all devices, or with `whole` false that of
// those of rank 0. `seconds`, if given, is the time of the run alone.
// Errors: those of Executor, of `argument` and of the transport.
absl::StatusOr<MeshValue> RunOnRanks(const Module& module, ArgumentOfDevices argument,
                                     const RunOptions& options, bool whole, double* seconds = nullptr);

// On the others: takes part in runs until rank 0 calls EndRuns. Each has the limits of `options` for itself.
// Errors: those of Executor and of the transport.
absl::Status ServeRuns(const RunOptions& options);
absl::Status EndRuns(Transport& transport);

}  // namespace toroid

#endif  // TOROID_RUNTIME_PARTITIONED_RANKS_RUN_H_
