// Other sizes for the axes of a module's mesh: a program that was lowered for one number of devices is then partitioned for
// another.
//
// Shardy's shardings name axes and the module gives each axis its size once, so that only the meshes change. An ordinary
// (GSPMD) sharding counts shards and lists devices; it can follow only if it names a mesh.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/module.h"

namespace toroid {

struct AxisSize {
  std::string name;
  int64_t size = 1;
};

// Reads "data=32,model=16". Errors: kInvalidArgument for a part that is not NAME=SIZE, a size below 1, a name given twice, or
// sizes whose product is beyond kMaxDevices.
absl::StatusOr<std::vector<AxisSize>> ParseAxisSizes(absl::string_view text);

// Gives the axes named in `sizes` these sizes in each mesh of the module. The other axes, and the order of all, stay as they
// are; a mesh that changes numbers its devices in the plain order, and a line for `notes` says so if it had another. If the
// module has neither meshes nor shardings, it gets one mesh of these axes. Without sizes, nothing is done.
// Errors: kInvalidArgument, with the module unchanged, for an axis that no mesh has, shardings that name devices by number
// instead of axes, meshes that differ in their number of devices afterwards, a part of an axis that changes, and a manual
// region (shard_map) or collective that does not fit the other sizes (mesh_regions.h).
absl::Status ChangeMesh(absl::Span<const AxisSize> sizes, Module* module,
                        std::vector<std::string>* notes = nullptr);

}  // namespace toroid
