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

// A chain of slices, pads and concatenations is taken apart: each op that reads it reads the pieces from the arrays where they
// lie.
void Accountant::AddPieces(const Instruction& taken, std::vector<double>* picked) {
  const Shape& whole = taken.shape();
  const int rank = static_cast<int>(whole.rank());
  const Dims dims(whole.dims().begin(), whole.dims().end()), order = PhysicalOrder(whole);
  std::vector<Piece> todo = {{&taken, Dims(rank, 0), dims, Dims(rank, 0), dims}};
  for (size_t next = 0; next < todo.size() && pieces_left_ > 0; ++next, --pieces_left_) {
    const Piece place = todo[next];
    const Instruction* value = place.array;
    if (value->opcode() == Opcode::kParameter) {
      (*picked)[value->index()] += BytesOfPiece(place, whole, core_);
    }
    if (!IsMove(*value)) continue;
    int64_t before = 0;
    for (const Instruction* operand : value->operands()) {
      if (operand->shape().rank() != rank) continue;
      Piece piece = place;
      piece.array = operand;
      piece.is_joined |= value->opcode() == Opcode::kConcatenate;
      bool meets = true;
      for (int d = 0; d < rank; ++d) {
        int64_t shift = 0;
        if (value->opcode() == Opcode::kSlice) shift = SliceView(*value)[d].start;
        if (value->opcode() == Opcode::kPad) shift = -PadView(*value)[d].low;
        if (value->opcode() == Opcode::kConcatenate && d == value->dimension()) shift = -before;
        piece.at[d] += shift;
        piece.begin[d] = std::max<int64_t>(0, piece.begin[d] + shift);
        piece.limit[d] = std::min(operand->shape().dim(d), piece.limit[d] + shift);
        meets &= piece.begin[d] < piece.limit[d];
      }
      // An array that is padded for several slices is made in whole tiles.
      if (!IsOn(Rule::kPaddedInWholeTiles)) {
        if (meets) todo.push_back(std::move(piece));
        if (value->opcode() == Opcode::kConcatenate) before += operand->shape().dim(value->dimension());
        continue;
      }
      for (size_t i = 0; i < std::min<size_t>(2, order.size()); ++i) {
        if (value->opcode() != Opcode::kSlice || operand->opcode() != Opcode::kPad) break;
        const int64_t d = order[i], tile = i == 0 ? tiling_.lanes : tiling_.sublanes,
                      end = piece.at[d] + piece.extent[d];
        piece.at[d] = std::max<int64_t>(0, piece.at[d]) / tile * tile;
        piece.extent[d] = std::min((end + tile - 1) / tile * tile, operand->shape().dim(d)) - piece.at[d];
        piece.begin[d] = piece.at[d];
        piece.limit[d] = piece.at[d] + piece.extent[d];
      }
      if (meets) todo.push_back(std::move(piece));
      if (value->opcode() == Opcode::kConcatenate) before += operand->shape().dim(value->dimension());
    }
  }
}

Accountant::Inside::Inside(const Computation& of)
    : computation(of),
      made_for(of.size(), 0),
      product_of(of.size(), -1),
      is_result(of.size(), false),
      picked(of.size(), 0),
      is_read(of.size(), false),
      is_taken(of.size(), false) {
  const auto add_result = [&](const Instruction* result) {
    // Parts of a reduction of several arrays.
    if (result->opcode() == Opcode::kGetTupleElement) made_for[result->operand(0)->index()] |= kForResults;
    made_for[result->index()] |= kForResults;
    is_result[result->index()] = true;
  };
  if (of.root()->opcode() == Opcode::kTuple) {
    for (const Instruction* element : of.root()->operands()) add_result(element);
  } else {
    add_result(of.root());
  }
}

void Accountant::AddProduct(const Instruction& op, Inside* inside) {
  int& number = inside->product_of[op.index()];
  const uint64_t now = inside->made_for[op.index()];
  number = std::min(static_cast<int>(work_->products.size()), kMaxProducts - 1);
  if (number == static_cast<int>(work_->products.size())) {
    work_->products.push_back(MatrixSizes(op, core_));
    inside->matrix_ops.push_back(&op);
    FindWholeBatch(op, core_.vector().sublanes(), &work_->products.back());
  }
  // The outermost product stands first. Results of others never leave the group.
  if (number == 0) product_space_ = PaddedElements(op.shape(), tiling_);
  product_registers_ = std::max(product_registers_, Registers(op.shape()));
  // Products that run inside of each other are not contracted in parts.
  if (work_->products.size() > 1) {
    for (MatrixWork& product : work_->products) product.passes_part = false, product.part_sum_cycles = 0;
  }
  AddTaps(work_->products[number], op);
  for (int p = 0; p < number; ++p) {
    if ((now & (ForOperand(p, 0) | ForOperand(p, 1))) == 0) continue;
    // If the outer product contracts a batch dimension of the inner one (heads, say), its sums are made window by window as
    // usual, and the inner result is stored beside them. Other sums take longer.
    MatrixWork& inner = work_->products[number];
    const Instruction& outer = *inside->matrix_ops[p];
    if (inner.channel_taps > 0) continue;
    if (inner.batch > work_->products[p].batch) {
      inner.out_slots = (core_.vector().cycles_per_register() + core_.vector().access_cycles()) *
                        static_cast<double>(core_.vector().slots()) * Registers(op.shape());
    } else if (outer.opcode() != Opcode::kConvolution ||
               work_->products[p].k > static_cast<double>(core_.matrix().tile())) {
      // If the features of a convolution fit into one tile, no sums are added.
      work_->products[p].sum_accesses = SumAccesses(outer);
    }
  }
}

