// Tells collectives why they are there.
//
// Before: y = f32[8] all-reduce(x), cause 3        After: y = f32[8] all-reduce(x),
//                                                           frontend_attributes={toroid.cause="output: ..."}
#ifndef TOROID_PARTITIONER_PROVENANCE_CAUSES_PASS_H_
#define TOROID_PARTITIONER_PROVENANCE_CAUSES_PASS_H_

#include "hlo/passes/pass.h"

namespace toroid {

// Writes the cause that an instruction was given when it was made (Module::causes) as the frontend attribute
// kCauseAttribute (hlo/ir/cause_attribute.h). Behind it causes are text, so passes that merge collectives run before.
class CausesPass : public Pass {
 public:
  absl::string_view name() const override { return "causes"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PROVENANCE_CAUSES_PASS_H_
