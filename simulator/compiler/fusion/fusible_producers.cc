#include "simulator/compiler/fusion/fusible_producers.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "hlo/analysis/work.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/program/columns.h"
#include "simulator/program/convolutions.h"
#include "simulator/program/data_movement.h"
#include "simulator/program/elementwise.h"
#include "simulator/program/spread_vectors.h"
#include "simulator/program/tiling.h"
#include "simulator/program/windows.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

bool IsDot(Opcode opcode) { return opcode == Opcode::kDot; }
bool IsConvolution(Opcode opcode) { return opcode == Opcode::kConvolution; }

}  // namespace

bool FusibleProducers::IsArithmetic(const Instruction& op) {
  return IsElementwise(op) && op.opcode() != Opcode::kConvert && op.opcode() != Opcode::kCopy &&
         op.opcode() != Opcode::kBitcastConvert;
}

FusibleProducers::FusibleProducers(const Computation& computation, const UserMap& users, const Tiling& tiling)
    : computation_(computation),
      users_(users),
      tiling_(tiling),
      values_(computation.size(), false),
      made_(computation.size(), false) {
  for (int i = 0; i < computation.size(); ++i) {
    const Instruction& op = *At(i);
    values_[i] = IsRecomputed(op, tiling) ||
                 (MovesTilesForDots(op, tiling.lanes) && Decides(Rule::kTilesMovedForDots, op)) ||
                 (Places(op) && !IsConcatenatedInPlace(op) && IsReadElementwise(op) &&
                  Decides(Rule::kPlacedWhereRead, op)) ||
                 (JoinsTilesForProducts(op) && Decides(Rule::kJoinedForProducts, op)) ||
                 (MovesRows(op) && !IsResult(op) && Decides(Rule::kRowsMovedWhereRead, op));
  }
  FindArithmetic();
}

bool FusibleProducers::IsReadElementwise(const Instruction& op) const {
  const auto users = users_.users(op);
  return op.shape().IsArray() && op.control_predecessors().empty() && !users.empty() &&
         absl::c_all_of(users, [&](const Instruction* user) {
           const bool cuts = user->opcode() == Opcode::kSlice;
           if (cuts) return true;
           if (Places(*user) && !IsConcatenatedInPlace(*user)) return op.opcode() == Opcode::kConcatenate;
           return IsElementwise(*user) && user->opcode() != Opcode::kCopy &&
                  user->shape().NumElements() == op.shape().NumElements();
         });
}

bool FusibleProducers::IsReadByProducts(const Instruction& op, bool (*is_product)(Opcode)) const {
  const auto takes = [&](const Instruction* user) { return is_product(user->opcode()); };
  const auto users = users_.users(op);
  return !users.empty() && absl::c_all_of(users, [&](const Instruction* user) {
    return takes(user) || (user->opcode() == Opcode::kConvert && !users_.users(*user).empty() &&
                           absl::c_all_of(users_.users(*user), takes));
  });
}

bool FusibleProducers::GoesToConvolutions(const Instruction& op) const {
  const auto users = users_.users(op);
  return !users.empty() && absl::c_all_of(users, [&](const Instruction* user) {
    return user->opcode() == Opcode::kConvolution ||
           ((IsInPlace(*user) || user->opcode() == Opcode::kReshape) && GoesToConvolutions(*user));
  });
}

bool FusibleProducers::HasSibling(const Instruction& slice) const {
  const bool is_placed =
      absl::c_any_of(users_.users(slice), [](const Instruction* user) { return Places(*user); });
  return is_placed && absl::c_any_of(users_.users(*slice.operand(0)), [&](const Instruction* user) {
           return user != &slice && user->opcode() == Opcode::kSlice &&
                  user->shape().dims() == slice.shape().dims();
         });
}

