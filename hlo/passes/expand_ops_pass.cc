#include "hlo/passes/expand_ops_pass.h"

#include <utility>
#include <vector>

#include "hlo/base/status.h"
#include "hlo/ir/edit.h"
#include "hlo/passes/expand_op.h"

namespace toroid {
namespace {

bool AnyExpands(const Module& module) {
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (CanExpand(*instruction)) return true;
    }
  }
  return false;
}

class Expander {
 public:
  Expander(const Module& source, Module* target) : source_(source), target_(target) {}

  absl::Status Run() {
    computations_.resize(source_.num_computations());
    for (const auto& computation : source_.computations()) RETURN_IF_ERROR(Copy(*computation));
    target_->set_entry(computations_[source_.entry()->index()]);
    return absl::OkStatus();
  }

 private:
  absl::Status Copy(const Computation& source) {
    Computation* copy = target_->AddComputation(source.name());
    copy->set_is_fusion(source.is_fusion());
    copy->set_execution_thread(source.execution_thread());
    ASSIGN_OR_RETURN(
        const std::vector<Instruction*> made,
        CloneInstructions(source,
                          [&](const Instruction& instruction,
                              std::vector<Instruction*>* operands) -> absl::StatusOr<Instruction*> {
                            return Append(instruction, *operands, copy);
                          }));
    CloneControlPredecessors(source, made);
    copy->set_root(made[source.root()->index()]);
    computations_[source.index()] = copy;
    return copy->CollectParameters();
  }

  absl::StatusOr<Instruction*> Append(const Instruction& source, const std::vector<Instruction*>& operands,
                                      Computation* to) {
    if (!CanExpand(source)) {
      Instruction* clone = to->AddClone(source, source.shape(), operands);
      ReplaceCalled(clone, [&](const Computation* callee) { return computations_[callee->index()]; });
      clone->set_name(source.name());
      clone->TakeSharding(source);
      return clone;
    }
    InstructionBuilder b(to);
    b.set_metadata(source.metadata());
    const Computation* step = source.called().empty() ? nullptr : computations_[source.called(0)->index()];
    const absl::StatusOr<Value> value = ExpandOp(source, operands, step, b);
    if (!value.ok()) return Annotate(value.status(), source.Path());
    (*value)->set_name(source.name());
    (*value)->TakeSharding(source);
    (*value)->set_frontend_attributes(source.frontend_attributes());
    return *value;
  }

  const Module& source_;
  Module* target_;
  std::vector<Computation*> computations_;  // By computation of the source.
};

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> ExpandOps(const Module& module) {
  if (!AnyExpands(module)) return std::unique_ptr<Module>();
  auto target = std::make_unique<Module>(module.name(), module);
  *target->mutable_proto() = module.proto();
  target->mutable_proto()->clear_schedule();
  target->config() = module.config();
  Expander expander(module, target.get());
  RETURN_IF_ERROR(expander.Run());
  target->RemoveUnreachableComputations();  // Sorts the loops' bodies before their callers.
  return target;
}

}  // namespace toroid
