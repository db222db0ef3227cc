// Gives the backward pass the values of the forward pass: kept ones directly, others recomputed.
//
// A value that takes work is recomputed once, however many layers need it. A value that takes no work is
// recomputed once in each layer, so that it need not be held. The backward pass of a loop, branch or call is
// a computation of its own, which gets values of the forward pass as parameters.
#pragma once

#include <functional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/gradient/sweep/layer_barrier.h"

namespace toroid {

class Primals {
 public:
  // `kept`: the value in the computation that `b` writes, or null if it is to be recomputed from its
  // operands. Requires: parameters and their elements are kept.
  Primals(std::function<Value(const Instruction&)> kept, InstructionBuilder* b)
      : kept_(std::move(kept)), b_(*b) {}

  // From here on, kept values are read behind `barrier`, which must outlive this.
  void BeginLayer(LayerBarrier* barrier);

  Value Get(const Instruction& value);

  // kUnimplemented "computation/instruction: ..." if a value that cannot be repeated was to be recomputed.
  const absl::Status& status() const { return status_; }

 private:
  Value Kept(const Instruction& value);
  Value Known(const Instruction& value) const;
  Value Again(const Instruction& op, absl::Span<const Value> operands);

  std::function<Value(const Instruction&)> kept_;
  InstructionBuilder& b_;
  LayerBarrier* barrier_ = nullptr;
  absl::Status status_;
  absl::flat_hash_map<const Instruction*, Value> computed_;  // Recomputed values that take work.
  // In this layer: kept values, and those that take no work.
  absl::flat_hash_map<const Instruction*, Value> of_layer_;
  absl::flat_hash_map<const xla::OpMetadata*, const xla::OpMetadata*> metadata_;
};

}  // namespace toroid
