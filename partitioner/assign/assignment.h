// How one op is computed: which axes cut each of its factors.
//
// Given where the operands are and where the result is wanted, contractions take the assignment with the
// fewest flops per device, unless it sends kBytesPerFlop more for each of those saved (a cost model that knows what flops
// take counts them as time instead). Among those, and for all other ops, assignments come first that replicate no operand
// which the op could take as shards. Among these the one that costs least is taken: bytes sent to reshard the operands
// and the result, plus the local memory traffic in units of link time, so that of equal communication the more
// parallel one wins.
#ifndef TOROID_PARTITIONER_ASSIGN_ASSIGNMENT_H_
#define TOROID_PARTITIONER_ASSIGN_ASSIGNMENT_H_

#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "partitioner/ops/sharding_rule.h"
#include "partitioner/reshard/plan.h"

namespace toroid {

// The facts about one operand or result.
struct TensorView {
  absl::Span<const int64_t> dims;
  int64_t width = 4;                        // Bytes of an element.
  absl::InlinedVector<Sharding, 2> places;  // Where an operand is; where a result is wanted (none: anywhere).
  bool free = false;                        // An operand that any device can make in any sharding.
  uint64_t open = 0;  // By dimension: a result that is cut further there than wanted may stay so.
};

struct Assignment {
  absl::InlinedVector<AxisList, 6> factor_axes;
  int64_t sent_bytes = 0;
  double time = 0;   // Of what is sent, by the cost model.
  double flops = 0;  // Of a contraction, per device.
  // Some cut operand would have to be replicated although the op can run on its shards.
  bool replicates = false;
  // `time`, what its own exchanges delay, local memory traffic, and a contraction's time where the cost model has it.
  double cost = 0;
};

// A flop saved is worth so many bytes sent, and no more: moving tiles to be cut where they are small, or uneven, costs
// more than it saves. A core of TPU v3 does 880 flops in the time in which it sends a byte; far fewer are asked for here,
// since work repeated on several devices is no way to save bytes.
inline constexpr double kBytesPerFlop = 1;
// Where the whole program is weighed, and must not send much more: about what a core of TPU v3 does of f32 products.
inline constexpr double kFlopsOfAByte = 256;
// The same for programs of small arrays, whose users see in them what larger ones would do.
inline constexpr double kFewFlopsOfAByte = 4;

struct AssignmentProblem {
  const Instruction* op = nullptr;  // Null for plain data flow.
  const ShardingRule* rule = nullptr;
  absl::InlinedVector<TensorView, 4> operands;
  absl::InlinedVector<TensorView, 1> results;
  bool uneven = false;   // Leading parts of dimensions may be cut unevenly (Factor::by_halo).
  AxisSet reserved = 0;  // Axes the op may not use: manual ones, and those over which it passes partials on.
};

// The sharding of a tensor of factors `tensor` under an assignment; no partial axes.
Sharding ShardingUnder(const Mesh& mesh, const ShardingRule& rule, const TensorFactors& tensor,
                       absl::Span<const AxisList> factor_axes);

// Local flops of an op that does many: so many for each combination of positions of its local factors.
double LocalFlops(const Mesh& mesh, const ShardingRule& rule, absl::Span<const AxisList> factor_axes);

// The bytes that the local program of an op with this cut exchanges by itself: halos. `bytes_of(k)`: local bytes of operand k.
struct OwnExchanges {
  int64_t sent_bytes = 0;
  double time = 0;   // By the cost model, as of a plan.
  double delay = 0;  // What many small messages cost beyond it.
};
OwnExchanges ExchangesUnder(const Mesh& mesh, const Instruction& op, const ShardingRule& rule,
                            const CostModel& cost, absl::Span<const AxisList> factor_axes,
                            absl::FunctionRef<double(size_t k)> bytes_of);

// Whether a contraction whose operands are whole along an axis that nothing else uses is cut there, where bringing its
// result to its place sends no more: a sum over other axes, which is reduced in pieces anyway.
// kCutForFlops, kCutForFewFlops: or sends a byte more for every kFlopsOfAByte or kFewFlopsOfAByte flops that it saves.
enum class IdleAxes : uint8_t { kLeave, kCut, kCutForFlops, kCutForFewFlops };

Assignment ChooseAssignment(const AssignmentProblem& problem, ReshardPlanner* planner, const Mesh& mesh,
                            IdleAxes idle_axes = IdleAxes::kLeave);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_ASSIGN_ASSIGNMENT_H_