void Accountant::AddUses(const Instruction& op, bool is_moved, Inside* inside) {
  const Opcode opcode = op.opcode();
  const int product = inside->product_of[op.index()];
  for (int k = 0; k < op.num_operands(); ++k) {
    const int o = op.operand(k)->index();
    inside->made_for[o] |= product >= 0 ? ForOperand(product, std::min(k, 1)) : inside->made_for[op.index()];
    if (is_moved || (k == 0 && opcode == Opcode::kDynamicUpdateSlice)) continue;
    if (IsMove(*op.operand(k))) inside->is_taken[o] = true;
  }
}

void Accountant::FindUses(Inside* inside) {
  for (int i = inside->computation.size() - 1; i >= 0; --i) {
    const Instruction& op = *inside->computation.instruction(i);
    if (op.opcode() == Opcode::kTuple) continue;
    // A product reads whole tiles of an operand that is cut or put together for it.
    const bool is_padded = op.opcode() == Opcode::kPad ||
                           (op.opcode() == Opcode::kSlice && op.operand(0)->opcode() == Opcode::kPad);
    const bool is_moved = IsMove(op) && ((inside->made_for[i] & kForResults) != 0 || is_padded);
    if (is_moved && (inside->is_taken[i] || inside->is_result[i])) AddPieces(op, &inside->picked);
    if (IsMatrixOp(op.opcode()) && op.num_operands() >= 2) AddProduct(op, inside);
    AddUses(op, is_moved, inside);
    if (is_moved) continue;
    for (int k = 0; k < op.num_operands(); ++k) {
      const bool picks = k == 0 && (op.opcode() == Opcode::kSlice || op.opcode() == Opcode::kDynamicSlice ||
                                    op.opcode() == Opcode::kGather || op.opcode() == Opcode::kPad);
      if (k == 0 && op.opcode() == Opcode::kDynamicUpdateSlice) continue;
      const int o = op.operand(k)->index();
      if (picks) {
        inside->picked[o] += std::min(Bytes(op.shape()), Bytes(op.operand(k)->shape()));
      } else {
        inside->is_read[o] = true;
      }
    }
  }
}

void Accountant::AddParameter(const Instruction& parameter, bool is_spread, const Inside& inside) {
  const int i = parameter.index();
  if (!parameter.shape().IsArray() || parameter.shape().rank() == 0 || inside.made_for[i] == 0) return;
  // The compiler counts no bytes for an array that is only broadcast.
  const bool is_free = is_spread && work_->products.empty() && SizedDims(parameter.shape()).size() > 1 &&
                       Decides(Rule::kSpreadArraysAreFree, parameter);
  AddRead(inside.picked[i] + (inside.is_read[i] && !is_free ? Bytes(parameter.shape()) : 0),
          inside.made_for[i]);
}

void Accountant::AddMadeOperands(const Instruction& product, const Inside& inside) {
  for (int side = 0; side < 2; ++side) {
    const Instruction* operand = product.operand(side);
    if (operand->opcode() == Opcode::kParameter || inside.product_of[operand->index()] >= 0) continue;
    MatrixWork& work = work_->products[inside.product_of[product.index()]];
    double& slots = side == 0 ? work.lhs_slots : work.rhs_slots;
    if (slots == 0) continue;
    // And are stored for the matrix units.
    slots += core_.vector().access_cycles() * static_cast<double>(core_.vector().slots()) *
             Registers(operand->shape());
  }
}

void Accountant::AddJoinedOperands(const Inside& inside) {
  for (size_t p = 0; p < inside.matrix_ops.size(); ++p) {
    MatrixWork& product = work_->products[p];
    if (inside.matrix_ops[p]->opcode() != Opcode::kDot) continue;
    product.lhs_joined = JoinedOperandOf(*inside.matrix_ops[p], 0, tiling_);
    product.rhs_joined = JoinedOperandOf(*inside.matrix_ops[p], 1, tiling_);
  }
}

void Accountant::Fusion(const Computation& computation) {
  const Instruction* root = computation.root();
  folds_ = root->opcode() == Opcode::kReduceWindow && root->num_operands() > 0 && IsRunningFold(*root);
  Inside inside(computation);
  const std::vector<bool> is_spread = OnlySpread(computation);
  FindUses(&inside);
  int arithmetic = 0;
  for (int i = 0; i < computation.size(); ++i) {
    const Instruction* op = computation.instruction(i);
    arithmetic += op->opcode() == Opcode::kReduce || op->opcode() == Opcode::kBroadcast ||
                  (IsElementwise(*op) && op->opcode() != Opcode::kConvert);
    if (op->opcode() == Opcode::kParameter) {
      AddParameter(*op, is_spread[i], inside);
    } else if (op->opcode() != Opcode::kTuple && inside.product_of[i] < 0) {
      AddOp(*op, inside.made_for[i]);
    }
    if (inside.is_result[i]) AddResult(*op);
    if (inside.product_of[i] >= 0) AddMadeOperands(*op, inside);
  }
  AddJoinedOperands(inside);
  work_->single = arithmetic <= 1 && root->opcode() != Opcode::kTuple;
  Finish();
}

}  // namespace toroid
