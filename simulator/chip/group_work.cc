#include "simulator/chip/group_work.h"

#include <algorithm>
#include <cmath>

#include "hlo/analysis/work.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/chip/movement.h"
#include "simulator/chip/op_slots.h"
#include "simulator/chip/pieces.h"
#include "simulator/chip/running_fold.h"
#include "simulator/chip/written_in_place.h"
#include "simulator/program/columns.h"
#include "simulator/program/elementwise.h"
#include "simulator/program/tiling.h"
#include "simulator/program/windows.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

// Who a value inside of a group is made for: the results, or one operand of one product.
constexpr uint64_t kForResults = 1;
constexpr int kMaxProducts = 31;
// Pieces of slices, pads and concatenations of a group that are looked at.
constexpr int kMostPieces = 4096;
uint64_t ForOperand(int product, int side) { return uint64_t{2} << (2 * product + side); }

class Accountant {
 public:
  Accountant(const CoreSpec& core, GroupWork* work)
      : core_(core), tiling_{core.vector().sublanes(), core.vector().lanes()}, work_(work) {}

  void Fusion(const Computation& inside);
  void Single(const Instruction& instruction);

 private:
  double Bytes(const Shape& shape) const { return BytesOfArray(shape, tiling_); }
  double RegisterElements() const { return static_cast<double>(tiling_.sublanes * tiling_.lanes); }
  // A tile with fewer rows takes a whole register.
  double Registers(const Shape& shape) const {
    const double tiles = TilesOf(shape, tiling_);
    if (!IsColumn(shape, tiling_)) return tiles;
    return std::max(tiles,
                    std::ceil(static_cast<double>(shape.NumElements()) / static_cast<double>(tiling_.lanes)));
  }

