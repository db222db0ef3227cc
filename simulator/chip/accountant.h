// Adds up what the ops of a group ask of a core, for group_work.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "hlo/ir/module.h"
#include "simulator/chip/group_work.h"
#include "simulator/chip/pieces.h"
#include "simulator/program/columns.h"
#include "simulator/program/tiling.h"

namespace toroid {

// For whom a value inside of a group is made, as bits: for the results, or for one operand of one product.
inline constexpr uint64_t kForResults = 1;
inline constexpr int kMaxProducts = 31;
// Pieces of slices, pads and concatenations of a group that are looked at.
inline constexpr int kMostPieces = 4096;
inline uint64_t ForOperand(int product, int side) { return uint64_t{2} << (2 * product + side); }

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

  // Adds what an op asks of the vector unit.
  void AddOp(const Instruction& op, uint64_t made_for);
  void AddReduceWindow(const Instruction& op, uint64_t made_for);
  void AddConcatenation(const Instruction& op, uint64_t made_for);
  void AddSort(const Instruction& op);
  void AddLinearAlgebra(const Instruction& op, uint64_t made_for);
  void AddMoved(const Instruction& op, uint64_t made_for);
  // Adds the instructions of a depthwise convolution: for each position of its kernel a load, a shift of rows, a product, a
  // sum. Rows of several small tiles share a register.
  void AddTaps(const MatrixWork& work, const Instruction& op);
  void AddSlots(double slots, uint64_t made_for);
  // Each operand of the group that the op reads is loaded for it.
  void AddLoads(const Instruction& op, uint64_t made_for);
  void AddRead(double bytes, uint64_t made_for);
  void AddWritten(double bytes) {
    work_->bytes += bytes;
    work_->written_bytes += bytes;
  }
  // Adds to picked[p] what is read of parameter p for the slice, pad or concatenation `taken`.
  void AddPieces(const Instruction& taken, std::vector<double>* picked);
  void AddResult(const Instruction& result);
  // The group works on arrays of that shape. The largest such array counts: a result, what a reduction reads, what a product
  // makes.
  void WorkOn(const Shape& shape) {
    // A register has room for all rows, however few a tile has.
    space_ = std::max(space_, PaddedElements(shape, tiling_));
    register_space_ = std::max(register_space_, Registers(shape) * RegisterElements());
    registers_ = std::max(registers_, Registers(shape));
  }
  // A slice of few rows: each row stays in the register of its tile, so that as many registers are worked on as tiles are cut.
  void WorkOnRows(const Instruction& slice) {
    const Dims order = PhysicalOrder(slice.operand(0)->shape());
    if (order.size() < 2 || slice.shape().dim(order[1]) > tiling_.sublanes / 2) return;
    double tiles =
        std::ceil(static_cast<double>(slice.shape().dim(order[0])) / static_cast<double>(tiling_.lanes));
    for (size_t i = 2; i < order.size(); ++i) tiles *= static_cast<double>(slice.shape().dim(order[i]));
    register_space_ = std::max(register_space_, tiles * RegisterElements());
    registers_ = std::max(registers_, tiles);
  }
  // Elements of the widest result that stay on the chip until the group ends. Sums stay if there is room for all of them, else
  // none do.
  double KeptOnChip() const {
    return !sums_ || 4 * widest_result_ <= static_cast<double>(core_.memory().window_budget_bytes())
               ? widest_result_
               : 0;
  }
  void Finish();

  // A group's computation, with what is known of its values, by index.
  struct Inside {
    explicit Inside(const Computation& of);
    const Computation& computation;
    std::vector<uint64_t> made_for;
    std::vector<int> product_of;
    std::vector<const Instruction*> matrix_ops;  // By number of the product.
    std::vector<bool> is_result;
    // By index of a parameter: bytes that slices, pads and concatenations read of it, each for itself; and whether all of it is
    // read.
    std::vector<double> picked;
    std::vector<bool> is_read;
    // Of slices, pads and concatenations: another op takes them, or the results are made of them.
    std::vector<bool> is_taken;
  };
  // From the results back: who each value is made for, the products, and what is read of the parameters.
  void FindUses(Inside* inside);
  void AddProduct(const Instruction& op, Inside* inside);
  static void AddUses(const Instruction& op, bool is_moved, Inside* inside);
  void AddParameter(const Instruction& parameter, bool is_spread, const Inside& inside);
  // Adds the vector instructions of operands that are made in the group.
  void AddMadeOperands(const Instruction& product, const Inside& inside);
  void AddJoinedOperands(const Inside& inside);
  // Of an instruction alone.
  void AddUnplaced(const Instruction& concatenation);
  void AddOperands(const Instruction& op);

  const CoreSpec& core_;
  const Tiling tiling_;
  GroupWork* work_;
  bool folds_ = false;     // The root is a running fold.
  bool sums_ = false;      // A reduction for the results.
  bool is_alone_ = false;  // No fusion: operands are other instructions.
  double turned_ = 0;      // Cycles of copies and transposes in which lanes or rows of tiles move.
  bool turns_ =
      false;  // The root is a copy that rounds and in which lanes move: it goes through registers tile by tile.
  double space_ = 0;           // Elements of the largest array that the group works on, padded (WorkOn).
  double registers_ = 0;       // Registers that it fills.
  double register_space_ = 0;  // Elements of these registers.
  double widest_result_ = 0;   // Elements of the largest result of 4 bytes or more, or of predicates.
  double widest_whole_ = 0;    // The same of those in whole tiles.
  double largest_result_ = 0;
  double product_space_ = 0, product_registers_ = 0;
  int pieces_left_ = kMostPieces;
};

}  // namespace toroid
