// Products of matrices: their sizes, and what one takes.
// BUILD: srcs += "convolution.h", "convolution_rows.cc", "convolution_sizes.h", "convolution_sizes.cc"
#pragma once

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/instruction.h"
#include "simulator/machines/core.pb.h"

namespace toroid {

// The places at which a window stands on the images of a convolution: of a gradient those of what slides over them. Rows are cut first;
// with one spatial dimension there are columns alone.
struct SlidingWindow {
  double rows = 0, columns = 0;            // Places; 0: nothing slides.
  double row_step = 1, column_step = 1;    // Of images, from one place to the next.
  double row_reach = 1, column_reach = 1;  // Of images, from the first to the last element under a window.
  double column_tile = 1;                  // Columns that lie in one tile.

  template <typename H>
  friend H AbslHashValue(H h, const SlidingWindow& w) {
    return H::combine(std::move(h), w.rows, w.columns, w.row_step, w.column_step, w.row_reach, w.column_reach,
                      w.column_tile);
  }
  bool operator==(const SlidingWindow&) const = default;
};

// An operand that is put together from several arrays: what is read beside them. Each is read from where the whole begins to where it
// ends; if windows cut the dimension along which they lie, each is read for every window.
struct JoinedOperand {
  double bytes = 0, cut_bytes = 0;
  bool is_contracted = false;  // The dimension; of a free one otherwise.
  double outer = 1;            // Elements of such dimensions outside of it, which are cut first.

  template <typename H>
  friend H AbslHashValue(H h, const JoinedOperand& j) {
    return H::combine(std::move(h), j.bytes, j.cut_bytes, j.is_contracted, j.outer);
  }
  bool operator==(const JoinedOperand&) const = default;
};

// How often images are loaded if their places are cut into so many parts: what a part's windows reach belongs to its
// neighbours as well, and whole tiles are loaded. Of the cuts into rows and columns the one that loads least. 1 if nothing is cut.
double ReadsOfParts(const SlidingWindow& places, double parts);

// A product of matrices: `batch` times [m, k] x [k, n].
struct MatrixWork {
  double batch = 1, m = 1, k = 1, n = 1;
  // Read from memory to make each operand.
  double lhs_bytes = 0, rhs_bytes = 0;
  JoinedOperand lhs_joined, rhs_joined;
  // Vector instructions, in registers, that make each operand every time it is read.
  double lhs_slots = 0, rhs_slots = 0;
  // Cycles in which values are spread over lanes for each operand, beside other instructions.
  double lhs_moved = 0, rhs_moved = 0;
  // The same that store what it makes for another product of the group.
  double out_slots = 0;
  // Of the batch, what cannot be cut: it shares tiles with the rows or columns of an operand.
  double whole_batch = 1;
  // Of m, how many rows pass one tile after the other; 0: all.
  double rows_together = 0;
  // Of the last tile of what is contracted only its rows are loaded; where it is contracted in parts for that, cycles in which their sums
  // are added up.
  bool passes_part = false;
  double part_sum_cycles = 0;
  // Of m, how many are positions of the kernel, each with a part of the right operand of its own; 1: none.
  double positions = 1;
  // The units hold tiles of the right operand: of a convolution's kernel, whose positions are applied to images as they pass.
  bool holds_rhs = false;
  // Of a convolution that mixes no channels, which needs no matrix unit: positions of its kernel. 0 for others.
  double channel_taps = 0;
  // Of a convolution. Its places are rows of the left operand, those of a kernel's gradient are contracted.
  SlidingWindow places;
  bool contracts_places = false;
  // A kernel of one row that passes over rows: of every row_step rows one is read if there is a window for each row of the result, else
  // all are.
  double row_windows = 0, row_step = 1;
  // Of m, how many are positions of a kernel whose gradient this is, of images whose features lie along lanes; 0: other products. The
  // units hold tiles of those images if their features lie along lanes in the result.
  double gradient_positions = 0;
  bool holds_lhs = false;
  // Of a convolution of few images: cycles in which their places are put into tiles and those of its results come out of them.
  double places_in_cycles = 0, places_out_cycles = 0;
  bool float32 = false;         // An operand comes as f32.
  bool full_precision = false;  // All bits of f32 operands count.
  // If another product of this group makes an operand: instructions for each register of the sum and each tile of what is contracted,
  // as the units cannot hold sums of both. It is loaded, added to and stored; added to as it leaves the units if rows of both operands
  // are contracted.
  double sum_accesses = 0;

