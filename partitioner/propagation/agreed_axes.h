// The axes on which the tensors of one op agree, factor by factor.
//
// Example: x[M,K] * w[K,N] -> y[M,N] with x [{a, b}, {}], y [{a}, {c}] and w [{}, {}]. M gets {a, b}, as {a}
// is a prefix of it, and N gets {c}. With y [{c}, {}] instead, M gets no axis, and there is a conflict.
#pragma once

#include <optional>

#include "partitioner/propagation/growing_shardings.h"

namespace toroid {

struct AgreedAxes {
  absl::InlinedVector<AxisList, 8> factor_axes;
  bool conflict = false;  // True if tensors disagree, or two factors want one axis, which neither gets.
};

// For each factor, the longest list of axes on which the tensors agree that have the factor and pass their
// shardings on. nullopt if no tensor gives an axis. `results_only`: no shardings flow from operands.
std::optional<AgreedAxes> AgreeOn(const FlowOp& op, const Mesh& mesh, const GrowingShardings& shardings,
                                  bool results_only);

}  // namespace toroid
