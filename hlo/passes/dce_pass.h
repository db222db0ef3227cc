// Dead code elimination.
#pragma once

#include <memory>

#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"

namespace toroid {

// Drops instructions that no root and no side effect needs (hlo/analysis/liveness.h), then unreachable
// computations. Parameters stay. Returns whether anything was dropped.
bool EliminateDeadCode(Module* module);

class DcePass : public Pass {
 public:
  absl::string_view name() const override { return "dead_code"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override {
    return EliminateDeadCode(module->get());
  }
};

}  // namespace toroid
