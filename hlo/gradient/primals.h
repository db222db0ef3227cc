// Values of the forward pass where the backward pass needs them: kept ones as they are, others computed
// again.
//
// What takes work is computed again once, however many layers need it; what takes none once in each layer, so
// that it need not stay. Of loops, branches and calls the backward pass runs in a computation of its own;
// what it needs of the forward pass becomes a parameter there.
#ifndef TOROID_HLO_GRADIENT_PRIMALS_H_
#define TOROID_HLO_GRADIENT_PRIMALS_H_

#include <functional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/gradient/layer_barrier.h"

namespace toroid {

class Primals {
 public:
  // `kept`: the value where `b` writes, or null if it is to be computed again from its operands. Parameters
  // and what they hold must be kept.
  Primals(std::function<Value(const Instruction&)> kept, InstructionBuilder* b)
      : kept_(std::move(kept)), b_(*b) {}

  // From here on kept values are those behind `barrier`, which outlives this.
  void BeginLayer(LayerBarrier* barrier);

  Value Get(const Instruction& value);

  // kUnimplemented "computation/instruction: ..." if something was to be computed again that cannot be
  // repeated.
  const absl::Status& status() const { return status_; }

 private:
  Value Kept(const Instruction& value);
  Value Known(const Instruction& value) const;
  Value Again(const Instruction& op, absl::Span<const Value> operands);

  std::function<Value(const Instruction&)> kept_;
  InstructionBuilder& b_;
  LayerBarrier* barrier_ = nullptr;
  absl::Status status_;
  absl::flat_hash_map<const Instruction*, Value> computed_;  // Again, with work.
  absl::flat_hash_map<const Instruction*, Value> of_layer_;  // Kept ones, and those that take no work.
  absl::flat_hash_map<const xla::OpMetadata*, const xla::OpMetadata*> metadata_;
};

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_PRIMALS_H_
