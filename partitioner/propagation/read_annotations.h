// Reads the annotations of a module: shardings of either dialect, their mesh, manual regions, devices of side
// effects.
#pragma once

#include "absl/status/statusor.h"
#include "partitioner/propagation/annotations.h"

namespace toroid {

// `num_devices`: 0 to take the number that the shardings name, or the module's num_partitions if none names
// one.
// Errors: kInvalidArgument "computation/instruction: ..." for shardings that are malformed, do not fit their
// array, or name different numbers of devices; kInvalidArgument if num_devices contradicts them, or, where it
// is 0, the module's num_partitions (but 1) does, or if there are more than kMaxDevices; those of ReadManualRegions.
absl::StatusOr<Annotations> ReadAnnotations(const Module& module, const FlowGraph& graph,
                                            int64_t num_devices);

// Checks that Shardy attributes name only meshes, axes and values that the module has. Example of an error:
//
//   {xla.sdy.sharding="#sdy.sharding<@grid, [{\"rows\"}, {}]>"}      the module has no mesh @grid
//
// All attributes are checked, also those that ReadAnnotations does not read: on instructions without users, in
// computations without callers, and in modules that fall back to ordinary shardings.
// Errors: kInvalidArgument "computation/instruction: ..." for text that does not parse, a mesh or axis that
// does not exist, an axis used twice, or a number of shardings that differs from the number of values.
absl::Status CheckShardyAttributes(const Module& module);

}  // namespace toroid
