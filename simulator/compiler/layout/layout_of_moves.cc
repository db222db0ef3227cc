#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/edit.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/compiler/layout/layout_assigner.h"
#include "simulator/compiler/layout/pieces_order.h"
#include "simulator/compiler/layout/preferred_order.h"
#include "simulator/program/convolutions.h"
#include "simulator/program/data_movement.h"
#include "simulator/program/dim_orders.h"
#include "simulator/program/elementwise.h"
#include "simulator/program/tiling.h"
#include "simulator/program/walk.h"
#include "simulator/program/windows.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {

Dims LayoutAssigner::OrderOfLayers(const Instruction& slice) {
  if (slice.opcode() != Opcode::kSlice) return {};
  const Instruction* from = slice.operand(0);
  const Dims sized = SizedOrder(
      from->shape(), Known(from) ? OrderOf(from) : LeastPaddingOrder(from->shape(), tiling_, true));
  if (sized.size() < 3) return {};
  for (const int64_t d : sized) {
    if (d == sized.back() || slice.shape().dim(d) > 1) continue;
    const auto [place, is_new] = layers_.try_emplace(std::pair<const Instruction*, int64_t>(from, d));
    if (is_new && IsWorkedOnInLayers(*from, d) && Decides(Rule::kLayersOutermost, *from)) {
      Shape layer = from->shape();
      layer.set_dim(d, 1);
      Dims order = LeastPaddingOrder(layer, tiling_, /*prefers_whole=*/true);
      order.erase(std::find(order.begin(), order.end(), d));
      order.push_back(d);
      place->second = std::move(order);
    }
    if (!place->second.empty()) return place->second;
  }
  return {};
}

bool LayoutAssigner::IsWorkedOnInLayers(const Instruction& array, int64_t d) const {
  // A reader that only puts the slice beside others again does not count.
  const auto is_worked_on = [&](const Instruction* op) {
    if (op->opcode() != Opcode::kReshape)
      return !Places(*op) || (op->opcode() == Opcode::kConcatenate && op->dimension() != d);
    return absl::c_any_of(state_.users.users(*op), [](const Instruction* user) {
      return user->opcode() != Opcode::kReshape && user->opcode() != Opcode::kTuple;
    });
  };
  int layers = 0;
  bool worked_on = false;
  for (const Instruction* slice : state_.users.users(array)) {
    if (slice->opcode() != Opcode::kSlice || slice->shape().dim(d) > 1) continue;
    ++layers;
    worked_on |= absl::c_any_of(state_.users.users(*slice), is_worked_on);
  }
  return layers > 1 && worked_on;
}

bool LayoutAssigner::CutsOneLane(const Instruction& op) const {
  if (op.opcode() != Opcode::kSlice || op.shape().rank() < 2) return false;
  const Dims sized = SizedOrder(op.operand(0)->shape(), OrderOf(op.operand(0)));
  if (op.operand(0)->opcode() == Opcode::kConcatenate && sized.size() < 3) return false;
  return !sized.empty() && op.shape().dim(sized[0]) == 1 &&
         absl::c_any_of(state_.users.users(op),
                        [](const Instruction* user) {
                          return user->opcode() == Opcode::kConcatenate || user->opcode() == Opcode::kPad;
                        }) &&
         Decides(Rule::kCutLanesStay, op);
}

void LayoutAssigner::AssignTranspose(Instruction* op) {
  Dims& order = orders_[op->index()];
  Instruction* from = op->operand(0);
  if (!Known(from) || (state_.IsFlexible(from))) return;
  for (const int64_t d : OrderOf(from)) {
    const auto dims = op->dimensions();
    order.push_back(std::find(dims.begin(), dims.end(), d) - dims.begin());
  }
}

void LayoutAssigner::AssignPart(Instruction* op) {
  Dims& order = orders_[op->index()];
  const Opcode opcode = op->opcode();
  Instruction* from = op->operand(0);
  const Dims apart = OrderOfLayers(*op);
  if (!Known(from)) Settle(from, !apart.empty() ? apart : LeastPaddingOrder(from->shape(), tiling_, true));
  if (!apart.empty() && (from->opcode() == Opcode::kParameter || from->opcode() == Opcode::kDot ||
                         from->opcode() == Opcode::kConvolution)) {
    Need(op, 0, apart);
    order = apart;
    return;
  }
  order = OrderOf(op->operand(0));
  // Little that is padded to much.
  if (opcode == Opcode::kPad && !PadsLittle(op->shape(), order) && Decides(Rule::kPadsLieDense, *op)) {
    order = LeastPaddingOrder(op->shape(), tiling_);
    Need(op, 0, order);
  }
  if (opcode == Opcode::kDynamicUpdateSlice) Need(op, 1, order);
}

void LayoutAssigner::AssignConcatenation(Instruction* op) {
  Dims& order = orders_[op->index()];
  order = OrderOfConcatenation(*op, state_);
  // A concatenation of which nothing but a result of the program is made lies as the caller wants the result.
  const Instruction* end = op;
  while (state_.users.users(*end).size() == 1 && IsElementwise(*state_.users.users(*end)[0]))
    end = state_.users.users(*end)[0];
  if (IsOnlyReturned(*end) && Decides(Rule::kJoinedAsReturned, *op))
    order = LeastPaddingOrder(end->shape(), tiling_);
  for (int k = 0; k < op->num_operands(); ++k) Need(op, k, order);
}

void LayoutAssigner::AssignExchange(Instruction* op) {
  Dims& order = orders_[op->index()];
  // What goes to one device, or comes from it, lies in one piece.
  if (op->dimensions().empty() || op->num_operands() != 1 || !Decides(Rule::kExchangedInOnePiece, *op)) {
    order = LeastPaddingOrder(op->shape(), tiling_);
    for (int k = 0; k < op->num_operands(); ++k) NeedDense(op, k);
    return;
  }
  Shape piece = op->operand(0)->shape();
  piece.set_dim(op->dimension(), 1);
  order = LeastPaddingOrder(piece, tiling_);
  order.erase(std::find(order.begin(), order.end(), op->dimension()));
  order.push_back(op->dimension());
  Need(op, 0, order);
}

}  // namespace toroid
