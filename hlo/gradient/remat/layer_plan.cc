#include "hlo/gradient/remat/layer_plan.h"

#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo/gradient/sweep/kept_values.h"

namespace toroid {
namespace {

class Kept {
 public:
  Kept(const Computation& computation, const LayerPlan& layers) {
    for (const auto& op : computation.instructions()) {
      const int64_t layer = layers.of_op[op->index()];
      layer_[op.get()] = layer;
      if (!layers.computed_again[layer]) {
        if (!TakesNoWork(*op)) values_.insert(op.get());
        AddAllOf(*op);
      }
      for (const Instruction* operand : op->operands()) {
        if (layers.of_op[operand->index()] != layer) AddLeast(*operand);
      }
    }
  }

  bool contains(const Instruction& value) const { return values_.contains(&value); }
  int64_t LayerOf(const Instruction& value) const {
    const auto found = layer_.find(&value);
    return found == layer_.end() ? 0 : found->second;
  }

 private:
  void AddLeast(const Instruction& value) {
    if (value.opcode() == Opcode::kTuple) {
      for (const Instruction* element : value.operands()) AddLeast(*element);
    } else if (!value.shape().IsArray()) {
      values_.insert(&value);
    } else if (const Instruction* anchor = LeastArrayOf(value)) {
      values_.insert(anchor);
    }
  }

  // Adds all values in the bodies of loops that are in no layer.
  void AddAllOf(const Instruction& op) {
    for (const Computation* callee : op.called()) {
      for (const auto& inner : callee->instructions()) {
        if (!TakesNoWork(*inner)) values_.insert(inner.get());
        AddAllOf(*inner);
      }
    }
  }

  absl::flat_hash_map<const Instruction*, int64_t> layer_;
  absl::flat_hash_set<const Instruction*> values_;
};

}  // namespace

const Instruction* LeastArrayOf(const Instruction& value) {
  const Instruction* least = &value;
  const Instruction* at = &value;
  while (TakesNoWork(*at)) {
    if (at->num_operands() == 0) return nullptr;
    if (at->opcode() == Opcode::kTuple || at->opcode() == Opcode::kGetTupleElement ||
        !at->operand(0)->shape().IsArray())
      break;
    at = at->operand(0);
    if (at->shape().ByteSize() <= least->shape().ByteSize()) least = at;
  }
  return least;
}

void KeepWhatLayersHandOn(const Computation& computation, const LayerPlan& layers, GradientOptions* options) {
  auto kept = std::make_shared<const Kept>(computation, layers);
  options->keep = [kept, within = options->keep](const Instruction& value) {
    return kept->contains(value) || (within != nullptr && within(value));
  };
  options->layer = [kept, &computation, others = options->layer](const Instruction& value) {
    return value.computation() == &computation || others == nullptr ? kept->LayerOf(value) : others(value);
  };
}

}  // namespace toroid
