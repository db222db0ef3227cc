#include "simulator/chip/accountant.h"

#include "hlo/analysis/work.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/chip/movement.h"
#include "simulator/chip/op_slots.h"
#include "simulator/chip/running_fold.h"
#include "simulator/chip/written_in_place.h"
#include "simulator/program/elementwise.h"
#include "simulator/program/windows.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {

void Accountant::AddTaps(const MatrixWork& work, const Instruction& op) {
  if (work.channel_taps == 0) return;
  // In the gradient of a kernel the kernel's operand is the large one; nothing is shifted then.
  double of_result = PaddedElements(op.shape(), tiling_);
  const double of_kernel = PaddedElements(op.operand(1)->shape(), tiling_);
  const double simple = core_.vector().slots_of().simple();
  const CompilerSpec& compiler = Thresholds();
  if (of_kernel > of_result) {
    work_->slots += (compiler.gradient_tap_slots() * work.channel_taps + compiler.tap_start_slots()) *
                    simple * of_kernel / RegisterElements();
    return;
  }
  const int64_t images = op.shape().dim(ConvolutionView(op).output_batch());
  if (images > 1 && images < tiling_.sublanes && Decides(Rule::kTapsOfFewImages, op)) {
    // Places with fewer images than a register has rows are put together, and their sums are taken apart.
    const double bytes = static_cast<double>(images * ByteWidth(op.operand(0)->shape().element_type()));
    work_->slots +=
        (compiler.few_images_tap_slots() * work.channel_taps + bytes + compiler.tap_start_slots()) * simple *
        TilesOf(op.shape(), tiling_);
    return;
  }
  const Dims lies = PhysicalOrder(op.shape());
  const int64_t features = op.shape().dim(ConvolutionView(op).output_feature());
  if (!lies.empty() && lies[0] == ConvolutionView(op).output_batch() && features < tiling_.sublanes &&
      Decides(Rule::kTapsOfImagesAlongLanes, op)) {
    // Images along lanes take as many registers as if they lay along rows.
    const double places =
        static_cast<double>(op.shape().NumElements() / std::max<int64_t>(1, images * features));
    of_result = places * std::ceil(static_cast<double>(images) / static_cast<double>(tiling_.sublanes)) *
                RegisterElements();
  }
  work_->slots += compiler.tap_slots() * simple * work.channel_taps * of_result / RegisterElements();
}

void Accountant::AddSlots(double slots, uint64_t made_for) {
  for (int p = 0; p < static_cast<int>(work_->products.size()); ++p) {
    if (made_for & ForOperand(p, 0)) work_->products[p].lhs_slots += slots;
    if (made_for & ForOperand(p, 1)) work_->products[p].rhs_slots += slots;
  }
  if (made_for & kForResults) work_->slots += slots;
}

void Accountant::AddLoads(const Instruction& op, uint64_t made_for) {
  const Opcode opcode = op.opcode();
  const bool moves = opcode == Opcode::kSlice || opcode == Opcode::kDynamicSlice || opcode == Opcode::kPad;
  if (!moves && !IsElementwise(op) && opcode != Opcode::kReduce && opcode != Opcode::kReduceWindow) return;
  for (int k = 0; k < op.num_operands(); ++k) {
    const Instruction* operand = op.operand(k);
    const bool is_inside =
        is_alone_ ? operand->opcode() == Opcode::kConstant : operand->opcode() != Opcode::kParameter;
    if (is_inside || operand->shape().rank() == 0 || !operand->shape().IsArray()) continue;
    bool again = false;
    for (int j = 0; j < k; ++j) again |= op.operand(j) == operand;
    if (again) continue;
    const double registers = Registers(moves ? op.shape() : operand->shape());
    if (made_for & kForResults) work_->accesses += registers;
    // Products round what they read anyway.
    const bool is_made = opcode != Opcode::kConvert;
    if (is_made) {
      const double slots =
          registers * core_.vector().access_cycles() * static_cast<double>(core_.vector().slots());
      AddSlots(slots, made_for & ~kForResults);
    }
  }
}

