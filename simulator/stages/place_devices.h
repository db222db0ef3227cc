// Which core runs which device of a program: --device_assignment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "simulator/machines/machine.h"

namespace toroid {

// The core of each device, by `method`:
//   "row-major"  device d on core d
//   "topology"   the mesh that the groups of the program's collectives cut the devices into, each of its axes on a line;
//                or row-major, or neighbours beside each other, if collectives take less time so
//   "best"       of a few dozen orders of axes, the one with the least time of all collectives together
//   a file       one core per device, 0 first
// Errors: kInvalidArgument for more devices than cores; those of the file and of the collectives.
absl::StatusOr<std::vector<int64_t>> PlaceDevices(const std::string& method, const Module& module,
                                                  const Machine& machine);

}  // namespace toroid
