#include "simulator/compiler/layout/pieces_order.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/program/dim_orders.h"
#include "simulator/program/elementwise.h"
#include "simulator/program/tiling.h"
#include "simulator/program/walk.h"

namespace toroid {
namespace {

// Dots that read the value, possibly converted or transposed, have `d` as a batch dimension.
bool IsBatchOfDots(const Instruction& value, int64_t d, const LayoutState& state) {
  if (value.index() >= state.n) return false;
  return absl::c_any_of(state.users.users(value), [&](const Instruction* user) {
    if (user->opcode() == Opcode::kConvert) return IsBatchOfDots(*user, d, state);
    if (user->opcode() == Opcode::kTranspose) {
      const auto dims = user->dimensions();
      return IsBatchOfDots(*user, absl::c_find(dims, d) - dims.begin(), state);
    }
    if (user->opcode() != Opcode::kDot) return false;
    const DotView view(*user);
    return (user->operand(0) == &value && absl::c_linear_search(view.lhs_batch(), d)) ||
           (user->operand(1) == &value && absl::c_linear_search(view.rhs_batch(), d));
  });
}

// Dots read the value, or what is made from it without reductions, windows and sorts.
bool LeadsToDots(const Instruction& value, const LayoutState& state) {
  constexpr WalkLimit kReadersToDots = {"readers on the way to dots", 64};
  for (Walk walk(&value, kReadersToDots); const Instruction* at = walk.Next();) {
    if (at->index() >= state.n) continue;
    for (const Instruction* user : state.users.users(*at)) {
      const Opcode opcode = user->opcode();
      if (opcode == Opcode::kDot) return true;
      const bool moves = opcode == Opcode::kReshape || opcode == Opcode::kTranspose ||
                         opcode == Opcode::kSlice || opcode == Opcode::kConcatenate ||
                         opcode == Opcode::kPad || opcode == Opcode::kReverse;
      if (moves || IsElementwise(*user)) walk.Add(user);
    }
  }
  return false;
}

}  // namespace

Dims OrderOfConcatenation(const Instruction& op, const LayoutState& state) {
  // What convolutions slide over, rounded or not.
  const auto slides = [&](const Instruction* value) {
    return !state.users.users(*value).empty() &&
           absl::c_all_of(state.users.users(*value), [&](const Instruction* user) {
             return user->opcode() == Opcode::kConvolution && user->operand(0) == value;
           });
  };
  const Instruction* value = &op;
  const auto users = state.users.users(op);
  if (users.size() == 1 && users[0]->opcode() == Opcode::kConvert) value = users[0];
  if (slides(value)) {
    const ConvolutionView view(*state.users.users(*value)[0]);
    return OrderOfWindows(op.shape(), view.input_feature(), view.input_batch(), state.tiling);
  }
  Dims best;
  int64_t most = 0;
  for (const Instruction* candidate : op.operands()) {
    if (!state.Known(candidate)) continue;
    int64_t elements = 0;
    for (const Instruction* operand : op.operands()) {
      if (state.Known(operand) &&
          LiesAlike(operand->shape(), state.OrderOf(operand), state.OrderOf(candidate)))
        elements += operand->shape().NumElements();
    }
    if (elements <= most) continue;
    most = elements;
    best = state.OrderOf(candidate);
  }
  return best.empty() ? LeastPaddingOrder(op.shape(), state.tiling) : best;
}

Dims OrderOfPieces(const Instruction& reshape, const LayoutState& state) {
  const Shape &from = reshape.operand(0)->shape(), &to = reshape.shape();
  const Dims before = SizedOrder(from, state.OrderOf(reshape.operand(0)));
  if (before.size() < 2) return {};
  const auto now = OrderThroughReshape(from, to, state.OrderOf(reshape.operand(0)));
  // Pieces are of the minor dimension alone.
  if (!now || to.dim(SizedOrder(to, *now)[0]) == from.dim(before[0])) return {};
  Shape lies = to;
  SetOrder(*now, &lies);
  double least = PaddedElements(lies, state.tiling);
  Dims best;
  if (!LeadsToDots(reshape, state)) return best;
  for (size_t k = 1; k < before.size(); ++k) {
    const auto turned = OrderThroughReshape(from, to, OrderFrom(from, {before[k], before[0]}));
    if (!turned) continue;
    const int64_t lanes = SizedOrder(to, *turned)[0];
    SetOrder(*turned, &lies);
    const double padded = PaddedElements(lies, state.tiling);
    if (to.dim(lanes) != from.dim(before[k]) || padded >= least || IsBatchOfDots(reshape, lanes, state))
      continue;
    least = padded;
    best = *turned;
  }
  return best;
}

Dims OrderThatKeepsTiles(const Instruction& reshape, const LayoutState& state) {
  Shape from = reshape.operand(0)->shape(), to = reshape.shape();
  if (SameButUnitDims(from, to)) return {};
  // The reshape moves nothing if its result lies in `order`.
  const auto keeps = [&](const Dims& order) {
    const auto before = OrderThroughReshape(to, from, order);
    if (!before) return false;
    SetOrder(order, &to);
    SetOrder(*before, &from);
    return KeepsTiles(from, to, state.tiling);
  };
  if (state.Known(reshape.operand(0))) {
    if (const auto now = OrderThroughReshape(from, to, state.OrderOf(reshape.operand(0))); now && keeps(*now))
      return {};
  }
  // Padded, of the side that has more dimensions.
  const bool cuts = SizedDims(to).size() >= SizedDims(from).size();
  const auto padded = [&] { return PaddedElements(cuts ? to : from, state.tiling); };
  const bool row_major_keeps = keeps(RowMajorOrder(to));
  SetOrder(RowMajorOrder(to), &to);
  SetOrder(RowMajorOrder(from), &from);
  const double row_major = padded();
  if (row_major == static_cast<double>(to.NumElements())) return {};
  double least = 0;
  bool best_is_whole = false;
  Dims best;
  const auto consider = [&](const Dims& order) {
    if (!keeps(order)) return;
    const Shape& cut = cuts ? to : from;
    const bool is_whole = cut.dim(PhysicalOrder(cut)[1]) >= state.tiling.sublanes;
    if (!best.empty() && (padded() > least || (padded() == least && (best_is_whole || !is_whole)))) return;
    least = padded();
    best_is_whole = is_whole;
    best = order;
  };
  // Any two dimensions in front, of either side, the others row-major.
  for (const Shape* side : {&to, &from}) {
    const Shape shape = *side;
    const Dims dims = SizedDims(shape);
    for (size_t minor = dims.size(); minor-- > 0;) {
      for (size_t second = dims.size(); second-- > 0;) {
        if (second == minor) continue;
        const Dims order = OrderFrom(shape, {dims[minor], dims[second]});
        if (side == &to) {
          consider(order);
        } else if (const auto after = OrderThroughReshape(shape, to, order)) {
          consider(*after);
        }
      }
    }
  }
  return !best.empty() && (least < row_major || (least == row_major && row_major_keeps)) ? best : Dims();
}

}  // namespace toroid
