// Findings for ReplicationLog: arrays that were cut and are replicated.
#ifndef TOROID_PARTITIONER_REWRITE_REPLICATION_FINDINGS_H_
#define TOROID_PARTITIONER_REWRITE_REPLICATION_FINDINGS_H_

#include <cstdint>
#include <optional>

#include "partitioner/rewrite/rewrite_state.h"

namespace toroid {

// True if `operand` was replicated, gathered over the axes `gathered`, for an op that is cut elsewhere and could have
// taken it in parts. Not if the axes now cut something else of the op: weights that are split over the axis of the
// batch.
bool IsNeedlessGather(const FlowOp& op, size_t operand, const Assignment& assignment, AxisSet gathered);

// Bytes of the operands and results that are cut around an op that nothing cuts; none if the op is cut itself, gives
// partial sums, or has nothing around it that is cut. To be asked when the op is rewritten.
std::optional<int64_t> BytesComputedEverywhere(const RewriteState& state, const FlowOp& op,
                                               const Assignment& assignment);

// Adds the cuts that were asked for of arrays whose size is known only when running.
void AddOverruledShardings(const PreparedProgram& program, ReplicationLog* log);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_REWRITE_REPLICATION_FINDINGS_H_
