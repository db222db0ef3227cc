// Products of matrices: their sizes, and what one takes.
// BUILD: srcs += "convolution.h", "convolution_rows.cc", "convolution_sizes.h", "convolution_sizes.cc"
#pragma once

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/instruction.h"
#include "simulator/machines/core.pb.h"

namespace toroid {

// The places at which a kernel stands as it slides over the images of a convolution. In the gradient of a kernel it is the
// gradient of the result that slides. Rows are cut first; with one spatial dimension there are columns alone.
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

// An operand that is a concatenation of several arrays: bytes that are read in addition to those of the arrays. The compiler
// reads each array as if it were padded from the beginning of the concatenation to the array's own end; if windows cut the
// concatenated dimension, it does so once for every window.
struct JoinedOperand {
  double bytes = 0, cut_bytes = 0;  // If windows do not cut the concatenated dimension, and if they do.
  bool is_contracted = false;       // That dimension is contracted, not free.
  // Elements of the other contracted (or free) dimensions that lie outside of it: windows cut these first.
  double outer = 1;

  template <typename H>
  friend H AbslHashValue(H h, const JoinedOperand& j) {
    return H::combine(std::move(h), j.bytes, j.cut_bytes, j.is_contracted, j.outer);
  }
  bool operator==(const JoinedOperand&) const = default;
};

// How often each element of the images is loaded if the places are cut into so many parts. More than once, since the kernel at
// the edge of one part reaches into the next one, and since whole tiles are loaded. Of the ways to cut rows and columns the one
// that loads least. 1 if nothing is cut.
double ReadsOfParts(const SlidingWindow& places, double parts);

// A product of matrices: `batch` times [m, k] x [k, n].
struct MatrixWork {
  double batch = 1, m = 1, k = 1, n = 1;
  // Bytes that are read from memory to make each operand.
  double lhs_bytes = 0, rhs_bytes = 0;
  JoinedOperand lhs_joined, rhs_joined;
  // Vector instructions that make each operand, one for each register; they run again every time the operand is read.
  double lhs_slots = 0, rhs_slots = 0;
  // Cycles in which one value for each row is spread over the lanes, for each operand. Other instructions run meanwhile.
  double lhs_moved = 0, rhs_moved = 0;
  // Vector instructions that store the result for another product of the same group.
  double out_slots = 0;
  // Elements of the batch that lie in one tile of an operand, so that windows cannot separate them.
  double whole_batch = 1;
  // How many of the m rows pass a tile of the units before the next tile is taken; 0: all.
  double rows_together = 0;
  // The contracted dimension rarely fills its last tile: only the rows that are there are loaded, not all 128. If the product
  // is contracted in parts for that: cycles in which the sums of the parts are added up.
  bool passes_part = false;
  double part_sum_cycles = 0;
  // The m rows are those of so many positions of a kernel, each multiplied by its own part of the right operand; 1: no kernel.
  double positions = 1;
  // The units hold tiles of the right operand and never of the left one: a convolution's kernel stays while images pass.
  bool holds_rhs = false;
  // Of a depthwise convolution, which the vector unit does: positions of its kernel. 0 for others.
  double channel_taps = 0;
  // Of a convolution: its places, and whether they are contracted (as in the gradient of a kernel) rather than rows of the left
  // operand.
  SlidingWindow places;
  bool contracts_places = false;
  // Of a kernel of one row with a stride of row_step along rows: if windows cut the images into row_windows parts or more, one
  // for each row of the result, only every row_step-th row is read, else all are.
  double row_windows = 0, row_step = 1;
  // Of the gradient of a kernel over images whose features lie along lanes: positions of the kernel; 0: other products.
  // holds_lhs: the units hold tiles of the images, since those features lie along lanes in the result too.
  double gradient_positions = 0;
  bool holds_lhs = false;
  // Of a convolution of few images, each place of which takes a tile of its own: cycles in which the images are put into such
  // tiles, and results taken out of them.
  double places_in_cycles = 0, places_out_cycles = 0;
  bool float32 = false;         // An operand comes as f32.
  bool full_precision = false;  // All bits of f32 operands count.
  // If another product of this group makes an operand: the units cannot hold sums of both products, so that for each tile of
  // the contracted dimension each register of the sum is loaded, added to and stored. This is how many vector instructions that
  // takes; fewer if rows of both operands are contracted, as then it is added to as it leaves the units.
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
// Several dimensions count as their product. How a convolution is cut into products depends on how its features fill tiles: the
// forms are listed in convolution.h and described in docs/rules.md (family `product`).
MatrixWork MatrixSizes(const Instruction& instruction, const CoreSpec& core);

// Rows that pass, summed over all tiles, if `rows` pass tiles of [k, columns]; times the cycles of a row (cycles_per_row) it is
// the time. The units hold a tile of one operand while rows of the other pass. Meanwhile the next tile is loaded, which takes
// at least as long as its own rows would take to pass. `together`: so many rows pass before the tile changes, all if 0.
// `in_parts`: of the last tile only the rows that are there are loaded.
double CyclesOfRows(double batch, double rows, double together, bool in_parts, double k, double columns,
                    const CoreSpec& core);

// Sets whole_batch: the size of batch dimensions that are among the two minor dimensions of an operand, which lie in one tile.
void FindWholeBatch(const Instruction& dot, int64_t sublanes, MatrixWork* work);

// The value of MatrixWork::sum_accesses for a product of which another one makes an operand.
double SumAccesses(const Instruction& outer);

// Cycles in which the matrix units work: the better of holding tiles of either operand,
//   C = cycles_per_row x batch x max(round_up(m, 8), L) x ceil(k / 128) x ceil(n / 128) / units
//   L = min(128, k, n), rows of a tile to load while others pass
// and, if another product makes an operand, sum_accesses x access_cycles x batch x ceil(m / 8) x ceil(n / 128) x ceil(k / 128)
// where the numbers are the sublanes of the vector unit and the tile of the matrix unit.
double MatrixCycles(const MatrixWork& work, const CoreSpec& core);

// What becomes of a product's result in its group: bytes that are written for it or read to work on it, the cycles in which
// these pass memory, and vector instructions, one for each register. read_bytes: those of the bytes that are read.
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
//   U = max(C, V, X), where V has, if there is any work for the vector unit, added_sum_cycles for each register of the result
//       and each tile of what is contracted but the first, whose sums are loaded, added to and stored; X spreads values over
//       lanes
//   D = what is loaded and stored beside a step: (a + b) / s + O where the right operand changes (k is cut: where the sums are
//       complete), a / s + O in the steps between (k is cut: (a + b) / s; one window of rows: b / s + O)
// 2048 x 1024 x 8192, f32: 4 x 16 windows of 512 x 512; of each four steps one waits for both operands (+47 % on it): 659 us,
// where sums over all steps would hide all behind 590.
// a, b: bytes of a window of left and right operand; s bytes per cycle of memory; O cycles in which those of its result pass.
// The left operand is read nn times unless m and k are uncut, the right one nm times if k is cut. Cuts of m that are cuts of
// positions of a kernel cut the right operand as well. Parts of images load what their windows reach (ReadsOfParts), and stand
// beside what is rounded of them and their sums: 32 images of 56 x 56 x 64 in f32, 3 x 3: 32 parts of 7 x 14 places, of which 9
// x 24 are loaded: 411 us, not 298.
WindowedTime TimeInWindows(const MatrixWork& work, const ProductResults& results, const CoreSpec& core);

}  // namespace toroid
