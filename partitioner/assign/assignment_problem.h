// An op whose factors are to be cut, and a way to cut them.
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "partitioner/ops/sharding_rule.h"

namespace toroid {

// By factor of a rule: the axes that cut it.
using FactorAxesList = absl::InlinedVector<AxisList, 6>;

// One operand or result of the op.
struct TensorView {
  absl::Span<const int64_t> dims;
  int64_t width = 4;  // Bytes per element.
  // The shardings in which an operand is available; the one wanted of a result (none: any will do).
  absl::InlinedVector<Sharding, 2> places;
  bool free = false;  // True for an operand that every device can compute in any sharding.
  uint64_t open = 0;  // Bit d: the result may stay cut further along dimension d than wanted.
};

struct AssignmentProblem {
  const Instruction* op = nullptr;  // Null for plain data flow.
  const ShardingRule* rule = nullptr;
  absl::InlinedVector<TensorView, 4> operands;
  absl::InlinedVector<TensorView, 1> results;
  bool uneven = false;   // True if leading factors of dimensions may be cut unevenly (Factor::by_halo).
  AxisSet reserved = 0;  // Axes the op may not use: manual axes, and axes over which its values stay partial.
};

struct Assignment {
  FactorAxesList factor_axes;
  int64_t sent_bytes = 0;
  double time = 0;   // The cost of sending `sent_bytes`, by the cost model.
  double flops = 0;  // Flops of a contraction per device; 0 for other ops.
  // True if some cut operand would be replicated although the op can run on its shards.
  bool replicates = false;
  // `time`, the delay of the op's own exchanges, local memory traffic, and the time of a contraction if the
  // cost model prices flops.
  double cost = 0;
};

// The axes that cut some factor.
AxisSet UsedAxes(absl::Span<const AxisList> factor_axes);

}  // namespace toroid
