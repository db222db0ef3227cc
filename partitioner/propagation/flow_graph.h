// The tensors of a module and the ops that relate them, as propagation and partitioning see them.
//
// A tensor is a leaf (array or token) of an instruction's result. Tuples and get-tuple-elements pass tensors
// on and are no ops. A while loop has one tensor per leaf of its state, shared by its result, its body's and
// its condition's parameter; the initial state and the body's root flow into it over edges. Likewise the
// branches of a conditional. The entry's result flows over edges into output tensors.
// Ops that hand the leaves of their operands on as they are (opt-barrier, copy, identities among custom calls)
// are one flow op per array leaf, so that tuples are transparent to them.
#ifndef TOROID_PARTITIONER_PROPAGATION_FLOW_GRAPH_H_
#define TOROID_PARTITIONER_PROPAGATION_FLOW_GRAPH_H_

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/module.h"
#include "partitioner/ops/sharding_rule.h"

namespace toroid {

struct FlowOp {
  const Instruction* instruction = nullptr;  // Null for an edge.
  const ShardingRule* rule = nullptr;
  absl::InlinedVector<int, 3> operands;  // Tensors.
  absl::InlinedVector<int, 1> results;
  // Shardings pass from operands to results, and back. A barrier of propagation stops them.
  bool forward = true;
  bool backward = true;
};

class FlowGraph {
 public:
  // Requires a module as InlineCalls leaves it: without calls, and every body, condition and branch entered
  // from one place.
  explicit FlowGraph(const Module& module);

  int num_tensors() const { return static_cast<int>(shapes_.size()); }
  const Shape& shape(int tensor) const { return *shapes_[tensor]; }
  const std::vector<FlowOp>& ops() const { return ops_; }

  // Tensors of the leaves of an instruction's result. Empty for computations that no control flow reaches.
  absl::Span<const int> Leaves(const Instruction& instruction) const {
    const int c = computation_begin_[instruction.computation()->index()];
    if (c < 0) return {};
    const int i = c + instruction.index();
    return absl::MakeConstSpan(leaves_).subspan(leaf_begin_[i], leaf_end_[i] - leaf_begin_[i]);
  }
  // The op of an instruction, null if it is none, or one per leaf.
  const FlowOp* OpOf(const Instruction& instruction) const {
    const int c = computation_begin_[instruction.computation()->index()];
    if (c < 0) return nullptr;
    const int op = op_of_[c + instruction.index()];
    return op < 0 ? nullptr : &ops_[op];
  }
  // The ops of an instruction that hands leaves on one by one, in the order of its array leaves; empty for all
  // others.
  absl::Span<const FlowOp> LeafOps(const Instruction& instruction) const {
    const auto it = leaf_ops_.find(&instruction);
    if (it == leaf_ops_.end()) return {};
    return absl::MakeConstSpan(ops_).subspan(it->second.first, it->second.second);
  }
  // True if the computation is the entry or a body, condition or branch of control flow.
  bool Reached(const Computation& computation) const { return computation_begin_[computation.index()] >= 0; }
  // Tensors of the entry's results.
  absl::Span<const int> outputs() const { return outputs_; }
  // Tensors that are to be cut alike: the members of each sharding group.
  const std::vector<std::vector<int>>& groups() const { return groups_; }

 private:
  void Reach(const Computation& computation);
  void AddComputation(const Computation& computation);
  void AddInstruction(const Instruction& instruction);
  void SetLeaves(const Instruction& instruction, absl::Span<const int> tensors);
  int NewTensor(const Shape& shape);
  void NewTensors(const Shape& shape, std::vector<int>* tensors);
  void AddEdge(int from, int to);
  // Notes the group that a shard_alike names: a ShardingGroup call its operand's, a sharding its own.
  void NoteGroup(const Instruction& instruction);
  // Adds the leaf ops of `instruction`, whose results are `tensors`, if it hands leaves on. False if not.
  bool AddLeafOps(const Instruction& instruction, absl::Span<const int> tensors);

  std::vector<const Shape*> shapes_;
  std::deque<ShardingRule> rules_;
  std::vector<FlowOp> ops_;
  std::vector<int>
      computation_begin_;  // Per computation: number of its first instruction, -1 if not reached.
  std::vector<int> leaf_begin_, leaf_end_;
  std::vector<int> leaves_;
  std::vector<int> op_of_;
  absl::flat_hash_map<const Instruction*, std::pair<int, int>> leaf_ops_;  // First op, number of ops.
  std::vector<int> outputs_;
  std::vector<std::vector<int>> groups_;
  absl::flat_hash_map<std::string, int> group_of_id_;
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PROPAGATION_FLOW_GRAPH_H_
