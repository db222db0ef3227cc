#include "simulator/chip/running_fold.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "hlo/base/math.h"
#include "hlo/ir/attribute_views.h"
#include "simulator/chip/matrix_work.h"
#include "simulator/chip/movement.h"
#include "simulator/program/spread_vectors.h"
#include "simulator/program/tiling.h"
#include "simulator/program/windows.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

constexpr double kBytesOfElement = 4;   // In registers.
constexpr double kMostTiles = 1 << 16;  // More than any machine's windows hold: the search stays short.

}  // namespace

double RunningFoldCycles(const Instruction& reduce_window, bool is_alone, const CoreSpec& core) {
  const DataMovementSpec& movement = core.movement();
  const Shape& shape = reduce_window.shape();
  const Tiling tiling{core.vector().sublanes(), core.vector().lanes()};
  const double registers = TilesOf(shape, tiling), elements = WindowElements(reduce_window);
  const double additions = movement.window_element_cycles() * elements * registers;
  const Dims order = PhysicalOrder(shape);
  const WindowView dims(reduce_window);
  const auto is_folded = [&](int64_t d) { return !dims[static_cast<int>(d)].IsTrivial(); };
  // Elements that are added to each other stand in registers of their own, or rows are moved.
  const bool is_outer = order.size() > 1 && !is_folded(order[0]) && !is_folded(order[1]);
  std::optional<std::vector<const Instruction*>> vectors;
  if (is_outer && !is_alone && Decides(Rule::kFoldedMasks, reduce_window))
    vectors = VectorsSpreadAlong(*reduce_window.operand(0), order[0]);
  const double spread = vectors.has_value() ? static_cast<double>(vectors->size()) : 1;
  const auto rows = is_outer ? static_cast<double>(CeilOfRatio(shape.dim(order[1]), tiling.sublanes)) : 1;
  const int64_t lanes = is_outer ? CeilOfRatio(shape.dim(order[0]), tiling.lanes) : 1;
  const double folded = (2 * elements - 1) * rows, stored = elements * rows;
  // Several arrays have as many windows.
  const double arrays = std::max(1., registers / (stored * static_cast<double>(lanes)));
  // What is loaded stands there twice: one window's while another is worked on, as results do if there are several windows.
  const auto fits = [&](int64_t beside, double windows) {
    const double held = folded * (vectors.has_value() ? 1 : 2) + stored * (windows > 1 ? 2 : 1);
    return held * static_cast<double>(beside) + (vectors.has_value() ? folded * spread : 0) <=
           movement.running_window_tiles();
  };
  int64_t beside = lanes;
  if (!fits(lanes, arrays)) {
    beside = std::min(lanes, static_cast<int64_t>(std::min(movement.running_window_tiles(), kMostTiles)));
    while (beside > 1 && (lanes % beside != 0 || !fits(beside, 2))) --beside;
    beside = std::max<int64_t>(1, beside);
  }
  const double windows = arrays * static_cast<double>(CeilOfRatio(lanes, beside));
  const double started = windows * movement.transpose_window_cycles();
  const double store_cycles = tiling.sublanes * tiling.lanes * kBytesOfElement / WriteRate(core);
  const double rows_cycles = (2 * elements - 1) / elements * movement.window_row_cycles() * (1 + spread);
  if (vectors.has_value()) {
    const double spread_cycles = rows_cycles * registers / static_cast<double>(beside);
    return started + std::max(additions, spread_cycles) + 2 * core.vector().access_cycles() * registers +
           store_cycles * registers / windows;
  }
  // Of what is cut from rows of tiles each tile is a transfer of its own.
  const double transfer = beside < lanes ? movement.strided_run_cycles() : 0;
  const double load_cycles = tiling.sublanes * tiling.lanes * kBytesOfElement / StreamRate(core);
  const double moved = (2 * elements - 1) / elements * (load_cycles + transfer) + store_cycles + transfer;
  return started + std::max({additions, rows_cycles * registers, moved * registers});
}

}  // namespace toroid
