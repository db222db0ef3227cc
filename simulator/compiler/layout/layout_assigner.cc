#include "simulator/compiler/layout/layout_assigner.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/edit.h"
#include "hlo/ir/unit_dims.h"
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

absl::Status LayoutAssigner::Run() {
  for (int i = 0; i < n_; ++i) Assign(computation_->instruction(i));
  Instruction* root = computation_->root();
  if (root->shape().IsArray()) {
    Instruction* result = AsResult(root);
    if (result != root) computation_->set_root(result);
  } else if (root->opcode() == Opcode::kTuple) {
    for (int k = 0; k < root->num_operands(); ++k) {
      Instruction* result = AsResult(root->operand(k));
      if (result != root->operand(k)) root->set_operand(k, result);
    }
  }
  RoundCopies();
  for (int i = 0; i < n_; ++i) {
    Instruction* op = computation_->instruction(i);
    if (!op->shape().IsArray()) continue;
    if (!Known(op)) orders_[i] = LeastPaddingOrder(op->shape(), tiling_);
    if (orders_[i] != RowMajorOrder(op->shape()) || !op->shape().HasRowMajorLayout()) {
      SetOrder(orders_[i], &op->mutable_shape());
    }
    if (CutsOneLane(*op)) SetTiled(OrderOf(op->operand(0)), tiling_, &op->mutable_shape());
  }
  return SortInstructions(computation_);
}

void LayoutAssigner::Assign(Instruction* op) {
  Dims& order = orders_[op->index()];
  const Opcode opcode = op->opcode();
  if (!op->shape().IsArray()) {
    // Tuples, loops, exchanges of several arrays, reductions of several.
    if (opcode == Opcode::kReduce) return;
    for (int k = 0; k < op->num_operands(); ++k) NeedDense(op, k);
    return;
  }
  if (op->shape().rank() == 0 && opcode != Opcode::kReduce) return;
  switch (opcode) {
    case Opcode::kBroadcast:
    case Opcode::kIota:
      return;
    case Opcode::kDot:
    case Opcode::kConvolution:
      return AssignProduct(op);
    case Opcode::kTranspose:
      return AssignTranspose(op);
    case Opcode::kReshape:
      return AssignReshape(op);
    case Opcode::kReduce:
      return AssignReduce(op);
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
    case Opcode::kReverse:
    case Opcode::kPad:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kAllReduce:
      return AssignPart(op);
    case Opcode::kReduceWindow:
      return AssignWindows(op);
    case Opcode::kConcatenate:
      return AssignConcatenation(op);
    case Opcode::kAllToAll:
    case Opcode::kAllGather:
    case Opcode::kReduceScatter:
      return AssignExchange(op);
    default:
      if (IsElementwise(*op)) return AssignElementwise(op);
      order = LeastPaddingOrder(op->shape(), tiling_);
      for (int k = 0; k < op->num_operands(); ++k) NeedDense(op, k);
  }
}

bool LayoutAssigner::IsOnlyReturned(const Instruction& value) const {
  return absl::c_all_of(state_.users.users(value), [&](const Instruction* user) {
    return user == computation_->root() && user->opcode() == Opcode::kTuple;
  });
}

bool LayoutAssigner::IsTurnedArgument(const Instruction& value) const {
  if (value.opcode() != Opcode::kTranspose || value.operand(0)->opcode() != Opcode::kParameter) return false;
  return !LiesAlike(value.shape(), OrderOf(&value), LeastPaddingOrder(value.shape(), tiling_));
}

