// The mesh axes that a module itself names.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hlo/devices/hlo_sharding.h"
#include "hlo/ir/module.h"

namespace toroid {

// Names and sizes, the major axis first; the product of the sizes is the number of devices. Empty if the module names none.
using NamedAxes = std::vector<std::pair<std::string, int64_t>>;

// The axes of the module's Shardy mesh over n devices. If there are several, the mesh with the most axes counts.
// `order`: the device order that the mesh must have; null: any.
NamedAxes ShardyAxes(const Module& module, int64_t n, const DeviceOrder* order);

// The axes of the first ordinary (GSPMD) sharding that names axes over n devices in the plain order.
NamedAxes GspmdAxes(const Module& module, int64_t n);

}  // namespace toroid
