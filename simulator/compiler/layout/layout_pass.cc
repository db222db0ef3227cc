#include "simulator/compiler/layout/layout_pass.h"

#include "hlo/base/status.h"
#include "hlo/passes/dce_pass.h"
#include "simulator/compiler/layout/layout_assigner.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {

absl::StatusOr<bool> LayoutPass::Run(std::unique_ptr<Module>* module) {
  for (const auto& computation : (*module)->computations()) {
    // Of reducers and the like all values are scalars.
    if (computation->root() == nullptr || computation->is_fusion()) continue;
    RETURN_IF_ERROR(LayoutAssigner(computation.get(), tiling_).Run());
    MarkRecorded(*computation);
  }
  ForgetRecorded();
  EliminateDeadCode(module->get());
  return true;
}

}  // namespace toroid
