// The tensors of a module and the ops that relate them, as propagation and partitioning see them.
//
// A tensor is a leaf (array or token) of an instruction's result. Tuples and get-tuple-elements pass tensors
// on and are no ops. A while loop has one tensor per leaf of its state, shared by its result, its body's and
// its condition's parameter; the initial state and the body's root flow into it over edges. Likewise the
// branches of a conditional. The entry's result flows over edges into output tensors.
#ifndef TOROID_PARTITIONER_PROPAGATION_FLOW_GRAPH_H_
#define TOROID_PARTITIONER_PROPAGATION_FLOW_GRAPH_H_

#include <deque>
#include <vector>

#include "hlo/ir/module.h"
#include "partitioner/sharding_rule.h"

namespace toroid {

struct FlowOp {
  const Instruction* instruction = nullptr;  // Null for an edge.
  const ShardingRule* rule = nullptr;
  absl::InlinedVector<int, 3> operands;  // Tensors.
  absl::InlinedVector<int, 1> results;
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
  // The op of an instruction, null if it is none.
  const FlowOp* OpOf(const Instruction& instruction) const {
    const int c = computation_begin_[instruction.computation()->index()];
    if (c < 0) return nullptr;
    const int op = op_of_[c + instruction.index()];
    return op < 0 ? nullptr : &ops_[op];
  }
  // True if the computation is the entry or a body, condition or branch of control flow.
  bool Reached(const Computation& computation) const { return computation_begin_[computation.index()] >= 0; }
  // Tensors of the entry's results.
  absl::Span<const int> outputs() const { return outputs_; }

 private:
  void Reach(const Computation& computation);
  void AddComputation(const Computation& computation);
  void AddInstruction(const Instruction& instruction);
  void SetLeaves(const Instruction& instruction, absl::Span<const int> tensors);
  int NewTensor(const Shape& shape);
  void NewTensors(const Shape& shape, std::vector<int>* tensors);
  void AddEdge(int from, int to);

  std::vector<const Shape*> shapes_;
  std::deque<ShardingRule> rules_;
  std::vector<FlowOp> ops_;
  std::vector<int>
      computation_begin_;  // Per computation: number of its first instruction, -1 if not reached.
  std::vector<int> leaf_begin_, leaf_end_;
  std::vector<int> leaves_;
  std::vector<int> op_of_;
  std::vector<int> outputs_;
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PROPAGATION_FLOW_GRAPH_H_
