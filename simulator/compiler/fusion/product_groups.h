// What runs in the group of a product: ops behind it (its epilogue), and other products inside of it. fusion_pass.h says by
// which rules.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/module.h"
#include "simulator/compiler/fusion/fusible_producers.h"

namespace toroid {

// A reduction of a product's result to this shape can run with the product: its results fit on the chip until all windows have
// passed.
bool IsHeldBesideProducts(const Shape& shape);

class ProductGroups {
 public:
  ProductGroups(const Computation& computation, const UserMap& users, const FusibleProducers& made);

  // By index: for products, pooling windows and their epilogues the value that leaves the group. Null for others.
  std::vector<const Instruction*> Owners() &&;

 private:
  const Instruction* At(int i) const { return computation_.instruction(i); }
  bool IsRecomputed(const Instruction& op) const { return made_.values()[op.index()]; }
  // The users of `op`, each once, without packed predicates (packed_predicates_pass.h), which are made with it. `first_words`
  // becomes the index of the first of those, if it is smaller.
  std::vector<const Instruction*> UsersBehind(const Instruction& op, int* first_words) const;
  void TakeEpilogue(const Instruction* dot);
  void TakeNestedDot(const Instruction* dot);
  static bool KeepsRows(const Instruction& dot);
  // The dot `inner[0]` and its epilogue, which make operand `side` of `outer`, may run inside of `outer`.
  bool FitsInside(absl::Span<const Instruction* const> inner, const Instruction& outer, int side) const;
  // The epilogue of the inner dot needs the result of another product that nobody else reads, as with a gate.
  bool MeetsAnother(absl::Span<const Instruction* const> inner) const;
  // A convolution that only a depthwise one reads runs inside of that one.
  void TakeNestedConvolution(const Instruction* convolution);
  // A convolution that only `outer` reads runs inside of it, if `outer` has a kernel of one position or IsMadeInWindows.
  void TakeConvolutionBefore(const Instruction* outer);
  // Both convolutions have images along lanes, and the weights of both fit on the core.
  bool IsMadeInWindows(const Instruction& inner, const Instruction& outer) const;

  const Computation& computation_;
  const UserMap& users_;
  const FusibleProducers& made_;
  const int n_;
  std::vector<const Instruction*> owner_;
  // By index of the value that ends a dot's epilogue: the dot and its epilogue. slid_: the same of convolutions.
  std::vector<std::vector<const Instruction*>> taken_, slid_;
  // By index of a product: it runs inside of another one; another one runs inside of it.
  std::vector<bool> is_nested_, holds_;
};

}  // namespace toroid
