// How one op is computed: which axes cut each of its factors.
//
// Given the shardings of the operands and those wanted of the results, the best of some guesses is chosen. It is the one with
//
//   1. less flops * kBytesPerFlop + cost, if flops per device differ and the cost model does not price flops
//   2. otherwise, no operand replicated that the op could take in shards
//   3. otherwise, less cost
//
// The cost is the time of resharding operands and results and of the op's own exchanges, plus local memory
// traffic in units of link time, so that of equal communication the more parallel assignment wins. A cost
// model that prices flops adds their time.
// BUILD: srcs += "candidates.h", "candidates.cc"
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "partitioner/assign/exchange_prices.h"
#include "partitioner/reshard/plan.h"

namespace toroid {

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

// The most bytes that saving one flop is worth. A limit is needed, as moving tiles that are small or uneven
// costs more than it saves. The target (hlo/cost/target.h) does 880 flops in the time in which it sends a byte. Here one flop
// per byte is enough, because repeating work on several devices is not a good way to save bytes.
inline constexpr double kBytesPerFlop = 1;

// Finds out what assignments cost. All must outlive the calls they are given to.
struct Pricing {
  const Mesh* mesh = nullptr;
  ReshardPlanner* planner = nullptr;
  ExchangePrices* exchanges = nullptr;
};

// Whether to cut a contraction also over idle axes, which its best assignment does not use:
//
//   kLeave           no
//   kCut             if that sends no more bytes and takes no more time to send them. Example: a result that
//                    is partial over other axes, and is reduced in pieces anyway
//   kCutForFlops     or if it saves 256 flops for each additional byte
//   kCutForFewFlops  or if it saves 4 flops for each additional byte
//
// Whole programs are compared under the last two, and must not send much more.
enum class IdleAxes : uint8_t { kLeave, kCut, kCutForFlops, kCutForFewFlops };

Assignment ChooseAssignment(const AssignmentProblem& problem, const Pricing& pricing,
                            IdleAxes idle_axes = IdleAxes::kLeave);

// Chooses the assignment of each op. PartitionOptions::policy gives the partitioner its policy; to try one, derive a class.
// The partitioned program is correct for all choices that cut only factors that the op's local program can cut
// (CanCutLocally) and use no reserved axes.
class AssignmentPolicy {
 public:
  virtual ~AssignmentPolicy() = default;

  // Changes the shardings that propagation found, indexed by tensor. Must keep those of the program's
  // parameters and outputs, which are true in `at_boundary`: the program's caller relies on them.
  virtual void AdjustPlan(const std::vector<bool>& /*at_boundary*/, std::vector<Sharding>* /*plan*/) const {}

  virtual Assignment Choose(const AssignmentProblem& problem, const Pricing& pricing) const = 0;
};

// Calls ChooseAssignment for every op, and does not change the plan.
const AssignmentPolicy& CheapestAssignments();

// The same, with contractions also cut over idle axes (IdleAxes). Saving work in one op may make other ops
// send more, so callers compare whole programs under this policy and under the default one.
const AssignmentPolicy& CheapestAssignmentsOnIdleAxes(IdleAxes idle_axes);

// Runs every op on replicated arrays: the slowest correct partitioning, a reference for tests.
const AssignmentPolicy& ReplicateEverything();

}  // namespace toroid
