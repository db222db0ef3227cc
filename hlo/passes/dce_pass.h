// Dead code elimination.
#ifndef TOROID_HLO_PASSES_DCE_PASS_H_
#define TOROID_HLO_PASSES_DCE_PASS_H_

#include <memory>

#include "absl/container/flat_hash_set.h"
#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"

namespace toroid {

// Drops instructions that no root and no side effect needs (hlo/analysis/liveness.h), then unreachable
// computations. Parameters stay. Returns whether anything was dropped. Dropped instructions are also removed
// from `given`, if that is not null.
bool EliminateDeadCode(Module* module, absl::flat_hash_set<const Instruction*>* given = nullptr);

class DcePass : public Pass {
 public:
  explicit DcePass(absl::flat_hash_set<const Instruction*>* given = nullptr) : given_(given) {}

  absl::string_view name() const override { return "dead_code"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override {
    return EliminateDeadCode(module->get(), given_);
  }

 private:
  absl::flat_hash_set<const Instruction*>* const given_;
};

}  // namespace toroid

#endif  // TOROID_HLO_PASSES_DCE_PASS_H_
