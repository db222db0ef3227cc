// What runs with products: what they take behind them, and products inside of others. fusion_pass.h says by which rules.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/module.h"
#include "simulator/compiler/fusion/fusible_producers.h"

namespace toroid {

// A reduction of what a product makes has as many results as can be held on the chip until all windows have passed.
bool IsHeldBesideProducts(const Shape& shape);

class ProductGroups {
 public:
  ProductGroups(const Computation& computation, const UserMap& users, const FusibleProducers& made);

  // By index: of products, windows over arrays and what they take behind them, the value that leaves the group. Null for others.
  std::vector<const Instruction*> Owners() &&;

 private:
  const Instruction* At(int i) const { return computation_.instruction(i); }
  bool IsRecomputed(const Instruction& op) const { return made_.values()[op.index()]; }
  // The users of `op`, each once, without words of predicates that are made beside it: `first_words` becomes the
  // index of the first of these, if that is less.
  std::vector<const Instruction*> UsersBehind(const Instruction& op, int* first_words) const;
  void TakeEpilogue(const Instruction* dot);
  void TakeNestedDot(const Instruction* dot);
  static bool KeepsRows(const Instruction& dot);
  // The dot and what it takes behind it make that operand of `outer`.
  bool FitsInside(absl::Span<const Instruction* const> inner, const Instruction& outer, int side) const;
  // What is done behind the inner dot needs what another product made for nobody else.
  bool MeetsAnother(absl::Span<const Instruction* const> inner) const;
  // What only a convolution channel by channel reads is made in its windows.
  void TakeNestedConvolution(const Instruction* convolution);
  // A convolution that only one of a single position reads, or one in whose windows it is made, behind what it takes.
  void TakeConvolutionBefore(const Instruction* outer);
  // Images stay along lanes of both, and the weights of both on the core.
  bool IsMadeInWindows(const Instruction& inner, const Instruction& outer) const;

  const Computation& computation_;
  const UserMap& users_;
  const FusibleProducers& made_;
  const int n_;
  std::vector<const Instruction*> owner_;
  // By index of the last value that a dot takes behind it: the dot and what it takes. The same of convolutions.
  std::vector<std::vector<const Instruction*>> taken_, slid_;
  // By index of a product: it runs inside of another one; another one runs inside of it.
  std::vector<bool> is_nested_, holds_;
};

}  // namespace toroid