bool FusibleProducers::MovesRows(const Instruction& op) const {
  if (op.opcode() != Opcode::kCopy || !op.control_predecessors().empty()) return false;
  const Dims before = PhysicalOrder(op.operand(0)->shape()), after = PhysicalOrder(op.shape());
  if (before.size() < 2 || after.size() < 2 || before[0] != after[0] || before == after) return false;
  return RowsOfTile(op.shape().dim(after[1]), ByteWidth(op.shape().element_type()), tiling_) ==
         tiling_.sublanes;
}

bool FusibleProducers::IsResult(const Instruction& op) const {
  return &op == computation_.root() || absl::c_any_of(users_.users(op), [&](const Instruction* user) {
    return user == computation_.root() && user->opcode() == Opcode::kTuple;
  });
}

bool FusibleProducers::JoinsTilesForProducts(const Instruction& op) const {
  // What convolutions slide over may be put together in any place.
  if (op.opcode() == Opcode::kConcatenate && !IsConcatenatedInPlace(op) &&
      IsReadByProducts(op, IsConvolution))
    return true;
  return JoinsTiles(op) && IsReadByProducts(op, IsMatrixOp);
}

bool FusibleProducers::JoinsTilesForDots(const Instruction& op) const {
  return JoinsTiles(op) && IsReadByProducts(op, IsDot);
}

bool FusibleProducers::JoinsTiles(const Instruction& op) const {
  if (op.opcode() != Opcode::kConcatenate || IsConcatenatedInPlace(op)) return false;
  const Dims order = PhysicalOrder(op.shape());
  for (size_t i = 0; i < std::min<size_t>(2, order.size()); ++i) {
    if (order[i] != op.dimension()) continue;
    for (const Instruction* operand : op.operands()) {
      if (operand->shape().dim(order[i]) % (i == 0 ? tiling_.lanes : tiling_.sublanes) != 0) return false;
    }
  }
  return true;
}

bool FusibleProducers::MovesTilesForDots(const Instruction& op, int64_t lanes) const {
  if (op.opcode() != Opcode::kReshape) return false;
  for (const Shape& shape : {op.shape(), op.operand(0)->shape()}) {
    const Dims order = PhysicalOrder(shape);
    if (order.empty() || shape.dim(order[0]) % lanes != 0) return false;
  }
  return IsReadByProducts(op, IsDot);
}

void FusibleProducers::FindArithmetic() {
  for (int i = 0; i < computation_.size(); ++i) {
    const Instruction* op = At(i);
    if (!values_[i]) continue;
    bool of_arrays = false, made = false;
    for (const Instruction* operand : op->operands()) {
      of_arrays |= operand->shape().rank() > 0;
      made |= made_[operand->index()];
    }
    made_[i] = made || (IsArithmetic(*op) && of_arrays);
  }
}

namespace {

bool LanesStay(const Instruction& op) {
  const Dims before = PhysicalOrder(op.operand(0)->shape()), after = PhysicalOrder(op.shape());
  return before.empty() || after.empty() || before[0] == after[0];
}

}  // namespace

bool IsRecomputed(const Instruction& op, const Tiling& tiling) {
  if (!op.shape().IsArray() || !op.control_predecessors().empty()) return false;
  switch (op.opcode()) {
    case Opcode::kCopy:
    case Opcode::kOptimizationBarrier:
    case Opcode::kDomain:
      return false;
    case Opcode::kBroadcast:
    case Opcode::kIota:
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
    case Opcode::kTranspose:
    case Opcode::kReverse:
      return true;
    case Opcode::kReshape:
      return KeepsRows(op.operand(0)->shape(), op.shape(), tiling) &&
             !(IsColumnToVector(op, tiling) && Decides(Rule::kColumnsEndGroups, op));
    case Opcode::kConvert:
      // A copy that rounds; what is made of spread vectors can be made in either order.
      return LanesStay(op) || VectorsSpreadAlong(op, 0).has_value() || !Decides(Rule::kRoundingCopies, op);
    default:
      return IsElementwise(op);
  }
}

}  // namespace toroid