  void AddOp(const Instruction& op, uint64_t made_for);
  // Of a convolution channel by channel: for each position of its kernel a load, a shift of rows, a product, a sum. Rows of
  // several small tiles go together.
  void AddTaps(const MatrixWork& work, const Instruction& op) {
    if (work.channel_taps == 0) return;
    // Of the gradient of a kernel those of what is multiplied, of which nothing is shifted.
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
          (compiler.few_images_tap_slots() * work.channel_taps + bytes + compiler.tap_start_slots()) *
          simple * TilesOf(op.shape(), tiling_);
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
  void AddSlots(double slots, uint64_t made_for);
  // Each operand of the group that the op reads is loaded for it.
  void AddLoads(const Instruction& op, uint64_t made_for);
  void AddRead(double bytes, uint64_t made_for);
  void AddWritten(double bytes) {
    work_->bytes += bytes;
    work_->written_bytes += bytes;
  }
  // By index of a parameter: what is read of it for the slice, pad or concatenation inside of a group.
  void AddPieces(const Instruction& taken, std::vector<double>* picked);
  void AddResult(const Instruction& result);
  // What the group works on: the largest of its results, of what it reduces and what it multiplies to.
  void WorkOn(const Shape& shape) {
    // Registers have all rows, however few a tile has.
    space_ = std::max(space_, PaddedElements(shape, tiling_));
    register_space_ = std::max(register_space_, Registers(shape) * RegisterElements());
    registers_ = std::max(registers_, Registers(shape));
  }
  // One row, or few, that are cut out of tiles stay rows of registers.
  void WorkOnRows(const Instruction& slice) {
    const Dims order = PhysicalOrder(slice.operand(0)->shape());
    if (order.size() < 2 || slice.shape().dim(order[1]) > tiling_.sublanes / 2) return;
    double tiles =
        std::ceil(static_cast<double>(slice.shape().dim(order[0])) / static_cast<double>(tiling_.lanes));
    for (size_t i = 2; i < order.size(); ++i) tiles *= static_cast<double>(slice.shape().dim(order[i]));
    register_space_ = std::max(register_space_, tiles * RegisterElements());
    registers_ = std::max(registers_, tiles);
  }
  // Elements of the largest result that stay on the chip until all is worked on: sums do if there is room for all of them.
  double KeptOnChip() const {
    return !sums_ || 4 * widest_result_ <= static_cast<double>(core_.memory().window_budget_bytes())
               ? widest_result_
               : 0;
  }
  void Finish();

  const CoreSpec& core_;
  const Tiling tiling_;
  GroupWork* work_;
  bool folds_ = false;         // The root is a running fold.
  bool sums_ = false;          // A reduction for the results.
  bool is_alone_ = false;      // No fusion: operands are other instructions.
  double turned_ = 0;          // Cycles of copies and transposes in which lanes or rows of tiles move.
  bool turns_ = false;         // A copy that rounds, in which lanes move: it passes registers tile by tile.
  double space_ = 0;           // Elements.
  double registers_ = 0;       // The same in registers.
  double register_space_ = 0;  // The same in elements of whole registers.
  double widest_result_ = 0;   // Elements of the largest result of 4 bytes or more, or of predicates.
  double widest_whole_ = 0;    // The same of those in whole tiles.
  double largest_result_ = 0;
  double product_space_ = 0, product_registers_ = 0;
  int pieces_left_ = kMostPieces;
};

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

// Once for the results, however many need it, and once for each operand of a product, whose windows follow each other at a pace of
// their own.
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
    case Opcode::kReduce: {
      if (op.num_operands() == 0) return;
      WorkOn(op.operand(0)->shape());
      sums_ |= (made_for & kForResults) != 0;
      AddSlots(SlotsOf(op, core_.vector().slots_of()) * Registers(op.operand(0)->shape()), made_for);
      return;
    }
    case Opcode::kReduceWindow: {
      if (op.num_operands() == 0) return;
      const Shape& shape = op.operand(0)->shape();
      if (IsRunningFold(op)) {
        WorkOn(shape);
        work_->movement_cycles += RunningFoldCycles(op, is_alone_, core_);
        return;
      }
      if (op.shape().IsArray()) WorkOn(op.shape());
      AddSlots(SlotsOf(op, core_.vector().slots_of()) * WindowElements(op) * Registers(op.shape()), made_for);
      return;
    }
    case Opcode::kSelectAndScatter: {
      if (op.num_operands() < 2) return;
      AddSlots(
          2 * core_.vector().slots_of().simple() * WindowElements(op) * Registers(op.operand(1)->shape()),
          made_for);
      return;
    }
    case Opcode::kConcatenate: {
      // A product takes each whole tile from where it is; others are padded, rounded and chosen from.
      if ((made_for & kForResults) == 0) {
        const Dims order = PhysicalOrder(op.shape());
        bool whole = true;
        for (const Instruction* operand : op.operands()) {
          whole &= order.empty() || order[0] != op.dimension() ||
                   operand->shape().dim(op.dimension()) % tiling_.lanes == 0;
        }
        if (!whole && Decides(Rule::kJoinedForProductSlots, op))
          AddSlots(Thresholds().joined_operand_slots() * core_.vector().slots_of().simple() *
                       static_cast<double>(op.num_operands()) * Registers(op.shape()),
                   made_for);
        return;
      }
      if (is_alone_) AddRead(BytesBesideOperands(op, core_), made_for);
      return;
    }
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
    case Opcode::kTopK: {
      if (op.num_operands() == 0) return;
      const Shape& shape = op.operand(0)->shape();
      const int64_t d =
          opcode == Opcode::kSort && !op.dimensions().empty() ? op.dimension() : shape.rank() - 1;
      const double n = d >= 0 && d < shape.rank() ? static_cast<double>(shape.dim(d)) : 1;
      // A bitonic network.
      const double levels = n > 1 ? std::ceil(std::log2(n)) : 0;
      work_->movement_cycles += core_.movement().sort_stage_cycles() * levels * (levels + 1) / 2 *
                                Registers(shape) * static_cast<double>(op.num_operands());
      return;
    }
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
    case Opcode::kTriangularSolve: {
      const double n = op.shape().IsArray() && op.shape().rank() > 0
                           ? static_cast<double>(op.shape().dim(op.shape().rank() - 1))
                           : 1;
      const double per_element = opcode == Opcode::kFft ? 10 * std::log2(std::max(n, 2.0)) : n;
      AddSlots(per_element * core_.vector().slots_of().simple() * Registers(op.shape()), made_for);
      return;
    }
    default:
      break;
  }
  // Vectors that a running fold takes are spread window by window.
  const double moved = folds_ && opcode == Opcode::kBroadcast ? 0 : MovementCycles(op, core_);
  if (made_for & kForResults) {
    work_->movement_cycles += moved;
    if (opcode != Opcode::kBroadcast) turned_ += moved;
  } else if (opcode == Opcode::kBroadcast) {
    // In operands of products rows come in any order, but values must be spread all the same, which takes one of the slots.
    AddSlots(moved, made_for);
    for (int p = 0; p < static_cast<int>(work_->products.size()); ++p) {
      if (made_for & ForOperand(p, 0)) work_->products[p].lhs_moved += moved;
      if (made_for & ForOperand(p, 1)) work_->products[p].rhs_moved += moved;
    }
  }
  // Of a sine alone compilers count what it reads and writes.
  const bool is_lone_sine =
      is_alone_ && (opcode == Opcode::kSin || opcode == Opcode::kCos || opcode == Opcode::kTan);
  if (IsElementwise(op) && !(is_lone_sine && Decides(Rule::kLoneSine, op)))
    AddSlots(SlotsOf(op, core_.vector().slots_of()) * Registers(op.shape()), made_for);
}

