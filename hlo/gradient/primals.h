// Values of the forward pass where the backward pass needs them: kept ones as they are, others computed again.
//
// Of loops, branches and calls the backward pass runs in a computation of its own; what it needs of the forward pass
// becomes a parameter there.
#ifndef TOROID_HLO_GRADIENT_PRIMALS_H_
#define TOROID_HLO_GRADIENT_PRIMALS_H_

#include <functional>

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/instruction_builder.h"

namespace toroid {

class Primals {
 public:
  // `kept`: the value where `b` writes, or null if it is to be computed again from its operands. Parameters and what they
  // hold must be kept.
  Primals(std::function<Value(const Instruction&)> kept, InstructionBuilder* b) : kept_(std::move(kept)), b_(*b) {}

  Value Get(const Instruction& value);

 private:
  std::function<Value(const Instruction&)> kept_;
  InstructionBuilder& b_;
  absl::flat_hash_map<const Instruction*, Value> known_;
};

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_PRIMALS_H_
