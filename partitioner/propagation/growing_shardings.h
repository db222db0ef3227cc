// The shardings of all tensors while they are propagated. They begin as the module states them, and only
// grow: a dimension is cut over more axes, never over fewer or others.
//
// Example: x f32[8,8] is stated [{a}, {}] on a mesh a=2, b=2. Extend(x, 0, {a, b}) makes it [{a, b}, {}];
// then Extend(x, 1, {b}) changes nothing, as b is used.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "partitioner/propagation/annotations.h"

namespace toroid {

struct GrowingSharding {
  Sharding sharding;
  uint64_t closed = 0;  // As in Annotation.
  AxisSet blocked = 0;  // Axes that may not cut any dimension.
  bool even = false;    // Whether it may be cut only into equal parts.
  // Whether it is a free value (IsMadeAnywhere) without closed dimensions. One free value often serves
  // unrelated arrays of its shape, so it takes shardings from them and passes none on.
  bool free = false;
};

class GrowingShardings {
 public:
  // `even`: as for PropagateShardings. Keeps references to `graph` and the mesh of `annotations`.
  GrowingShardings(const FlowGraph& graph, const Annotations& annotations, const std::vector<bool>& even);

  const GrowingSharding& operator[](int tensor) const { return tensors_[tensor]; }

  // Cuts dimension `dim` over as many of `axes` as it may, in order. Returns whether it has more axes now.
  // False unless the dimension's present axes are a prefix of `axes`. `given`: the module states these axes,
  // so that the dimension may be closed and tiles empty.
  bool Extend(int tensor, int dim, const AxisList& axes, bool given = false);

  // Cuts the dimensions of the next later priority as they are stated. Returns the tensors that grew; nullopt
  // if there is no later priority.
  std::optional<std::vector<int>> ExtendNextPriority();

  // Gives all open members of a sharding group (the tensors of `group`) one sharding: that of the first
  // member that is closed and cut, or else of the first member. Returns that member.
  int Align(const FlowOp& group);

  std::vector<Sharding> Take() &&;

 private:
  struct Later {
    int priority;
    int tensor;
    int dim;
    AxisList axes;
  };

  const FlowGraph& graph_;
  const Mesh& mesh_;
  std::vector<GrowingSharding> tensors_;
  std::vector<Later> later_;  // Stated cuts of later priorities, by priority.
  size_t next_ = 0;           // The first one in later_ that is not made yet.
};

// The axes on which the tensors of one op agree, factor by factor.
// Example: x[M,K] * w[K,N] -> y[M,N] with x [{a, b}, {}], y [{a}, {c}] and w [{}, {}]. M gets {a, b}, as {a}
// is a prefix of it, and N gets {c}. With y [{c}, {}] instead, M gets no axis, and there is a conflict.
struct AgreedAxes {
  absl::InlinedVector<AxisList, 8> factor_axes;
  bool conflict = false;  // True if tensors disagree, or two factors want one axis, which neither gets.
};

// For each factor, the longest list of axes on which the tensors agree that have the factor and pass their
// shardings on. nullopt if no tensor gives an axis. `results_only`: no shardings flow from operands.
std::optional<AgreedAxes> AgreeOn(const FlowOp& op, const Mesh& mesh, const GrowingShardings& shardings,
                                  bool results_only);

}  // namespace toroid
