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

bool LayoutAssigner::CutsColumnsOfSteps(const Instruction& dot) const {
  const DotView view(dot);
  const Shape &rows = dot.operand(0)->shape(), &weights = dot.operand(1)->shape();
  if (!view.lhs_batch().empty() || view.rhs_contracting().size() != 1 || weights.rank() != 2) return false;
  const int64_t columns = dot.shape().rank() - 1;
  bool has_step = false;
  for (int64_t d = 0; d < columns; ++d) has_step |= dot.shape().dim(d) == 1;
  if (!has_step || rows.NumElements() == rows.dim(view.lhs_contracting()[0])) return false;
  constexpr WalkLimit kReadersThatCutColumns = {"readers that cut columns of steps", 16};
  const Instruction* value = &dot;
  for (size_t step = 0; step < kReadersThatCutColumns.most; ++step) {
    const auto users = state_.users.users(*value);
    if (users.size() != 1 || users[0]->index() >= n_) return false;
    value = users[0];
    if (value->opcode() == Opcode::kReshape && !SameButUnitDims(value->operand(0)->shape(), value->shape())) {
      return value->shape().rank() > 0 && value->shape().dims().back() < dot.shape().dim(columns);
    }
    if (!IsElementwise(*value) && !IsInPlace(*value)) return false;
  }
  ReportLimit(kReadersThatCutColumns);
  return false;
}

void LayoutAssigner::AssignProduct(Instruction* op) {
  const Opcode opcode = op->opcode();
  for (Instruction* operand : op->operands()) {
    if (!Known(operand)) Settle(operand, LeastPaddingOrder(operand->shape(), tiling_, true));
  }
  if (opcode == Opcode::kConvolution) {
    Need(op, 0, OrderOfImages(*op, 0, OrderOf(op->operand(0)), tiling_));
    // Of what slides for a kernel's gradient, the images of results.
    const bool of_groups =
        ConvolutionView(*op).batch_groups() > 1 || ConvolutionView(*op).feature_groups() > 1;
    if (IsKernelGradient(*op) && (!of_groups || HoldsImagesOfGroups(*op))) {
      Need(op, 1, OrderOfImages(*op, 1, OrderOf(op->operand(1)), tiling_));
    }
  } else {
    for (const int side : {0, 1}) Need(op, side, OrderOfOperand(*op, side, OrderOf(op->operand(side))));
    if (CutsColumnsOfSteps(*op) && Decides(Rule::kWeightsOfSteps, *op))
      Need(op, 1, OrderFrom(op->operand(1)->shape(), {DotView(*op).rhs_contracting()[0]}));
  }
  orders_[op->index()] = opcode == Opcode::kDot ? OrderOfDot(op, state_) : OrderOfConvolution(op, state_);
}

void LayoutAssigner::AssignReduce(Instruction* op) {
  Dims& order = orders_[op->index()];
  Instruction* from = op->operand(0);
  if (!Known(from)) Settle(from, OrderOfReduced(op, state_));
  for (int k = 1; k < op->num_operands() / 2; ++k) Need(op, k, OrderOf(from));
  if (op->shape().rank() == 0) return;
  const auto reduced = op->dimensions();
  for (const int64_t d : OrderOf(from)) {
    if (std::find(reduced.begin(), reduced.end(), d) != reduced.end()) continue;
    order.push_back(d - std::count_if(reduced.begin(), reduced.end(), [d](int64_t r) { return r < d; }));
  }
}

void LayoutAssigner::AssignWindows(Instruction* op) {
  Dims& order = orders_[op->index()];
  Instruction* from = op->operand(0);
  if (!Known(from)) Settle(from, LeastPaddingOrder(from->shape(), tiling_, true));
  order = OrderOf(from);
  if (!IsRunningFold(*op) || !IsOn(Rule::kFoldedOutermost)) return;
  bool is_minor = false;
  order = OrderOfFold(*op, order, &is_minor);
  if (is_minor) Need(op, 0, order);
}

// The dimension along which sums run becomes the outermost one, so that elements that are added to each other lie in different
// registers, at the same place of each. If it lay along rows, the operand is read as it lies; if along lanes, a copy is needed.
Dims LayoutAssigner::OrderOfFold(const Instruction& op, Dims order, bool* is_minor) const {
  const WindowView window(op);
  const auto folded = absl::c_find_if(order, [&](int64_t d) { return !window[d].IsTrivial(); });
  if (folded == order.end()) return order;
  Decides(Rule::kFoldedOutermost, op);
  const int64_t d = *folded;
  *is_minor =
      !LiesAlike(op.shape(), Dims(folded, folded + 1), {}) && SizedOrder(op.shape(), order).front() == d;
  if (*is_minor) {
    Shape others = op.shape();
    others.set_dim(d, 1);
    order = LeastPaddingOrder(others, tiling_);
  }
  order.erase(absl::c_find(order, d));
  order.push_back(d);
  return order;
}

}  // namespace toroid
