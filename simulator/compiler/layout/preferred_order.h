// In which order of dimensions ops make their results best, and in which they read values that have no order yet. It depends on
// what the program does with the result.
// layout_pass.h says by which rules.
// BUILD: srcs += "wanted_order.cc"
#pragma once

#include <vector>

#include "hlo/ir/module.h"
#include "simulator/program/tiling.h"

namespace toroid {

// The orders of a computation's values as far as they are decided. Copies that were added since have theirs in their shapes.
struct LayoutState {
  LayoutState(const Computation& of, const Tiling& tiles)
      : computation(of), tiling(tiles), users(of), n(of.size()), orders(n), flexible(n, false) {}

  // An order is empty while nothing asks for one; scalars lie in any.
  bool Known(const Instruction* value) const {
    return value->index() >= n || !orders[value->index()].empty() || value->shape().rank() == 0;
  }
  Dims OrderOf(const Instruction* value) const {
    return value->index() >= n ? value->shape().MinorToMajor() : orders[value->index()];
  }
  bool IsFlexible(const Instruction* value) const { return value->index() < n && flexible[value->index()]; }

  const Computation& computation;
  const Tiling tiling;
  const UserMap users;
  const int n;
  std::vector<Dims> orders;
  // Values made of broadcasts and constants alone, which can be made again in any order for whoever wants another one.
  std::vector<bool> flexible;
};

// An argument of the program, or a slice of one.
bool IsOfArgument(const Instruction* value);

// The op reads its operands only in the order with the least padding, whatever makes them.
bool WantsDenseOperands(const Instruction& op);

// `value` can be made with either dimension of the pair minor: which one is, as the pair in that order. The readers decide. An
// op that takes its operands in one order only (WantsDenseOperands) decides alone. Otherwise the nearest of these does: a
// reshape that moves nothing in one of the orders, a value with an order of its own that an elementwise op combines with it, a
// result of the program, or a reduction, which should not be over the minor dimension. `for_window`: arguments and results have
// no say.
Dims WantedOrder(const Instruction* value, const Dims& pair, const LayoutState& state,
                 bool for_window = false);

// The order in which a convolution takes as images the value, or what elementwise ops, slices, pads and broadcasts make of it;
// empty if no convolution does, or if features and images do not fill tiles.
Dims OrderAsImages(const Instruction& value, const LayoutState& state);

Dims OrderOfDot(const Instruction* dot, const LayoutState& state);
// The order in which a dot takes an operand that lies in `order`: the same, unless a batch dimension is minor, which goes
// behind the others.
Dims OrderOfOperand(const Instruction& dot, int side, const Dims& order);
// The order in which a convolution takes operand `side` (0: the images; 1: the kernel, of a kernel's gradient) if that lies in
// `order`: as it is, if features or images are minor. Otherwise features along lanes and images as rows; the other way round if
// there are few features.
Dims OrderOfImages(const Instruction& convolution, int side, const Dims& order, const Tiling& tiling);
Dims OrderOfConvolution(const Instruction* convolution, const LayoutState& state);
// The order of a convolution's result or operand: its tiles span features and batch, with the one minor that pads less.
Dims OrderOfWindows(const Shape& shape, int64_t features, int64_t batch, const Tiling& tiling);

// The order in which a reduction reads an operand that has none: that of the largest array from which the operand is broadcast,
// if that array fills tiles and is not much smaller than the operand; else the one with the least padding.
Dims OrderOfReduced(const Instruction* reduce, const LayoutState& state);

// The order of a value that is made from broadcast vectors: the dimension of the first vector is minor, as spreading it over
// rows is free. `otherwise` if there is no such vector.
Dims NaturalOrder(const Instruction* value, const Dims& otherwise, const Tiling& tiling);

}  // namespace toroid
