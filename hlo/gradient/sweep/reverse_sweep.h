// The backward pass of one computation: from the cotangents of results to those of their sources.
//
//   ReverseSweep sweep(forward, active, sources, options, ApplyGradientRule, &primals, &b);
//   sweep.Add(*loss, 0, one);
//   RETURN_IF_ERROR(sweep.Run());
//   Value gradient = sweep.Cotangent(*weights, 0);
//
// Instructions are visited from last to first, layer by layer if there are layers. The cotangent of a value
// is complete when the value is visited. Source: Griewank and Walther, Evaluating Derivatives, 2nd edition,
// section 3.2 (adjoint mode).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/gradient/sweep/activity.h"
#include "hlo/gradient/sweep/gradient_options.h"
#include "hlo/gradient/sweep/layer_barrier.h"
#include "hlo/gradient/sweep/primals.h"

namespace toroid {

class ReverseSweep;

// Adds to the cotangents of one op's operands: ApplyGradientRule (gradient_rules.h).
using VisitOp = absl::Status (*)(const Instruction& op, ReverseSweep* sweep);

class ReverseSweep {
 public:
  // All arguments must outlive this. `active`: by index of `forward`. `sources`: no gradient flows past them.
  ReverseSweep(const Computation& forward, const std::vector<ActiveLeaves>& active,
               const absl::flat_hash_set<const Instruction*>& sources, const GradientOptions& options,
               VisitOp visit, Primals* primals, InstructionBuilder* b)
      : forward_(forward),
        active_(active),
        sources_(sources),
        options_(options),
        visit_(visit),
        primals_(*primals),
        b_(*b) {}

  // Visits the instructions that `forward` has at the call. Requires: called once.
  // Errors: kUnimplemented "computation/instruction: ..." for an op without a gradient; kInvalidArgument for
  // values that cannot be built.
  absl::Status Run();

  InstructionBuilder& builder() { return b_; }
  const GradientOptions& options() const { return options_; }
  VisitOp visit() const { return visit_; }
  const Computation& forward() const { return forward_; }
  const ActiveLeaves& active(const Instruction& value) const { return active_[value.index()]; }
  Value Primal(const Instruction& value) { return primals_.Get(value); }
  // The operand in the forward pass, for an instruction that replaces `op` there; Primal, if the forward pass
  // is another computation.
  Value ForwardOperand(const Instruction& op, int i);

  void Add(const Instruction& value, int leaf, Value cotangent);
  void AddAt(const Instruction& value, Value cotangent, absl::Span<const Value> starts);
  // Null if it has none.
  Value Cotangent(const Instruction& value, int leaf) const;
  Value CotangentOrZeros(const Instruction& value, int leaf);
  // Replaces the value of `op` in the forward pass by `now`, if both passes are in one computation.
  void ReplaceForward(const Instruction& op, Value now);

 private:
  // The slot of an active leaf; null if the leaf is not active.
  Value* Slot(const Instruction& value, int leaf);
  void FollowSharding(const Instruction& op);
  void PlanLayers();
  void EnterLayerAt(int place);
  void RemoveIdleBarriers();
  const xla::OpMetadata* MetadataOf(const Instruction& op);

  const Computation& forward_;
  const std::vector<ActiveLeaves>& active_;
  const absl::flat_hash_set<const Instruction*>& sources_;
  const GradientOptions& options_;
  const VisitOp visit_;
  Primals& primals_;
  InstructionBuilder& b_;
  absl::flat_hash_map<const Instruction*, std::vector<Value>> cotangents_;
  absl::flat_hash_map<const xla::OpMetadata*, const xla::OpMetadata*> metadata_;
  std::vector<const Instruction*> order_;                // Visited last to first.
  std::vector<int64_t> layer_;                           // By place in order_; empty: no barriers.
  int64_t entered_ = 0;                                  // The layer entered last.
  std::vector<std::unique_ptr<LayerBarrier>> barriers_;  // In the order in which layers were entered.
};

}  // namespace toroid