// Slices of concatenations and the like are taken apart: each time that it is taken the pieces are read where they are, for themselves.
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
      // Of what is padded for several slices whole tiles are made.
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

void Accountant::Finish() {
  if (!work_->products.empty()) {
    space_ = std::max(space_, product_space_);
    registers_ = std::max(registers_, product_registers_);
    // What is done to what comes out of the matrix units loads it.
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

void Accountant::Fusion(const Computation& inside) {
  const int n = inside.size();
  const Instruction* root = inside.root();
  folds_ = root->opcode() == Opcode::kReduceWindow && root->num_operands() > 0 && IsRunningFold(*root);
  std::vector<uint64_t> made_for(n, 0);
  std::vector<int> product_of(n, -1);
  std::vector<const Instruction*> matrix_ops;  // By number of the product.
  std::vector<bool> is_result(n, false);
  const auto add_result = [&](const Instruction* result) {
    // Parts of a reduction of several arrays.
    if (result->opcode() == Opcode::kGetTupleElement) made_for[result->operand(0)->index()] |= kForResults;
    made_for[result->index()] |= kForResults;
    is_result[result->index()] = true;
  };
  if (root->opcode() == Opcode::kTuple) {
    for (const Instruction* element : root->operands()) add_result(element);
  } else {
    add_result(root);
  }
  // Bytes of a parameter that are picked, by each op for itself; and whether all of it is read.
  std::vector<double> picked(n, 0);
  std::vector<bool> is_read(n, false);
  // Of slices, pads and concatenations: another op takes them, or the results are made of them.
  std::vector<bool> is_taken(n, false);
  const std::vector<bool> is_spread = OnlySpread(inside);
  for (int i = n - 1; i >= 0; --i) {
    const Instruction* op = inside.instruction(i);
    if (op->opcode() == Opcode::kTuple) continue;
    uint64_t now = made_for[i];
    // A product takes whole tiles of what is put together or cut for it.
    const bool is_padded = op->opcode() == Opcode::kPad ||
                           (op->opcode() == Opcode::kSlice && op->operand(0)->opcode() == Opcode::kPad);
    const bool is_moved = IsMove(*op) && ((now & kForResults) != 0 || is_padded);
    if (is_moved && (is_taken[i] || is_result[i])) AddPieces(*op, &picked);
    const bool is_product = IsMatrixOp(op->opcode()) && op->num_operands() >= 2;
    if (is_product) {
      product_of[i] = std::min(static_cast<int>(work_->products.size()), kMaxProducts - 1);
      if (product_of[i] == static_cast<int>(work_->products.size())) {
        work_->products.push_back(MatrixSizes(*op, core_));
        matrix_ops.push_back(op);
        FindWholeBatch(*op, core_.vector().sublanes(), &work_->products.back());
      }
      // The outermost product stands first: what is made inside of it stays there.
      if (product_of[i] == 0) product_space_ = PaddedElements(op->shape(), tiling_);
      product_registers_ = std::max(product_registers_, Registers(op->shape()));
      // Nothing is cut inside of another product.
      if (work_->products.size() > 1) {
        for (MatrixWork& product : work_->products) product.passes_part = false, product.part_sum_cycles = 0;
      }
      AddTaps(work_->products[product_of[i]], *op);
      for (int p = 0; p < product_of[i]; ++p) {
        if ((now & (ForOperand(p, 0) | ForOperand(p, 1))) == 0) continue;
        // Sums over a batch of the inner one, as over heads, are made window by window as everywhere; what comes out of it is stored
        // beside them. Other sums take longer.
        MatrixWork& inner = work_->products[product_of[i]];
        if (inner.channel_taps > 0) continue;
        if (inner.batch > work_->products[p].batch) {
          inner.out_slots = (core_.vector().cycles_per_register() + core_.vector().access_cycles()) *
                            static_cast<double>(core_.vector().slots()) * Registers(op->shape());
        } else if (matrix_ops[p]->opcode() != Opcode::kConvolution ||
                   work_->products[p].k > static_cast<double>(core_.matrix().tile())) {
          // Of a convolution whose features fill one tile nothing is added.
          work_->products[p].sum_accesses = SumAccesses(*matrix_ops[p]);
        }
      }
    }
    for (int k = 0; k < op->num_operands(); ++k) {
      const int o = op->operand(k)->index();
      made_for[o] |= is_product ? ForOperand(product_of[i], std::min(k, 1)) : now;
      const bool picks = k == 0 && (op->opcode() == Opcode::kSlice || op->opcode() == Opcode::kDynamicSlice ||
                                    op->opcode() == Opcode::kGather || op->opcode() == Opcode::kPad);
      const bool updated = k == 0 && op->opcode() == Opcode::kDynamicUpdateSlice;
      if (updated || is_moved) continue;
      if (IsMove(*op->operand(k))) is_taken[o] = true;
      if (picks) {
        picked[o] += std::min(Bytes(op->shape()), Bytes(op->operand(k)->shape()));
      } else {
        is_read[o] = true;
      }
    }
  }
  for (int i = 0; i < n; ++i) {
    const Instruction* op = inside.instruction(i);
    if (op->opcode() == Opcode::kParameter) {
      const double all = Bytes(op->shape());
      if (op->shape().IsArray() && op->shape().rank() > 0 && made_for[i] != 0) {
        // What is but spread over other dimensions stays where it is; compilers count no bytes for it.
        const bool is_free = is_spread[i] && work_->products.empty() && SizedDims(op->shape()).size() > 1 &&
                             Decides(Rule::kSpreadArraysAreFree, *op);
        AddRead(picked[i] + (is_read[i] && !is_free ? all : 0), made_for[i]);
      }
    } else if (op->opcode() != Opcode::kTuple && product_of[i] < 0) {
      AddOp(*op, made_for[i]);
    }
    if (is_result[i]) AddResult(*op);
    if (product_of[i] < 0) continue;
    // Operands that are made here pass through registers.
    for (int side = 0; side < 2; ++side) {
      const Instruction* operand = op->operand(side);
      if (operand->opcode() == Opcode::kParameter || product_of[operand->index()] >= 0) continue;
      MatrixWork& product = work_->products[product_of[i]];
      double& slots = side == 0 ? product.lhs_slots : product.rhs_slots;
      if (slots > 0) {
        // And are stored for the matrix units.
        slots += core_.vector().access_cycles() * static_cast<double>(core_.vector().slots()) *
                 Registers(operand->shape());
      }
    }
  }
  for (size_t p = 0; p < matrix_ops.size(); ++p) {
    MatrixWork& product = work_->products[p];
    if (matrix_ops[p]->opcode() != Opcode::kDot) continue;
    product.lhs_joined = JoinedOperandOf(*matrix_ops[p], 0, tiling_);
    product.rhs_joined = JoinedOperandOf(*matrix_ops[p], 1, tiling_);
  }
  int arithmetic = 0;
  for (const auto& op : inside.instructions()) {
    arithmetic += op->opcode() == Opcode::kReduce || op->opcode() == Opcode::kBroadcast ||
                  (IsElementwise(*op) && op->opcode() != Opcode::kConvert);
  }
  work_->single = arithmetic <= 1 && root->opcode() != Opcode::kTuple;
  Finish();
}

void Accountant::Single(const Instruction& op) {
  is_alone_ = true;
  if (op.opcode() == Opcode::kConvert || op.opcode() == Opcode::kCopy) {
    const Dims before = PhysicalOrder(op.operand(0)->shape()), after = PhysicalOrder(op.shape());
    turns_ = !before.empty() && !after.empty() && before[0] != after[0];
  }
  work_->single = op.opcode() != Opcode::kCopy && op.opcode() != Opcode::kTranspose &&
                  op.opcode() != Opcode::kConcatenate;
  if (IsConcatenatedInPlace(op)) {
    // What nobody makes is copied.
    for (const Instruction* operand : op.operands()) {
      while (operand->opcode() == Opcode::kBitcast || operand->opcode() == Opcode::kReshape)
        operand = operand->operand(0);
      if (operand->opcode() == Opcode::kParameter || operand->opcode() == Opcode::kConstant) {
        AddRead(Bytes(operand->shape()), kForResults);
        AddWritten(Bytes(operand->shape()));
        // As every result of less than four bytes.
        if (ByteWidth(operand->shape().element_type()) < 4)
          work_->spill_bytes += 4 * PaddedElements(operand->shape(), tiling_);
      }
    }
    return;
  }
  if (IsMatrixOp(op.opcode()) && op.num_operands() >= 2) {
    work_->products.push_back(MatrixSizes(op, core_));
    FindWholeBatch(op, core_.vector().sublanes(), &work_->products.back());
    product_space_ = PaddedElements(op.shape(), tiling_);
    product_registers_ = Registers(op.shape());
    AddTaps(work_->products.back(), op);
  } else {
    AddOp(op, kForResults);
  }
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

}  // namespace

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
