// The shardings a module asks for, in one form.
//
// Read from either dialect by ReadAnnotations (read_annotations.h). All devices lie in one mesh, cut wherever some
// sharding cuts them.
#ifndef TOROID_PARTITIONER_PROPAGATION_ANNOTATIONS_H_
#define TOROID_PARTITIONER_PROPAGATION_ANNOTATIONS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/instruction.h"
#include "hlo/ir/mesh.h"

namespace toroid {

// The sharding that one tensor is asked to have.
struct Annotation {
  Sharding sharding;
  uint64_t closed = 0;          // Bit d: propagation must not cut dimension d further.
  AxisSet replicated = 0;       // Axes that may not cut any dimension.
  std::vector<int> priorities;  // Per dimension, 0 first; empty: all 0.
  // The sharding as given, where its devices are ordered unlike the mesh: the tensor lies there, and
  // `sharding` is the one of equal tiles in mesh order.
  std::optional<HloSharding> foreign;
  // A cut was asked for, but the array has a size known only when running, and stays replicated.
  bool overruled = false;

  // Replicated, and to stay so.
  static Annotation Replicated(int rank) {
    Annotation annotation;
    annotation.sharding = Sharding::Replicated(rank);
    annotation.closed = ~uint64_t{0};
    return annotation;
  }
};

// The global side of an op that enters or leaves a manual region: operands of SPMDFullToShardShape and
// GlobalToLocalShape, results of SPMDShardToFullShape and LocalToGlobalShape.
struct ManualBoundary {
  AxisSet manual = 0;
  bool enters = false;
  std::vector<Sharding> global;  // Per operand or result.
};

struct Annotations {
  Mesh mesh;
  std::vector<std::optional<Annotation>> tensor;  // By tensor of the flow graph.
  std::vector<AxisSet> manual;                    // Per tensor: axes with respect to which it is local.
  // Per tensor: propagation cuts it into equal parts or not at all. Empty: no tensor.
  std::vector<bool> even;
  absl::flat_hash_map<const Instruction*, ManualBoundary> boundaries;
  // Shardings in which a tensor is to be there before its users are computed, which then choose among them and its own.
  absl::flat_hash_map<int, Sharding> early;
  // The device on which an op with a side effect is to run alone: a callback, infeed or outfeed with a maximal
  // sharding.
  absl::flat_hash_map<const Instruction*, int64_t> device;
  // How the data of an outfeed lie, per leaf.
  absl::flat_hash_map<const Instruction*, std::vector<Sharding>> fed;
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PROPAGATION_ANNOTATIONS_H_