bool LayoutAssigner::IsOfProduct(const Instruction& value) const {
  constexpr WalkLimit kProducersBackToProduct = {"producers back to a product", 32};
  for (Walk walk(&value, kProducersBackToProduct); const Instruction* at = walk.Next();) {
    if (at->opcode() == Opcode::kDot) return true;
    // Narrow tiles of few images are not put together row by row.
    if (at->opcode() == Opcode::kConvolution) {
      const Dims order = SizedOrder(at->shape(), OrderOf(at));
      return order.size() > 1 && (at->shape().dim(order[1]) > tiling_.sublanes / 2 ||
                                  ByteWidth(value.shape().element_type()) >= 4);
    }
    if (!IsElementwise(*at) && !IsInPlace(*at)) continue;
    for (const Instruction* operand : at->operands()) {
      if (operand->shape().NumElements() == value.shape().NumElements()) walk.Add(operand);
    }
  }
  return false;
}

const Instruction* LayoutAssigner::ProductMetBy(const Instruction& op) const {
  constexpr WalkLimit kReadersThatMeetProduct = {"readers that meet a product", 24};
  for (Walk walk(&op, kReadersThatMeetProduct); const Instruction* at = walk.Next();) {
    for (const Instruction* user : state_.users.users(*at)) {
      if (user->index() >= n_ || !IsElementwise(*user) || user->shape().dims() != op.shape().dims() ||
          walk.Has(user))
        continue;
      for (const Instruction* operand : user->operands()) {
        const bool is_known = operand != at && operand->shape().dims() == op.shape().dims() &&
                              Known(operand) && !state_.IsFlexible(operand);
        if (is_known && IsOfProduct(*operand)) return operand;
      }
      walk.Add(user);
    }
  }
  return nullptr;
}

void LayoutAssigner::AssignElementwise(Instruction* op) {
  // The op lies as one of its operands, the leader: the one whose order needs the fewest copies of other operands. An argument
  // that was copied before counts as lying like its copy. Of several that need as few, the first elementwise one (to be copied
  // it would have to be written first), or else the first; a transposed argument only if there is no other. A product leads
  // rather than an argument: arguments are copied.
  const Instruction* leader = nullptr;
  bool leader_is_made = false, leader_is_turned = false, leader_is_argument = false;
  int leader_misses = 0;
  const auto leads = [&](const Instruction* operand) {
    return operand->shape().dims() == op->shape().dims() && Known(operand) && operand->shape().rank() > 0 &&
           !state_.IsFlexible(operand);
  };
  const auto lies = [&](const Instruction* operand) {
    const auto turned = turned_.find(operand);
    return turned != turned_.end() ? turned->second : OrderOf(operand);
  };
  for (const Instruction* operand : op->operands()) {
    if (!leads(operand)) continue;
    const bool is_made = IsElementwise(*operand), is_turned = IsTurnedArgument(*operand);
    const bool yields =
        leader_is_argument && IsOfProduct(*operand) && Decides(Rule::kAsProductNotArgument, *op);
    int misses = 0;
    for (const Instruction* other : op->operands()) {
      if (leads(other) && IsOn(Rule::kFewestCopies)) misses += !HasCopyAs(*other, lies(operand));
    }
    if (leader != nullptr && misses >= leader_misses &&
        (misses > leader_misses ||
         (!yields && (is_turned || leader_is_made || !is_made) && !leader_is_turned))) {
      continue;
    }
    leader = operand;
    leader_is_argument = IsOfArgument(operand);
    leader_is_made = is_made;
    leader_is_turned = is_turned;
    leader_misses = misses;
  }
  if (leader == nullptr) return;
  Dims order = lies(leader);
  if (leader_is_argument) {
    const Instruction* met = ProductMetBy(*op);
    if (met != nullptr && Decides(Rule::kAsProductMet, *op)) order = OrderOf(met);
  }
  for (int k = 0; k < op->num_operands(); ++k) {
    const Instruction* before = op->operand(k);
    if (before->shape().dims() != op->shape().dims()) continue;
    Need(op, k, order);
    if (op->operand(k) != before && before->opcode() == Opcode::kParameter)
      turned_.try_emplace(before, order);
  }
  orders_[op->index()] = order;
}

}  // namespace toroid
