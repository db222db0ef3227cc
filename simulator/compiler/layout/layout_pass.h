// Decides how every array lies in memory, and copies where two ops need it differently.
//
//   arguments, results, values of loops    the order of dimensions that needs the least padding
//   and branches, operands and results of
//   exchanges, gathers, sorts
//   result of a dot                        its tiles span one free dimension of each side: the largest, or the last of several
//                                          if it fills tiles; the later is minor. If one is reduced next, the other, if that is
//                                          no shorter and pads no more: rows are added faster than lanes.
//                                          As a gather, loop or exchange of several arrays takes it, if one follows; as a
//                                          convolution takes images, or makes what it meets, if that pads no more
//   result of a convolution                tiles span features and batch
//   elementwise                            as an operand of the same sizes, a product rather than an argument; other such
//                                          operands are copied. If all are arguments: as a product that it meets later
//   weights of a dot of single steps of    copied with what is contracted along lanes
//   sequences, whose columns are cut next
//   transpose                              moves nothing: its result lies as its operand does
//   broadcast, iota                        as whoever reads them needs it
//   reshape that joins or cuts dimensions  the order with the least padding in which it moves nothing, if row-major pads more
//                                          (pieces_order.h); else row-major on both sides
//   one lane, cut for a concatenation      stays along lanes, and fills them
//   reshape that cuts lanes, for dots      copied with rows along lanes, where that pads less
//   argument or product, cut into layers   copied with that dimension outermost, if several are worked on together
//   concatenation                          as most of its operands; as convolutions want it that read it
// The layouts are written into the shapes; a copy is a `copy` from one layout to another, or a `convert` to bf16 if only
// products read it.
// Example: dot f32[512,8,1024] = bf16[2048,512,8] x bf16[2048,1024] lies {2,0,1}: 512 and 1024 span the tiles. As a result
// of the program it is wanted {2,1,0}: a copy.
#pragma once

#include <memory>

#include "hlo/passes/pass.h"
#include "simulator/program/tiling.h"

namespace toroid {

class LayoutPass : public Pass {
 public:
  explicit LayoutPass(const Tiling& tiling) : tiling_(tiling) {}
  absl::string_view name() const override { return "layout"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  const Tiling tiling_;
};

}  // namespace toroid
