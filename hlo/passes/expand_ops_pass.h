// Ops of several parts, written out (expand_op.h), so that each of their parts can be cut.
#ifndef TOROID_HLO_PASSES_EXPAND_OPS_PASS_H_
#define TOROID_HLO_PASSES_EXPAND_OPS_PASS_H_

#include <memory>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"

namespace toroid {

// A copy of the verified `module` in which no op can be expanded; null if none can. What stands for an op, a tuple where that gives
// several arrays, has its name and shardings.
// `given`: as for InlineCalls (inline_calls_pass.h).
absl::StatusOr<std::unique_ptr<Module>> ExpandOps(const Module& module,
                                                  absl::flat_hash_set<const Instruction*>* given = nullptr);

class ExpandOpsPass : public RebuildingPass {
 public:
  explicit ExpandOpsPass(absl::flat_hash_set<const Instruction*>* given = nullptr) : given_(given) {}
  absl::string_view name() const override { return "expand_ops"; }
  absl::StatusOr<std::unique_ptr<Module>> Rebuild(const Module& source) override {
    return ExpandOps(source, given_);
  }

 private:
  absl::flat_hash_set<const Instruction*>* const given_;
};

}  // namespace toroid

#endif  // TOROID_HLO_PASSES_EXPAND_OPS_PASS_H_
