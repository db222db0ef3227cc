#include "simulator/chip/running_fold.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/base/math.h"
#include "hlo/ir/module.h"
#include "simulator/chip/matrix_work.h"
#include "simulator/chip/movement.h"
#include "simulator/lowering/elementwise.h"
#include "simulator/lowering/tiling.h"

namespace toroid {
namespace {

constexpr double kBytesOfElement = 4;  // In registers.
constexpr double kMostTiles = 1 << 16;  // More than any machine's windows hold: the search stays short.

bool MovesNothing(const Instruction& op) {
  return op.opcode() == Opcode::kReshape || op.opcode() == Opcode::kTranspose || op.opcode() == Opcode::kBitcast;
}

// Elements between one and the next along a dimension, in the order of dimensions: what a reshape keeps of one that it leaves whole.
int64_t Apart(const Shape& shape, int64_t dim) {
  int64_t apart = 1;
  for (int64_t d = dim + 1; d < shape.rank(); ++d) apart *= shape.dim(d);
  return apart;
}

int64_t DimOf(const Shape& shape, int64_t size, int64_t apart) {
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dim(d) == size && Apart(shape, d) == apart) return d;
  }
  return -1;
}

// Adds the vectors of which `op` is made elementwise and that are spread along its dimension `lanes` (-1: not known).
void FindVectors(const Instruction& op, int64_t lanes, std::vector<const Instruction*>* seen, std::vector<const Instruction*>* vectors) {
  if (absl::c_linear_search(*seen, &op)) return;
  seen->push_back(&op);
  if (op.opcode() == Opcode::kBroadcast) {
    const Instruction* vector = op.operand(0);
    if (vector->shape().rank() == 0 || vector->opcode() == Opcode::kIota) return;
    if (!absl::c_linear_search(op.attrs().dimensions(), lanes) && !absl::c_linear_search(*vectors, vector)) vectors->push_back(vector);
    return;
  }
  if (op.opcode() == Opcode::kTranspose) {
    FindVectors(*op.operand(0), lanes < 0 ? -1 : op.attrs().dimensions(static_cast<int>(lanes)), seen, vectors);
  } else if (MovesNothing(op)) {
    const Shape& before = op.operand(0)->shape();
    FindVectors(*op.operand(0), lanes < 0 ? -1 : DimOf(before, op.shape().dim(lanes), Apart(op.shape(), lanes)), seen, vectors);
  } else if (IsElementwise(op)) {
    for (const Instruction* operand : op.operands()) FindVectors(*operand, lanes, seen, vectors);
  }
}

}  // namespace

double RunningFoldCycles(const Instruction& reduce_window, const CoreSpec& core) {
  const DataMovementSpec& movement = core.movement();
  const Shape& shape = reduce_window.shape();
  const Tiling tiling{core.vector().sublanes(), core.vector().lanes()};
  const double registers = TilesOf(shape, tiling);
  const double elements = WindowElements(reduce_window);
  const double additions = movement.window_element_cycles() * elements * registers;
  // Arguments come through reshapes at most.
  const Instruction* from = reduce_window.operand(0);
  while (MovesNothing(*from)) from = from->operand(0);
  const Dims order = PhysicalOrder(shape);
  if (!IsElementwise(*from)) return std::max(additions, movement.window_load_cycles() * registers);
  if (order.size() < 2) return additions;
  std::vector<const Instruction*> seen, vectors;
  FindVectors(*reduce_window.operand(0), order[0], &seen, &vectors);
  const auto rows = static_cast<double>(CeilOfRatio(shape.dim(order[1]), tiling.sublanes));
  const int64_t lanes = CeilOfRatio(shape.dim(order[0]), tiling.lanes);
  const double folded = (2 * elements - 1) * rows, spread = static_cast<double>(vectors.size());
  // What is folded along lanes or rows, or in several arrays, has as many windows.
  const double passes = std::max(1., registers / (elements * rows * static_cast<double>(lanes)));
  const auto fits = [&](int64_t beside, bool is_one) {
    return folded * (static_cast<double>(beside) + spread) + (is_one ? 1 : 2) * elements * rows * static_cast<double>(beside) <=
           movement.running_window_tiles();
  };
  int64_t beside = lanes;
  if (!fits(lanes, passes == 1)) {
    beside = std::min(lanes, static_cast<int64_t>(std::min(movement.running_window_tiles(), kMostTiles)));
    while (beside > 1 && (lanes % beside != 0 || !fits(beside, false))) --beside;
    beside = std::max<int64_t>(1, beside);
  }
  const auto windows = static_cast<double>(CeilOfRatio(lanes, beside)) * passes;
  const double stored = registers / windows * tiling.sublanes * tiling.lanes * kBytesOfElement / WriteRate(core);
  const double passed = 2 * core.vector().access_cycles() * registers;
  return windows * movement.transpose_window_cycles() + std::max(additions, windows * folded * movement.window_row_cycles() * (1 + spread)) + passed + stored;
}

}  // namespace toroid
