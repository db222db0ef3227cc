// Keeps predicates of a product's result that are needed later as bits of words.
//
// Example: the gradient of a relu needs to know which hidden values are above zero. That is known where the hidden values are
// made, and needed behind other products. One dimension of 2 to 32 elements, neither of a tile's two, becomes the bits of words
// of 8, 16 or 32; readers take their bit out of the words:
//   h = f32[4,512,8192] dot(x, w), p = compare(h, 0), ..., select(p, dot(g, w2), 0)
//   => words = u8[512,8192] reduce-or(shift-left(convert(p), iota)),
//      select(convert(and(broadcast(words), shift-left(1, iota))), ..)
// The product's result itself then need not be kept for them. The largest such dimension is packed. The last dimension gives a
// tile its lanes; the one before it its rows, unless that has fewer than 8 elements or does not fill the matrix units and
// another dimension does: of f32[2048,2,8192] the 2 are packed, of f32[128,32,8192] the 32. Predicates stay as they are if
// other products or sums of this one are needed to find them, or if nothing but the product's own group needs them.
// Source: seen in what Google's compiler for TPU v3 makes of training steps.
#pragma once

#include <memory>

#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"

namespace toroid {

class PackedPredicatesPass : public Pass {
 public:
  // Rows of a tile in memory; rows and columns of a matrix unit.
  PackedPredicatesPass(int64_t sublanes, int64_t unit) : sublanes_(sublanes), unit_(unit) {}
  absl::string_view name() const override { return "packed_predicates"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  const int64_t sublanes_, unit_;
};

// A reduction that packs predicates into words.
bool PacksPredicates(const Instruction& op);
// The product of which such a reduction packs predicates; null for other instructions.
const Instruction* ProductOfPacked(const Instruction& op);
// The words out of which a predicate is taken; null for other values.
const Instruction* WordsOf(const Instruction& op);

}  // namespace toroid
