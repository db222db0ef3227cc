// Writes the cause of each collective as a frontend attribute.
//
// Before: y = f32[8] all-reduce(x), cause 3        After: y = f32[8] all-reduce(x),
//                                                           frontend_attributes={toroid.cause="output: ..."}
#pragma once

#include "hlo/passes/pass.h"

namespace toroid {

// Writes the cause number that an instruction got when it was built (an index into Module::causes) as the
// text of its frontend attribute kCauseAttribute (hlo/ir/cause_attribute.h). Passes that merge collectives
// must run before, while causes are numbers.
class CausesPass : public Pass {
 public:
  absl::string_view name() const override { return "causes"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid
