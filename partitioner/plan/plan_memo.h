// What walks over a program have in common: numbers of shardings, costs of moves, and choices of ops. Each is found out once,
// for all plans of the program, and choices once for all ops of a class: a program of many layers has few classes.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "partitioner/plan/op_choices.h"

namespace toroid {

// What an op is decided by.
struct DecisionKey {
  // Null: the cheapest assignment, where each tensor has one sharding or none.
  const AssignmentPolicy* policy = nullptr;
  int op_class = -1;
  // Of each operand the number of its set of shardings, -1 if it is free; of each result that of the planned one; then the
  // partial operands that are passed on, with their axes and reducer. Without a policy: of each tensor the number of its
  // sharding, or -1.
  absl::InlinedVector<int64_t, 8> tensors;

  bool operator==(const DecisionKey& other) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const DecisionKey& key) {
    return H::combine(std::move(h), key.policy, key.op_class, key.tensors);
  }
};

// How one step of a program is computed.
struct StepDecision {
  // Null: the step delivers values, or makes free ones.
  const OpChoice* choice = nullptr;
  PartialOperands passed_on;  // The operands that the op takes partial.
};

class PlanMemo {
 public:
  // `program` must outlive this object.
  explicit PlanMemo(const PreparedProgram& program);
  PlanMemo(const PlanMemo&) = delete;

  const PreparedProgram& program() const { return program_; }
  VersionSets& versions() { return versions_; }
  const VersionSets& versions() const { return versions_; }
  // The class of an op of the flow graph. Two ops are of one class if their opcodes, sharding rules, attributes, shapes and
  // manual axes are the same, and so are the constants that they take and the slices that they read through: they differ in
  // nothing that decides how they are cut.
  // Example: the 36 products of f32[64,32] and f32[32,128] of a model of 36 layers are of one class.
  int ClassOf(const FlowOp& op) const { return classes_[&op - program_.graph->ops().data()]; }

  // The choice that cuts the factors of an op over `factor_axes`. References stay valid.
  const OpChoice& Choice(const FlowOp& op, absl::Span<const AxisList> factor_axes);
  // All choices of an op under `units`.
  const std::vector<const OpChoice*>& Choices(const FlowOp& op, const AxisUnits& units);
  // The assignment that was chosen for a key; `choose` is asked once.
  const Assignment& Decision(DecisionKey key, absl::FunctionRef<Assignment()> choose);

  // What a search found for the parts of programs that have a signature (../search/frontier_search.cc): the decisions of their
  // steps; none if it could not improve them. Null if none was searched.
  const std::vector<StepDecision>* DecisionsOfPart(size_t signature) const {
    const auto known = parts_.find(signature);
    return known == parts_.end() ? nullptr : &known->second;
  }
  void SetDecisionsOfPart(size_t signature, std::vector<StepDecision> found) {
    parts_[signature] = std::move(found);
  }

 private:
  const PreparedProgram& program_;
  VersionSets versions_;
  std::vector<int> classes_;  // By flow op.
  std::deque<OpChoice> all_;
  absl::flat_hash_map<std::pair<int, FactorAxesList>, const OpChoice*> choices_;
  absl::flat_hash_map<std::pair<int, AxisUnits>, std::unique_ptr<std::vector<const OpChoice*>>> lists_;
  absl::flat_hash_map<DecisionKey, std::unique_ptr<Assignment>> decisions_;
  absl::flat_hash_map<size_t, std::vector<StepDecision>> parts_;
};

}  // namespace toroid
