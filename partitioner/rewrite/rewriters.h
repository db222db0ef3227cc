// The parts of RewriteProgram (program_rewriter.h): each rewrites instructions of one kind, or reports on the
// result.
// BUILD: srcs += "entry_rewriter.cc", "findings.cc", "op_rewriter.cc", "side_effect_rewriter.cc"
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partitioner/provenance/cut_note.h"
#include "partitioner/rewrite/rewrite_state.h"

namespace toroid {

// The local shape of a value of global shape `shape`, with the layouts of `shape`. Its leaves are the tensors
// `leaves`, in the plan's shardings.
Shape PlannedLocalShape(const RewriteState& state, const SpmdBuilder& b, const Shape& shape,
                        absl::Span<const int> leaves);
// Adds the parameters of the entry to `b`'s computation, and their leaves to state.values.
void RewriteParameters(RewriteState& state, SpmdBuilder& b, const Computation& entry);
// Makes the entry's results the root, in the shardings that the plan has for the graph's outputs.
void RewriteResults(RewriteState& state, SpmdBuilder& b, const Computation& entry);

// Rewrites an instruction that is no control flow, side effect or boundary of a manual region. Reshards the
// operands to the shardings that the decision for the op needs, and writes its local program with `b`. The
// results keep the shardings in which they are computed.
// Errors: kInternal if the plan lacks a decision for the op.
absl::Status RewriteOp(RewriteState& state, SpmdBuilder& b, const Instruction& instruction);
// Clones the instruction, with the computations it calls, on local operands of its global shapes. Returns the
// leaves of its result.
std::vector<Instruction*> CloneReplicated(SpmdBuilder& b, const Instruction& instruction,
                                          absl::Span<Instruction* const> operands);
// The operands of an op that runs on replicated arrays.
std::vector<Instruction*> ReplicatedOperands(RewriteState& state, SpmdBuilder& b,
                                             const Instruction& instruction);

// Rewrites an op that one device runs (a print, a callback, an infeed). The operands are replicated; the
// result is partial over all devices, with neutral elements on those that do not run the op:
//   conditional(partition-id = device, operands, operands), true: the op; false: neutral elements
// Errors: kUnimplemented for a result that is neither array nor token.
absl::Status RewriteOnDevice(RewriteState& state, SpmdBuilder& b, const Instruction& instruction,
                             int64_t device);
// Rewrites an outfeed of data in the shardings `data`, one per leaf: every device feeds its tiles.
// Errors: kUnimplemented for tiles of unequal size and for partial data.
absl::Status RewriteOutfeed(RewriteState& state, SpmdBuilder& b, const Instruction& instruction,
                            absl::Span<const Sharding> data);

// Uneven cuts of parameters, outputs and annotated values, and shardings asked for that the program does not follow.
// Requires: the output module is complete, its callees before their callers.
std::vector<CutNote> FindCuts(const RewriteState& state);

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
