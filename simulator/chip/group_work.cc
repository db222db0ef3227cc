#include "simulator/chip/group_work.h"

#include "hlo/analysis/work.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/chip/accountant.h"
#include "simulator/chip/movement.h"
#include "simulator/chip/op_slots.h"
#include "simulator/chip/running_fold.h"
#include "simulator/chip/written_in_place.h"
#include "simulator/program/elementwise.h"
#include "simulator/program/windows.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {

void Accountant::AddUnplaced(const Instruction& op) {
  // Arguments and constants are copied to their place; other operands were written there by who made them.
  for (const Instruction* operand : op.operands()) {
    while (operand->opcode() == Opcode::kBitcast || operand->opcode() == Opcode::kReshape)
      operand = operand->operand(0);
    if (operand->opcode() == Opcode::kParameter || operand->opcode() == Opcode::kConstant) {
      AddRead(Bytes(operand->shape()), kForResults);
      AddWritten(Bytes(operand->shape()));
      // As for every result of less than four bytes (kept_32_bit_words).
      if (ByteWidth(operand->shape().element_type()) < 4)
        work_->spill_bytes += 4 * PaddedElements(operand->shape(), tiling_);
    }
  }
}

void Accountant::AddOperands(const Instruction& op) {
  const bool picks =
      op.opcode() == Opcode::kSlice || op.opcode() == Opcode::kDynamicSlice || op.opcode() == Opcode::kGather;
  const bool updates = op.opcode() == Opcode::kDynamicUpdateSlice || op.opcode() == Opcode::kScatter;
  for (int k = 0; k < op.num_operands(); ++k) {
    const Shape& shape = op.operand(k)->shape();
    if (!shape.IsArray() || shape.rank() == 0) continue;
    if (k == 0 && updates) continue;
    bool again = false;
    for (int j = 0; j < k; ++j) again |= op.operand(j) == op.operand(k);
    const double bytes = k == 0 && op.opcode() == Opcode::kSlice && IsMove(op)    ? BytesOfSlice(op, core_)
                         : k == 0 && picks                                        ? Bytes(op.shape())
                         : again && work_->products.empty() && !IsElementwise(op) ? 0
                                                                                  : Bytes(shape);
    AddRead(bytes, work_->products.empty() ? kForResults : ForOperand(0, std::min(k, 1)));
  }
}

void Accountant::Single(const Instruction& op) {
  is_alone_ = true;
  if (op.opcode() == Opcode::kConvert || op.opcode() == Opcode::kCopy) {
    const Dims before = PhysicalOrder(op.operand(0)->shape()), after = PhysicalOrder(op.shape());
    turns_ = !before.empty() && !after.empty() && before[0] != after[0];
  }
  work_->single = op.opcode() != Opcode::kCopy && op.opcode() != Opcode::kTranspose &&
                  op.opcode() != Opcode::kConcatenate;
  if (IsConcatenatedInPlace(op)) return AddUnplaced(op);
  if (IsMatrixOp(op.opcode()) && op.num_operands() >= 2) {
    work_->products.push_back(MatrixSizes(op, core_));
    FindWholeBatch(op, core_.vector().sublanes(), &work_->products.back());
    product_space_ = PaddedElements(op.shape(), tiling_);
    product_registers_ = Registers(op.shape());
    AddTaps(work_->products.back(), op);
  } else {
    AddOp(op, kForResults);
  }
  AddOperands(op);
  if (op.opcode() == Opcode::kScatter) {
    // Rows are read, combined and written back.
    if (op.num_operands() > 2) {
      const double bytes = Bytes(op.operand(op.num_operands() - 1)->shape());
      AddRead(bytes, kForResults);
      AddWritten(bytes);
    }
    return;
  }
  if (op.shape().IsTuple()) {
    for (const Shape& element : op.shape().tuple_shapes()) {
      AddWritten(Bytes(element));
      if (element.IsArray()) {
        widest_result_ = std::max(widest_result_, PaddedElements(element, tiling_));
        WorkOn(element);
      }
    }
  } else {
    AddResult(op);
  }
  Finish();
}

GroupWork GroupWorkOf(const Instruction& group, const CoreSpec& core) {
  GroupWork work;
  const Opcode opcode = group.opcode();
  if (HasTrait(opcode, kNoStorage) || HasTrait(opcode, kRunsBody) || IsCollective(opcode) ||
      opcode == Opcode::kConstant || opcode == Opcode::kReplicaId || opcode == Opcode::kPartitionId ||
      opcode == Opcode::kGetDimensionSize || opcode == Opcode::kInfeed || opcode == Opcode::kOutfeed ||
      opcode == Opcode::kSend || opcode == Opcode::kRecv || opcode == Opcode::kCopyStart) {
    return work;
  }
  const Tiling tiling{core.vector().sublanes(), core.vector().lanes()};
  if ((IsFirstOfTiles(group, tiling) && Decides(Rule::kFirstTilesStay, group)) ||
      (IsMadeFromHalves(group, tiling) && Decides(Rule::kHalvesInPlace, group)) ||
      (JoinsSpreadTiles(group, tiling) && Decides(Rule::kSpreadTilesInPlace, group)))
    return work;
  Accountant accountant(core, &work);
  const bool is_fusion =
      opcode == Opcode::kFusion && !group.called().empty() && group.called(0)->root() != nullptr;
  if (is_fusion) {
    accountant.Fusion(*group.called(0));
  } else {
    accountant.Single(group);
  }
  const Work ideal = WorkOf(group);
  work.matrix_flops = static_cast<double>(ideal.matrix_flops);
  work.vector_flops = static_cast<double>(ideal.vector_flops) + static_cast<double>(ideal.transcendentals);
  work.ideal_bytes = static_cast<double>(ideal.bytes_read) + static_cast<double>(ideal.bytes_written);
  return work;
}

}  // namespace toroid
