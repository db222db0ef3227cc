// In which order of dimensions ops make their results best, or read what has no order yet, by what follows.
// layout_pass.h says by which rules.
// BUILD: srcs += "wanted_order.cc"
#pragma once

#include <vector>

#include "hlo/ir/module.h"
#include "simulator/program/tiling.h"

namespace toroid {

// What has been decided of a computation's values so far. Those added since, copies, have their order in their shapes.
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
  // Values that had no layout of their own: made anew for whoever wants another.
  std::vector<bool> flexible;
};

// The caller's, or cut from that: copied for whoever meets it.
bool IsOfArgument(const Instruction* value);

// Reads its operands in the order that needs the least padding, whatever they are made by.
bool WantsDenseOperands(const Instruction& op);

// Either dimension of the pair may be minor: as an op wants it that takes operands in one order only; if there is none, as
// the nearest of these does: reshapes that keep one of them, values that it meets, results of the program, reductions, which are not
// over the minor one. `for_window`: of these neither arguments that it meets nor results nor reductions.
Dims WantedOrder(const Instruction* value, const Dims& pair, const LayoutState& state,
                 bool for_window = false);

// The order in which a convolution takes the value as images, or what is made of it elementwise, cut, padded or repeated, whole tiles of
// features and images each; empty if none does.
Dims OrderAsImages(const Instruction& value, const LayoutState& state);

Dims OrderOfDot(const Instruction* dot, const LayoutState& state);
// The order in which a dot takes an operand that lies in `order`: lanes are along a dimension that is multiplied.
Dims OrderOfOperand(const Instruction& dot, int side, const Dims& order);
// The order in which a convolution takes what it slides over (side 0), or what slides for the gradient of a kernel (1), that lies in
// `order`: as it is, if features or images lie along lanes. Otherwise features along lanes, images as rows; the other way round if features fill no more than a register's rows
// of two bf16 each.
Dims OrderOfImages(const Instruction& convolution, int side, const Dims& order, const Tiling& tiling);
Dims OrderOfConvolution(const Instruction* convolution, const LayoutState& state);
// Of what is made window by window: its tiles span features and batch, whichever way pads less.
Dims OrderOfWindows(const Shape& shape, int64_t features, int64_t batch, const Tiling& tiling);

// The order in which a reduction reads what has none: that of the largest array that is spread to it along few elements, if that fills
// tiles; else lanes along a dimension that stays, if it fills them.
Dims OrderOfReduced(const Instruction* reduce, const LayoutState& state);

// The minor dimension of a value made from vectors is that of the first of them: spreading it over rows costs nothing.
Dims NaturalOrder(const Instruction* value, const Dims& otherwise, const Tiling& tiling);

}  // namespace toroid
