#include "simulator/lowering/pieces_order.h"

#include "absl/algorithm/container.h"
#include "hlo/ir/attribute_views.h"
#include "simulator/lowering/dim_orders.h"
#include "simulator/lowering/tiling.h"

namespace toroid {
namespace {

// Dots that read the value, rounded or turned, have `d` as a batch.
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

}  // namespace

Dims OrderOfConcatenation(const Instruction& op, const LayoutState& state) {
  // What convolutions slide over, rounded or not.
  const auto slides = [&](const Instruction* value) {
    return !state.users.users(*value).empty() && absl::c_all_of(state.users.users(*value), [&](const Instruction* user) {
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
      if (state.Known(operand) && LiesAlike(operand->shape(), state.OrderOf(operand), state.OrderOf(candidate))) elements += operand->shape().NumElements();
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
  for (size_t k = 1; k < before.size(); ++k) {
    const auto turned = OrderThroughReshape(from, to, OrderFrom(from, {before[k], before[0]}));
    if (!turned) continue;
    const int64_t lanes = SizedOrder(to, *turned)[0];
    SetOrder(*turned, &lies);
    const double padded = PaddedElements(lies, state.tiling);
    if (to.dim(lanes) != from.dim(before[k]) || padded >= least || IsBatchOfDots(reshape, lanes, state)) continue;
    least = padded;
    best = *turned;
  }
  return best;
}

}  // namespace toroid
