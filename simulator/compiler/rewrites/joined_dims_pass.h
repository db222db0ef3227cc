// Works on an array whose last dimension a reshape cut into pieces as if it had not been cut.
//
//   y = reshape(x), [.., C] to [.., G, S];  f(y, broadcast(m, {G}))  =>  reshape(f(x, broadcast(m'))),  m' = [G] spread to [C]
//   reduce(y, dims and S)                                            =>  reduce(reshape(reduce(x, dims)), S)
//   reshape(f(y)) back to [.., C]                                    =>  nothing
// Cutting lanes moves every element. Example: a group norm over images with C channels in G groups. Uncut, only its sums, C
// elements each, are cut into groups, and its means are joined.
// Either all arrays of one shape [.., G, S] of a computation are uncut, or none: none if more values would have to be cut than
// now. If pieces are whole tiles, cutting moves nothing: then they are joined only where a reshape joins them again.
// Seen in Google's compiler for TPU v3.
#pragma once

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class JoinedDimsPass : public Pass {
 public:
  // Elements of a tile along its minor dimension.
  explicit JoinedDimsPass(int64_t lanes) : lanes_(lanes) {}
  absl::string_view name() const override { return "joined_dims"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  const int64_t lanes_;
};

}  // namespace toroid