// Counts bytes once for the results, however many of them need these, and once for each operand of a product: windows of
// different operands are not read at the same time.
void Accountant::AddRead(double bytes, uint64_t made_for) {
  for (int p = 0; p < static_cast<int>(work_->products.size()); ++p) {
    MatrixWork& product = work_->products[p];
    if (made_for & ForOperand(p, 0)) product.lhs_bytes += bytes;
    if (made_for & ForOperand(p, 1)) product.rhs_bytes += bytes;
  }
  if (made_for & kForResults) work_->bytes += bytes;
}

void Accountant::AddResult(const Instruction& result) {
  if (!result.shape().IsArray()) return;
  const bool updates = result.opcode() == Opcode::kDynamicUpdateSlice && result.num_operands() > 1;
  const Shape& shape = updates ? result.operand(1)->shape() : result.shape();
  AddWritten(Bytes(shape));
  work_->accesses += Registers(shape);
  const double elements = PaddedElements(shape, tiling_);
  largest_result_ = std::max(largest_result_, elements);
  if (shape.element_type() == xla::PRED) {
    work_->packing_cycles += core_.vector().predicate_cycles() * Registers(shape);
  }
  // Tiles of few rows are packed from registers that are kept.
  if (ByteWidth(shape.element_type()) >= 4 || shape.element_type() == xla::PRED) {
    widest_result_ = std::max(widest_result_, elements);
    if (elements >= Registers(shape) * RegisterElements()) widest_whole_ = std::max(widest_whole_, elements);
  }
  WorkOn(shape);
}

void Accountant::AddOp(const Instruction& op, uint64_t made_for) {
  const Opcode opcode = op.opcode();
  AddLoads(op, made_for);
  switch (opcode) {
    case Opcode::kReduce:
      if (op.num_operands() == 0) return;
      WorkOn(op.operand(0)->shape());
      sums_ |= (made_for & kForResults) != 0;
      AddSlots(SlotsOf(op, core_.vector().slots_of()) * Registers(op.operand(0)->shape()), made_for);
      return;
    case Opcode::kReduceWindow:
      return AddReduceWindow(op, made_for);
    case Opcode::kSelectAndScatter:
      if (op.num_operands() < 2) return;
      AddSlots(Thresholds().select_and_scatter_slots() * core_.vector().slots_of().simple() *
                   WindowElements(op) * Registers(op.operand(1)->shape()),
               made_for);
      return;
    case Opcode::kConcatenate:
      return AddConcatenation(op, made_for);
    case Opcode::kSlice:
      if (made_for & kForResults) WorkOnRows(op);
      break;
    case Opcode::kReshape:
      // A vector becomes a column: a row of a register for each of its rows.
      if (is_alone_ && IsVectorToColumn(op, tiling_)) {
        register_space_ = std::max(
            register_space_, RegisterElements() * std::ceil(static_cast<double>(op.shape().NumElements()) /
                                                            static_cast<double>(tiling_.lanes)));
      }
      break;
    case Opcode::kPad:
      if (is_alone_) AddRead(BytesBesideOperands(op, core_), made_for);
      break;
    case Opcode::kSort:
    case Opcode::kTopK:
      return AddSort(op);
    case Opcode::kGather:
    case Opcode::kScatter:
      work_->rows += static_cast<double>(WorkOf(op).rows);
      return;
    case Opcode::kRng:
    case Opcode::kRngBitGenerator:
      // Rounds of an add, an exclusive or and a rotation.
      AddSlots(Thresholds().random_bits_slots() * core_.vector().slots_of().simple() * Registers(op.shape()),
               made_for);
      return;
    case Opcode::kFft:
    case Opcode::kCholesky:
    case Opcode::kTriangularSolve:
      return AddLinearAlgebra(op, made_for);
    default:
      break;
  }
  AddMoved(op, made_for);
  if (IsElementwise(op)) AddSlots(SlotsOf(op, core_.vector().slots_of()) * Registers(op.shape()), made_for);
}

