// Works on arrays whose last dimension was cut as if it were not.
//
//   y = reshape(x), [.., C] to [.., G, S];  f(y, broadcast(m, {G}))  =>  reshape(f(x, broadcast(m'))),  m' = [G] spread to [C]
//   reduce(y, dims and S)                                            =>  reduce(reshape(reduce(x, dims)), S)
//   reshape(f(y)) back to [.., C]                                    =>  nothing
// Cutting lanes moves every element. Of group norm only sums of C elements are cut, and means put together.
// All arrays of one shape [.., G, S] are worked on so, or none: none if more values would have to be cut than are now.
// Pieces of whole tiles are joined only where they are put together again; what is spread to them is spread, then joined, which
// moves nothing: it is written tile by tile where it is wanted.
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
