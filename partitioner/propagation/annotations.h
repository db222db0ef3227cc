// The shardings a module asks for, in one form for both dialects (GSPMD and Shardy).
//
// ReadAnnotations (read_annotations.h) fills them in. All devices form one mesh; it has an axis boundary
// wherever some sharding cuts the devices.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/devices/mesh.h"
#include "partitioner/propagation/flow_graph.h"

namespace toroid {

// The sharding that the module asks for one tensor.
struct Annotation {
  Sharding sharding;
  uint64_t closed = 0;          // Bit d: propagation must not cut dimension d further.
  AxisSet replicated = 0;       // Axes that may not cut any dimension.
  std::vector<int> priorities;  // Per dimension, 0 first; empty: all 0.
  // Set if the mesh cannot express the device order of the stated sharding: the stated sharding. `sharding`
  // then has the same number of tiles per dimension, in mesh order.
  std::optional<HloSharding> foreign;
  // The module asks to cut the array, but it stays replicated since its size is known only at run time, or
  // since it is a buffer.
  bool overruled = false;

  // A sharding that propagation must not cut further.
  static Annotation Closed(Sharding sharding) { return {std::move(sharding), ~uint64_t{0}}; }
};

// The global side of an op that enters or leaves a manual region: the operands of SPMDFullToShardShape and
// GlobalToLocalShape, the results of SPMDShardToFullShape and LocalToGlobalShape.
struct ManualBoundary {
  AxisSet manual = 0;
  bool enters = false;
  std::vector<Sharding> global;  // Per operand or result.
};

struct Annotations {
  Mesh mesh;
  std::vector<std::optional<Annotation>> tensor;  // By tensor of the flow graph.
  std::vector<AxisSet> manual;                    // Per tensor: axes with respect to which it is local.
  absl::flat_hash_map<const Instruction*, ManualBoundary> boundaries;
  // The one device that runs an op with a side effect: a callback, infeed or outfeed with a maximal sharding.
  absl::flat_hash_map<const Instruction*, int64_t> device;
  // The sharding of each leaf of an outfeed's data operand.
  absl::flat_hash_map<const Instruction*, std::vector<Sharding>> fed;

  // The axes with respect to which some tensor of an op is local; they may not cut the op.
  AxisSet ManualAxesOf(const FlowOp& op) const {
    AxisSet axes = 0;
    for (const int t : TensorsOf(op)) axes |= manual[t];
    return axes;
  }
};

}  // namespace toroid
