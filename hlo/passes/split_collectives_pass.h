// Undoes MergeCollectivesPass. The simulator then combines collectives by the rules of the target's compiler.
//
// Before: all = (f32[8], f32[2]) all-reduce(x, y), to_apply=add, ...
//         a = f32[8] get-tuple-element(all), index=0
//         b = f32[2] get-tuple-element(all), index=1
// After:  a = f32[8] all-reduce(x), to_apply=add, ...
//         b = f32[2] all-reduce(y), to_apply=add, ...
// A merged collective is recognized by the causes on the get-tuple-elements of its arrays
// (hlo/ir/cause_attribute.h). Collectives that the program's author wrote with several arrays stay.
#pragma once

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class SplitCollectivesPass : public Pass {
 public:
  absl::string_view name() const override { return "split_collectives"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid
