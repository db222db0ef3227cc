// Removes what moves or computes nothing, so that fusion sees values where they are made.
//
//   reshape(reshape(x)), transpose(transpose(x)), broadcast(broadcast(x))   => one
//   reshape, transpose, broadcast, copy, convert that change nothing         => x
//   reshape(broadcast(x)) that adds or drops dimensions of one element       => broadcast(x)
//   dot(transpose(x), y) (transposed_operands.h)                             => dot(x, y) with other dimension numbers
//   max(x, -inf), min(x, inf), x + 0, x * 1 of floats                        => x
//   f(reshape(x), reshape(y)) of columns that are cut (columns.h)            => reshape(f(x, y))
//   reduce(reduce(x)) by the same op, read by nothing else                   => reduce(x)
//   reduce(f(reshape(x))) over what the reshape joins (reshape_cancellation.h)   => reduce(f(x))
//   reshape(f(reshape(x), broadcast(v))) of the sizes of x (same file)       => f(x, broadcast(reshape(v)))
//   convert(concatenate(x, y)) to a narrower type, if nothing else reads it => concatenate(convert(x), convert(y))
//   pad(x) by nothing or less                                                => slice(x)
//   slice(convolution(x)) of places, read by nothing else                    => convolution(x), padded by less
//   get-tuple-element(tuple(.., x, ..))                                      => x
//   Sharding annotations                                                     => x
//   two of the same op, operands and attributes                              => one
//   and then opt-barrier(x)                                                  => x
// What stands behind a barrier so that it is computed a second time (for a backward pass, say) stays apart.
// Example: a JAX broadcast, reshape f32[8,1] -> broadcast f32[8,1] -> reshape f32[8] -> broadcast f32[8,4], becomes the
// last broadcast alone.
// BUILD: srcs += "simplifier.h", "simplify_moves.cc", "simplify_slices.cc", "simplify_reductions.cc"
#pragma once

#include <memory>

#include "hlo/passes/pass.h"
#include "simulator/program/tiling.h"

namespace toroid {

class SimplifyPass : public Pass {
 public:
  // `keeps_barriers`: for a pass after which comes another one.
  explicit SimplifyPass(bool keeps_barriers = false, const Tiling& tiling = {})
      : keeps_barriers_(keeps_barriers), tiling_(tiling) {}
  absl::string_view name() const override { return "simplify"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  const bool keeps_barriers_;
  const Tiling tiling_;
};

}  // namespace toroid
