#include "partitioner/provenance/causes_pass.h"

#include "hlo/ir/cause_attribute.h"

namespace toroid {

absl::StatusOr<bool> CausesPass::Run(std::unique_ptr<Module>* module) {
  bool changed = false;
  for (const auto& computation : (*module)->computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (instruction->cause() == 0) continue;
      auto* attributes = (*module)->New<xla::FrontendAttributes>();
      (*attributes->mutable_map())[kCauseAttribute] = (*module)->causes()[instruction->cause()];
      instruction->set_frontend_attributes(attributes);
      changed = true;
    }
  }
  return changed;
}

}  // namespace toroid
