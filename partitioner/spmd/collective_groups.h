// The device groups of a collective over mesh axes, as attributes of its instruction.
//
// Devices of one group differ only in their coordinates along the axes; members are in the order of these.
// Groups name global device ids, or partition ids if there is one replica.
// Example: mesh a=2, b=4 in device order. Axes {b}: [2,4]<=[8]. Axes {a}: [4,2]<=[2,4]T(1,0), in which device
// 0 meets device 4.
#pragma once

#include <cstdint>

#include "hlo/devices/mesh.h"
#include "hlo/ir/module.h"

namespace toroid {

// Whether position p of the mesh is device p.
inline bool IsInDeviceOrder(const Mesh& mesh) {
  return mesh.order().is_iota() && mesh.order().reshape().size() == 1;
}

// Sets the groups along `axes`, in each of `replicas` replicas: in iota form if the mesh is in device order,
// else listed.
void SetGroups(const Mesh& mesh, const AxisList& axes, int64_t replicas, xla::HloInstructionProto* attrs);

// Sets the groups along `axes`, listed, each with the device whose coordinate is `member` in front.
void SetGroupsFrom(const Mesh& mesh, const AxisList& axes, int64_t member, xla::HloInstructionProto* attrs);

}  // namespace toroid
