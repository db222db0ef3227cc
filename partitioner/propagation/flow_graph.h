// The tensors of a module and the ops that relate them, as propagation and partitioning see them.
//
// A tensor is a leaf (array or token) of an instruction's result. Tuple and get-tuple-element instructions
// pass tensors on and have no flow op. An edge is a flow op without an instruction: it copies one tensor to
// another.
// - A while loop has one tensor per leaf of its state. The loop's result and the parameters of its body and
//   condition share it; edges lead to it from the initial state and from the body's root.
// - A conditional has one tensor per leaf of its result, with an edge from each branch's root. Edges lead
//   from its operands to the parameters of its branches.
// - Each leaf of the entry's result has an output tensor, with an edge from the root.
// - An op that returns its operand unchanged (opt-barrier, copy, identity custom calls) and has a tuple
//   result gets one flow op per array leaf, so that shardings flow through the tuple.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "hlo/ir/module.h"
#include "partitioner/assign/assignment.h"

namespace toroid {

struct FlowOp {
  const Instruction* instruction = nullptr;  // Null for an edge.
  const ShardingRule* rule = nullptr;
  absl::InlinedVector<int, 3> operands;  // Tensors.
  absl::InlinedVector<int, 1> results;   // Tensors.
  // Whether shardings flow from operands to results (forward) and from results to operands (backward). False
  // only for propagation barriers.
  bool forward = true;
  bool backward = true;
};

// Calls visit(tensor, factors, is_result) for each operand and then each result.
template <typename Visit>
void ForEachTensor(const FlowOp& op, const Visit& visit) {
  for (size_t i = 0; i < op.operands.size(); ++i) visit(op.operands[i], op.rule->operands[i], false);
  for (size_t i = 0; i < op.results.size(); ++i) visit(op.results[i], op.rule->results[i], true);
}

// Operands first, then results.
inline absl::InlinedVector<int, 4> TensorsOf(const FlowOp& op) {
  absl::InlinedVector<int, 4> tensors(op.operands.begin(), op.operands.end());
  tensors.insert(tensors.end(), op.results.begin(), op.results.end());
  return tensors;
}

class FlowGraph {
 public:
  // Requires a module as InlineCalls leaves it: no calls, and each body, condition and branch has one caller.
  explicit FlowGraph(const Module& module);

  int num_tensors() const { return static_cast<int>(shapes_.size()); }
  const Shape& shape(int tensor) const { return *shapes_[tensor]; }
  const std::vector<FlowOp>& ops() const { return ops_; }

  // The tensors of the leaves of an instruction's result. Empty if control flow does not reach its
  // computation.
  absl::Span<const int> Leaves(const Instruction& instruction) const {
    const int c = computation_begin_[instruction.computation()->index()];
    if (c < 0) return {};
    const int i = c + instruction.index();
    return absl::MakeConstSpan(leaves_).subspan(leaf_begin_[i], leaf_end_[i] - leaf_begin_[i]);
  }
  // Those of all operands of an instruction, in order.
  std::vector<int> OperandLeaves(const Instruction& instruction) const;
  // The flow op of an instruction; null if it has none or one per leaf (LeafOps).
  const FlowOp* OpOf(const Instruction& instruction) const {
    const int c = computation_begin_[instruction.computation()->index()];
    if (c < 0) return nullptr;
    const int op = op_of_[c + instruction.index()];
    return op < 0 ? nullptr : &ops_[op];
  }
  // The flow ops of an instruction that has one per array leaf, in the order of its leaves; empty for all
  // others.
  absl::Span<const FlowOp> LeafOps(const Instruction& instruction) const {
    const auto it = leaf_ops_.find(&instruction);
    if (it == leaf_ops_.end()) return {};
    return absl::MakeConstSpan(ops_).subspan(it->second.first, it->second.second);
  }
  // The instructions of the computations that control flow reaches, in the order of `module`, the graph's own.
  std::vector<const Instruction*> ReachedInstructions(const Module& module) const;
  // True if the computation is the entry or a body, condition or branch of control flow.
  bool Reached(const Computation& computation) const { return computation_begin_[computation.index()] >= 0; }
  // The output tensors, one per leaf of the entry's result.
  absl::Span<const int> outputs() const { return outputs_; }
  // The members of each sharding group: tensors that must have the same sharding.
  const std::vector<std::vector<int>>& groups() const { return groups_; }

 private:
  void Reach(const Computation& computation);
  void AddComputation(const Computation& computation);
  void AddInstruction(const Instruction& instruction);
  void SetLeaves(const Instruction& instruction, absl::Span<const int> tensors);
  int NewTensor(const Shape& shape);
  void NewTensors(const Shape& shape, std::vector<int>* tensors);
  void AddEdge(int from, int to);
  // Adds a tensor to its sharding group: the operand of a ShardingGroup call, or the result of an instruction
  // whose sharding names a shard group.
  void NoteGroup(const Instruction& instruction);
  // If `instruction` returns its tuple operand unchanged, adds a flow op per array leaf and returns true.
  // `tensors` are its result's leaves.
  bool AddLeafOps(const Instruction& instruction, absl::Span<const int> tensors);

  std::vector<const Shape*> shapes_;
  std::deque<ShardingRule> rules_;
  std::vector<FlowOp> ops_;
  // Per computation: the number of its first instruction; -1 if control flow does not reach it.
  std::vector<int> computation_begin_;
  std::vector<int> leaf_begin_, leaf_end_;
  std::vector<int> leaves_;
  std::vector<int> op_of_;
  absl::flat_hash_map<const Instruction*, std::pair<int, int>> leaf_ops_;  // First op, number of ops.
  std::vector<int> outputs_;
  std::vector<std::vector<int>> groups_;
  absl::flat_hash_map<std::string, int> group_of_id_;
};

// The problem of an op (../assign/assignment.h), with pointers into the graph. Calls `describe(tensor, is_result, view)` once
// for each operand and then each result, in order, to add what the caller knows about the tensor's shardings.
AssignmentProblem ProblemOf(const FlowGraph& graph, const FlowOp& op,
                            absl::FunctionRef<void(int tensor, bool is_result, TensorView* view)> describe);

// Whether the result of an op is a free value: each device can compute its shard of it in any sharding, without communication.
// Constants, iotas and broadcasts of replicated arrays are free, and so are elementwise ops, reshapes, transposes and reduces
// of free values. `is_free(tensor)`: whether an operand is free. `is_whole(tensor)`: whether each device has all of an operand;
// asked for the operand of a broadcast and for scalar operands.
// Example: interpolation weights 1 - |i - 2 j| with i and j iotas. A device that needs some rows computes these rows.
bool IsMadeAnywhere(const FlowGraph& graph, const FlowOp& op, absl::FunctionRef<bool(int tensor)> is_free,
                    absl::FunctionRef<bool(int tensor)> is_whole);

}  // namespace toroid