  template <typename H>
  friend H AbslHashValue(H h, const MatrixWork& w) {
    return H::combine(std::move(h), w.batch, w.m, w.k, w.n, w.lhs_bytes, w.rhs_bytes, w.lhs_joined,
                      w.rhs_joined, w.lhs_slots, w.rhs_slots, w.lhs_moved, w.rhs_moved, w.out_slots,
                      w.whole_batch, w.rows_together, w.passes_part, w.part_sum_cycles, w.positions,
                      w.channel_taps, w.places, w.contracts_places, w.row_windows, w.row_step,
                      w.gradient_positions, w.holds_lhs, w.places_in_cycles, w.places_out_cycles, w.holds_rhs,
                      w.float32, w.full_precision, w.sum_accesses);
  }
  bool operator==(const MatrixWork&) const = default;
};

// The sizes alone, of a dot, scaled-dot, ragged-dot or convolution:
//   dot          batch dimensions; free ones of the left side; contracted ones; free ones of the right side
//   convolution  groups; batch and positions of the result; positions of the kernel x input features; output features
// Several dimensions count as their product. Of fewer input features than half a tile has lanes those of a row of the kernel are put
// together (of two rows where there are fewer than a register has sublanes and windows overlap), and each is padded; parts of a tile
// come with their neighbours; each position passes alone where the kernel is turned. Images are whole registers of rows, if they are
// more than one. Over a dilated input each position of the kernel passes by itself.
MatrixWork MatrixSizes(const Instruction& instruction, const CoreSpec& core);

// Cycles in which `rows` pass tiles of [k, columns], before what a row takes. Tiles of one operand are held, rows of the other pass. While
// they do the next tile is loaded, which takes as many rows as it has, whichever way round it is held; of `rows` as many pass at once as
// `together`, all if 0. `in_parts`: only the rows of the last tile are loaded.
double CyclesOfRows(double batch, double rows, double together, bool in_parts, double k, double columns,
                    const CoreSpec& core);

// Sets whole_batch from the layouts of the operands: batch dimensions among their two minor ones.
void FindWholeBatch(const Instruction& dot, int64_t sublanes, MatrixWork* work);

// sum_accesses of a product of which another one makes an operand.
double SumAccesses(const Instruction& outer);

// Cycles in which the matrix units work: the better of holding tiles of either operand,
//   C = cycles_per_row x batch x max(round_up(m, 8), L) x ceil(k / 128) x ceil(n / 128) / units
//   L = min(128, k, n), rows of a tile to load while others pass
// and, if another product makes an operand, sum_accesses x access_cycles x batch x ceil(m / 8) x ceil(n / 128) x ceil(k / 128)
// where the numbers are the sublanes of the vector unit and the tile of the matrix unit.
double MatrixCycles(const MatrixWork& work, const CoreSpec& core);

// The result of a product and everything that is done to it in its group: what passes memory, the cycles in which it does, and vector
// instructions, in registers. Of the bytes, what is read.
struct ProductResults {
  double bytes = 0, cycles = 0, slots = 0, read_bytes = 0;
};

// What a group around a product takes, in cycles.
struct WindowedTime {
  double cycles = 0;
  // Of all windows: in matrix units, vector unit, memory; and what passes memory.
  double matrix = 0, vector = 0, memory = 0, bytes = 0;
  double windows = 0;
};

// Bytes per cycle of a long stream that is read, and of one that is written.
double StreamRate(const CoreSpec& core);
double WriteRate(const CoreSpec& core);

// The operands and the result do not fit into on-chip memory at once: batch, n, m, k (outermost first) are cut into
// N = nb nn nm nk windows, of which one is worked on while the next is loaded and the one before stored. Of the cuts that
// fit into the budget, twice over (sums that stay until all is added up once), the fastest:
//   T = (a + b) / s + sum over steps but the first of max(U, D) + U + O + N window_cycles
//   U = max(C, V, X), where V has, if there is any work for the vector unit, added_sum_cycles for each register of the result and each
//       tile of what is contracted but the first, whose sums are loaded, added to and stored; X spreads values over lanes
//   D = what is loaded and stored beside a step: (a + b) / s + O where the right operand changes (k is cut: where the sums are
//       complete), a / s + O in the steps between (k is cut: (a + b) / s; one window of rows: b / s + O)
// 2048 x 1024 x 8192, f32: 4 x 16 windows of 512 x 512; of each four steps one waits for both operands (+47 % on it): 659 us, where
// sums over all steps would hide all behind 590.
// a, b: bytes of a window of left and right operand; s bytes per cycle of memory; O cycles in which those of its result pass. The left operand is
// read nn times unless m and k are uncut, the right one nm times if k is cut. Cuts of m that are cuts of positions of a kernel
// cut the right operand as well. Parts of images load what their windows reach (ReadsOfParts), and stand beside what is rounded of them
// and their sums: 32 images of 56 x 56 x 64 in f32, 3 x 3: 32 parts of 7 x 14 places, of which 9 x 24 are loaded: 411 us, not 298.
WindowedTime TimeInWindows(const MatrixWork& work, const ProductResults& results, const CoreSpec& core);

}  // namespace toroid
