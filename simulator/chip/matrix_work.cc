#include "simulator/chip/matrix_work.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/ir/attribute_views.h"
#include "simulator/chip/convolution_sizes.h"
#include "simulator/program/tiling.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

double Dim(const Shape& shape, int64_t d) {
  return d >= 0 && d < shape.rank() ? static_cast<double>(std::max<int64_t>(shape.dim(d), 0)) : 1;
}

double RoundUp(double n, double multiple) { return std::ceil(n / multiple) * multiple; }

MatrixWork SizesOfDot(const Instruction& dot) {
  MatrixWork work;
  const auto& attrs = dot.attrs();
  const DotView view(dot.opcode() == Opcode::kRaggedDot
                         ? attrs.ragged_dot_dimension_numbers().dot_dimension_numbers()
                         : attrs.dot_dimension_numbers());
  const Shape& lhs = dot.operand(0)->shape();
  const Shape& rhs = dot.operand(1)->shape();
  for (const int64_t d : view.lhs_batch()) work.batch *= Dim(lhs, d);
  for (const int64_t d : view.lhs_contracting()) work.k *= Dim(lhs, d);
  const double lhs_all = static_cast<double>(lhs.NumElements()),
               rhs_all = static_cast<double>(rhs.NumElements());
  work.m = work.batch * work.k > 0 ? lhs_all / (work.batch * work.k) : 0;
  double rhs_bound = 1;
  for (const int64_t d : view.rhs_batch()) rhs_bound *= Dim(rhs, d);
  for (const int64_t d : view.rhs_contracting()) rhs_bound *= Dim(rhs, d);
  if (dot.opcode() == Opcode::kRaggedDot) {
    for (const int64_t d : attrs.ragged_dot_dimension_numbers().rhs_group_dimensions())
      rhs_bound *= Dim(rhs, d);
  }
  work.n = rhs_bound > 0 ? rhs_all / rhs_bound : 0;
  return work;
}

// Of a kernel's gradient each position passes alone: the features of its images while a part of a tile (gradient_tile_share) of
// what slides over them is loaded, or the other way round while a whole one is.
double CyclesOfGradient(const MatrixWork& work, double batch, double m, double k, double n,
                        const CoreSpec& core) {
  const double tile = static_cast<double>(core.matrix().tile()),
               sublanes = static_cast<double>(core.vector().sublanes());
  const double positions = std::max(1.0, std::min(work.gradient_positions, m)), features = m / positions;
  const double held_lhs = std::max(std::min(tile, k), RoundUp(n, sublanes)) * std::ceil(features / tile);
  const double held_rhs =
      std::max(std::min(Thresholds().gradient_tile_share() * tile, k), RoundUp(features, sublanes)) *
      std::ceil(n / tile);
  return batch * positions * std::ceil(k / tile) *
         (work.holds_lhs ? held_lhs : std::min(held_lhs, held_rhs)) /
         static_cast<double>(core.matrix().units());
}

double Cycles(const MatrixWork& work, double batch, double m, double k, double n, const CoreSpec& core) {
  if (work.channel_taps > 0) return 0;
  const MatrixUnitSpec& unit = core.matrix();
  double rows = CyclesOfRows(batch, m, work.rows_together, work.passes_part && k > unit.tile(), k, n, core);
  if (work.rows_together == 0 && !work.holds_rhs)
    rows = std::min(rows, CyclesOfRows(batch, n, 0, false, k, m, core));
  if (work.gradient_positions > 0) rows = CyclesOfGradient(work, batch, m, k, n, core);
  const double each = work.float32 ? unit.cycles_per_float32_row() : unit.cycles_per_row();
  const double tile = static_cast<double>(unit.tile()),
               sublanes = static_cast<double>(core.vector().sublanes());
  const double sums = work.sum_accesses * core.vector().access_cycles() * batch * std::ceil(m / sublanes) *
                      std::ceil(n / tile) * std::ceil(k / tile);
  const double part_sums = work.part_sum_cycles > 0
                               ? work.part_sum_cycles * (batch / work.batch) * (m / work.m) * (n / work.n)
                               : 0;
  return rows * each * (work.full_precision ? static_cast<double>(unit.full_precision_passes()) : 1) + sums +
         part_sums;
}

double BytesBeside(const JoinedOperand& joined, double contracted_cuts, double free_cuts) {
  return (joined.is_contracted ? contracted_cuts : free_cuts) > joined.outer ? joined.cut_bytes
                                                                             : joined.bytes;
}

// Into how many pieces a dimension may be cut: 1, 2, 4, ... while pieces stay at least `least` long; and all numbers up to
// most_even_cuts that share out whole pieces of that length evenly.
std::vector<double> Cuts(double size, double least) {
  constexpr size_t kMostHalvings = 20;  // More than memory holds.
  const auto most_even = static_cast<double>(Thresholds().most_even_cuts());
  std::vector<double> cuts = {1};
  while (cuts.back() * 2 * least <= size && cuts.size() < kMostHalvings) cuts.push_back(cuts.back() * 2);
  const double tiles = size / least;
  for (double cut = 3; cut <= std::min(tiles, most_even); ++cut) {
    if (std::fmod(tiles, cut) == 0 && std::find(cuts.begin(), cuts.end(), cut) == cuts.end())
      cuts.push_back(cut);
  }
  return cuts;
}

}  // namespace

double CyclesOfRows(double batch, double rows, double together, bool in_parts, double k, double columns,
                    const CoreSpec& core) {
  const double tile = static_cast<double>(core.matrix().tile()),
               sublanes = static_cast<double>(core.vector().sublanes());
  const double load = RoundUp(std::min({tile, k, columns}), sublanes);
  const double times = together > 0 ? rows / together : 1,
               passing = RoundUp(together > 0 ? together : rows, sublanes);
  double tiles = std::max(load, passing) * std::ceil(k / tile);
  const double last = std::fmod(k, tile);
  if (in_parts && last > 0) {
    tiles = std::max(load, passing) * std::floor(k / tile) +
            std::max(RoundUp(std::min(last, columns), sublanes), passing);
  }
  return batch * times * tiles * std::ceil(columns / tile) / static_cast<double>(core.matrix().units());
}

double ReadsOfParts(const SlidingWindow& places, double parts) {
  if (parts <= 1 || places.rows < 1 || std::max(places.row_reach, places.column_reach) <= 1) return 1;
  // Windows at the edges are as large as others.
  const auto windows = [](double count, double cut) { return std::ceil(count / std::ceil(count / cut)); };
  const auto loaded = [](double count, double cut, double step, double reach) {
    return std::floor((std::ceil(count / cut) - 1) * step + reach);
  };
  const auto tiles = [&](double columns, bool is_cut) {
    return RoundUp(columns, places.column_tile) +
           (is_cut && places.column_reach > 1 && places.column_tile > 1 ? places.column_tile : 0);
  };
  const double all =
      places.rows * places.row_step * RoundUp(places.columns * places.column_step, places.column_tile);
  double least = 0;
  for (double down = 1; down <= std::min(parts, places.rows); down *= 2) {
    const double across = std::min(parts / down, places.columns);
    const double rows = loaded(places.rows, down, places.row_step, places.row_reach);
    const double columns =
        tiles(loaded(places.columns, across, places.column_step, places.column_reach), across > 1);
    const double reads = windows(places.rows, down) * rows * windows(places.columns, across) * columns / all;
    if (least == 0 || reads < least) least = reads;
  }
  // Images are cut rather than places whose windows overlap by more than they are apart.
  return least > Thresholds().most_reads_of_parts() && parts > 2 ? ReadsOfParts(places, parts / 2)
                                                                 : std::max(1.0, least);
}

MatrixWork MatrixSizes(const Instruction& instruction, const CoreSpec& core) {
  if (instruction.num_operands() < 2) return MatrixWork();
  MatrixWork work = instruction.opcode() == Opcode::kConvolution ? SizesOfConvolution(instruction, core)
                                                                 : SizesOfDot(instruction);
  bool all_float32 = true;
  for (int i = 0; i < 2; ++i) {
    const bool is_float32 = instruction.operand(i)->shape().element_type() == xla::F32;
    // Images are rounded as they are put beside each other.
    work.float32 |= is_float32 && instruction.opcode() != Opcode::kConvolution;
    all_float32 &= is_float32;
  }
  for (const int precision : instruction.attrs().precision_config().operand_precision()) {
    work.full_precision |= all_float32 && precision == xla::PrecisionConfig::HIGHEST;
  }
  return work;
}

void FindWholeBatch(const Instruction& dot, int64_t sublanes, MatrixWork* work) {
  if (dot.opcode() != Opcode::kDot || dot.num_operands() < 2) return;
  const DotView view(dot);
  for (int side = 0; side < 2; ++side) {
    const auto batch = side == 0 ? view.lhs_batch() : view.rhs_batch();
    const Shape& shape = dot.operand(side)->shape();
    const Dims order = PhysicalOrder(shape);
    for (size_t i = 0; i < std::min<size_t>(2, order.size()); ++i) {
      if (std::find(batch.begin(), batch.end(), order[i]) == batch.end()) continue;
      work->whole_batch =
          std::max(work->whole_batch, std::min(Dim(shape, order[i]), static_cast<double>(sublanes)));
    }
  }
}

double SumAccesses(const Instruction& outer) {
  if (outer.opcode() != Opcode::kDot) return Thresholds().sum_accesses();
  const DotView view(outer);
  for (int side = 0; side < 2; ++side) {
    const auto contracting = side == 0 ? view.lhs_contracting() : view.rhs_contracting();
    if (std::find(contracting.begin(), contracting.end(), outer.operand(side)->shape().rank() - 1) !=
        contracting.end())
      return Thresholds().sum_accesses();
  }
  return Thresholds().sum_accesses_of_rows();
}

double MatrixCycles(const MatrixWork& work, const CoreSpec& core) {
  if (work.channel_taps > 0) return 0;
  return Cycles(work, work.batch, work.m, work.k, work.n, core);
}

double StreamRate(const CoreSpec& core) {
  return core.memory().bytes_per_second() * core.memory().stream_efficiency() / core.clock_hertz();
}

double WriteRate(const CoreSpec& core) {
  const double share = core.memory().write_efficiency();
  return share > 0 ? core.memory().bytes_per_second() * share / core.clock_hertz() : StreamRate(core);
}

namespace {

// Into how many windows a product is cut along its batch, columns, rows and what is contracted; how often parts
// of its left operand are read.
struct Cut {
  double batch, n, m, k, again;
};

// Bytes that windows ask for beyond what they have, and the time if that is granted.
struct CutTime {
  double excess = std::numeric_limits<double>::infinity();
  WindowedTime time;
};

// Cycles of all steps: those in which both operands are loaded and a result is stored, and the others.
double CyclesOfSteps(const Cut& cut, double core_cycles, double lhs_window_bytes, double rhs_window_bytes,
                     const ProductResults& results, const CoreSpec& core) {
  const double stream = StreamRate(core), start = core.memory().transfer_cycles();
  const double windows = cut.batch * cut.n * cut.m * cut.k;
  const double stored = results.cycles / (cut.batch * cut.m * cut.n) + start;
  const double step = core_cycles / windows + core.matrix().window_cycles(),
               load_lhs = lhs_window_bytes / stream + start, load_rhs = rhs_window_bytes / stream + start;
  double changes, other_load;
  if (cut.k > 1) {
    changes = windows / cut.k;
    other_load = load_lhs + load_rhs;
  } else if (cut.m > 1) {
    changes = cut.batch * cut.n;
    other_load = load_lhs + stored;
  } else {
    changes = cut.batch;
    other_load = load_rhs + stored;
  }
  const double steps = (changes - 1) * std::max(step, load_lhs + load_rhs + stored) +
                       (windows - changes) * std::max(step, other_load);
  return load_lhs + load_rhs + steps + step + stored;
}

// `added`: cycles in which sums are added up. No time if more than `most_excess` bytes are missing.
CutTime TimeOfCut(const MatrixWork& work, const ProductResults& results, const Cut& cut, double added,
                  double most_excess, const CoreSpec& core) {
  const double nb = cut.batch, nn = cut.n, nm = cut.m, nk = cut.k;
  const double np = std::min(nm, work.positions);
  const double row_step = work.row_windows > 0 && nm >= work.row_windows ? work.row_step : 1;
  const double lhs_bytes = work.lhs_bytes / row_step + BytesBeside(work.lhs_joined, nk, nm),
               rhs_bytes = work.rhs_bytes + BytesBeside(work.rhs_joined, nk, nn);
  const double lhs_windows = nb * nm * nk / cut.again, rhs_windows = nb * nn * nk * np;
  const double a = lhs_bytes / lhs_windows, b = rhs_bytes / rhs_windows, o = results.bytes / (nb * nm * nn);
  // Sums that stay until all is added up stand there once.
  const double held = 2 * (a + b) + (nb * nm * nn == 1 && nk > 1 ? o : 2 * o);
  CutTime result;
  result.excess = std::max(0.0, held + (work.places.rows > 0 ? a / 2 + o : 0) -
                                    static_cast<double>(core.memory().window_budget_bytes()));
  if (result.excess > most_excess) return result;
  const double slots = static_cast<double>(std::max<int64_t>(1, core.vector().slots()));
  const double lhs_made = nm * nk == 1 ? 1 : nn, lhs_reads = cut.again * lhs_made,
               rhs_reads = nk == 1 ? 1 : nm / np;
  const double read = lhs_bytes * lhs_reads + rhs_bytes * rhs_reads;
  const double made = (work.lhs_slots * (work.channel_taps > 0 ? lhs_reads : lhs_made) +
                       work.rhs_slots * rhs_reads + results.slots) /
                      slots;
  const double vector = made > 0 ? made + added : 0;
  const double matrix =
      nb * nn * nm * nk * Cycles(work, work.batch / nb, work.m / nm, work.k / nk, work.n / nn, core);
  const double moved = work.lhs_moved * lhs_made + work.rhs_moved * rhs_reads;
  double placed = work.places_in_cycles * cut.again * lhs_made + work.places_out_cycles;
  // What results meet comes row by row too.
  if (work.places_out_cycles > 0) {
    const double row_bytes = static_cast<double>(core.vector().lanes()) * sizeof(float);
    placed += core.matrix().place_row_cycles() * results.read_bytes / row_bytes;
  }
  // A share of the shorter of both is not hidden, nor what makes the images.
  const double shown = core.matrix().place_shown_share() * std::min(matrix, placed);
  const double with_images = placed > 0 ? placed + work.lhs_slots * lhs_made / slots : 0;
  const double core_cycles = std::max({std::max(matrix, placed) + shown, vector, with_images, moved});
  // It is the vector unit that puts images into tiles, and takes results out of them.
  result.time = {CyclesOfSteps(cut, core_cycles, a, b, results, core),
                 matrix,
                 std::max(vector, with_images),
                 read / StreamRate(core) + results.cycles,
                 read + results.bytes,
                 nb * nn * nm * nk};
  return result;
}

}  // namespace

WindowedTime TimeInWindows(const MatrixWork& work, const ProductResults& results, const CoreSpec& core) {
  const double tile = static_cast<double>(core.matrix().tile());
  const double sublanes = static_cast<double>(core.vector().sublanes());
  // Sums of all tiles of what is contracted but the first are loaded, added to and stored.
  const double added = work.sum_accesses > 0 || work.channel_taps > 0
                           ? 0
                           : core.matrix().added_sum_cycles() * work.batch * std::ceil(work.m / sublanes) *
                                 std::ceil(work.n / tile) * std::max(0.0, std::ceil(work.k / tile) - 1);
  CutTime best;
  best.time.cycles = std::numeric_limits<double>::infinity();
  const std::vector<double> n_cuts = Cuts(work.n, tile), m_cuts = Cuts(work.m, sublanes),
                            k_cuts = Cuts(work.k, tile);
  std::vector<double> reads_of_parts;
  for (const double parts : work.contracts_places ? k_cuts : m_cuts)
    reads_of_parts.push_back(ReadsOfParts(work.places, parts));
  for (const double nb : Cuts(work.batch, work.whole_batch)) {
    for (const double nn : n_cuts) {
      for (size_t m = 0; m < m_cuts.size(); ++m) {
        for (size_t k = 0; k < k_cuts.size(); ++k) {
          const Cut cut = {nb, nn, m_cuts[m], k_cuts[k], reads_of_parts[work.contracts_places ? k : m]};
          // If nothing fits: the cuts that come nearest.
          const CutTime now = TimeOfCut(work, results, cut, added, best.excess, core);
          if (now.excess > best.excess || (now.excess == best.excess && now.time.cycles >= best.time.cycles))
            continue;
          best = now;
        }
      }
    }
  }
  return best.time;
}

}  // namespace toroid