void Accountant::AddReduceWindow(const Instruction& op, uint64_t made_for) {
  if (op.num_operands() == 0) return;
  if (IsRunningFold(op)) {
    WorkOn(op.operand(0)->shape());
    work_->movement_cycles += RunningFoldCycles(op, is_alone_, core_);
    return;
  }
  if (op.shape().IsArray()) WorkOn(op.shape());
  AddSlots(SlotsOf(op, core_.vector().slots_of()) * WindowElements(op) * Registers(op.shape()), made_for);
}

void Accountant::AddConcatenation(const Instruction& op, uint64_t made_for) {
  if ((made_for & kForResults) != 0) {
    if (is_alone_) AddRead(BytesBesideOperands(op, core_), made_for);
    return;
  }
  // A product reads whole tiles of a concatenation from where they are. Parts of tiles are padded, rounded and selected.
  const Dims order = PhysicalOrder(op.shape());
  bool whole = true;
  for (const Instruction* operand : op.operands()) {
    whole &= order.empty() || order[0] != op.dimension() ||
             operand->shape().dim(op.dimension()) % tiling_.lanes == 0;
  }
  if (whole || !Decides(Rule::kJoinedForProductSlots, op)) return;
  AddSlots(Thresholds().joined_operand_slots() * core_.vector().slots_of().simple() *
               static_cast<double>(op.num_operands()) * Registers(op.shape()),
           made_for);
}

// A bitonic network.
void Accountant::AddSort(const Instruction& op) {
  if (op.num_operands() == 0) return;
  const Shape& shape = op.operand(0)->shape();
  const int64_t d =
      op.opcode() == Opcode::kSort && !op.dimensions().empty() ? op.dimension() : shape.rank() - 1;
  const double n = d >= 0 && d < shape.rank() ? static_cast<double>(shape.dim(d)) : 1;
  const double levels = n > 1 ? std::ceil(std::log2(n)) : 0;
  work_->movement_cycles += core_.movement().sort_stage_cycles() * levels * (levels + 1) / 2 *
                            Registers(shape) * static_cast<double>(op.num_operands());
}

void Accountant::AddLinearAlgebra(const Instruction& op, uint64_t made_for) {
  const double n = op.shape().IsArray() && op.shape().rank() > 0
                       ? static_cast<double>(op.shape().dim(op.shape().rank() - 1))
                       : 1;
  // Of a transform so many stages of butterflies; one at least.
  const double per_element =
      op.opcode() == Opcode::kFft ? Thresholds().butterfly_slots() * std::max(1.0, std::log2(n)) : n;
  AddSlots(per_element * core_.vector().slots_of().simple() * Registers(op.shape()), made_for);
}

void Accountant::AddMoved(const Instruction& op, uint64_t made_for) {
  const bool spreads = op.opcode() == Opcode::kBroadcast;
  // Vectors that a running fold takes are spread window by window.
  const double moved = folds_ && spreads ? 0 : MovementCycles(op, core_);
  if (made_for & kForResults) {
    work_->movement_cycles += moved;
    if (!spreads) turned_ += moved;
    return;
  }
  if (!spreads) return;
  // In operands of products rows come in any order, but values must be spread all the same, which takes one of the slots.
  AddSlots(moved, made_for);
  for (int p = 0; p < static_cast<int>(work_->products.size()); ++p) {
    if (made_for & ForOperand(p, 0)) work_->products[p].lhs_moved += moved;
    if (made_for & ForOperand(p, 1)) work_->products[p].rhs_moved += moved;
  }
}

void Accountant::Finish() {
  if (!work_->products.empty()) {
    space_ = std::max(space_, product_space_);
    registers_ = std::max(registers_, product_registers_);
    // Ops behind a product load its result.
    work_->accesses += product_registers_;
  }
  work_->registers = registers_;
  if (work_->products.empty() && turned_ == 0 && register_space_ > space_) {
    space_ = register_space_;
    widest_result_ = widest_whole_;
  }
  if (widest_result_ < space_ && !turns_ && IsOn(Rule::kWordsAreKept))
    work_->spill_bytes = 4 * (space_ - KeptOnChip());
}

}  // namespace toroid
