// Findings for ReplicationLog: arrays that were cut and had to be replicated.
#pragma once

#include <cstdint>
#include <optional>

#include "partitioner/rewrite/rewrite_state.h"

namespace toroid {

// True if `operand` was replicated, by gathering over the axes `gathered`, for an op that other axes cut and
// that could have taken shards of it. False if the gathered axes now cut something else of the op, as with
// weights that are split over the axis of the batch.
bool IsNeedlessGather(const FlowOp& op, size_t operand, const Assignment& assignment, AxisSet gathered);

// For an op that no axis cuts: the global bytes of its operands that were cut and of its results that the
// plan cuts. nullopt if an axis cuts the op, its result is partial, or there are no such operands or results.
// Requires: the op was just rewritten.
std::optional<int64_t> BytesComputedEverywhere(const RewriteState& state, const FlowOp& op,
                                               const Assignment& assignment);

// Logs the arrays of run-time size for which the module asks for a cut: they stay replicated.
void AddOverruledShardings(const PreparedProgram& program, ReplicationLog* log);

}  // namespace toroid
