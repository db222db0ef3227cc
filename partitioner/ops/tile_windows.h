// Which operand rows a tile of a result reads, for ops that move boundaries: slice, pad, concatenate,
// reverse, windows.
//
// The result's dimension is cut in tiles of t rows; tile i owns rows [i t, (i + 1) t).
//
//   slice          x[start + stride r]                  [i t stride + start, .. + (t - 1) stride + 1)
//   pad            x[(r - low) / (interior + 1)]        from floor((i t - low) / (interior + 1)), as many as t rows span
//   concatenate    operand k lies in rows [begin, ..)   [i t - begin, .. + t)
//   windows        base spread by its dilation, window  from floor((i t stride - low) / dilation), as many as t windows
//                  r begins at r stride - low           span
//   select-and-    windows apart: those of s rows of the       [i s stride, .. + s stride)
//   scatter        source
//   reverse        after tiles changed places with their mirror images, what the last one lacks: [i s + s tiles - n, + s)
//
// Local programs fetch these rows, and assignments count what that sends.
#ifndef TOROID_PARTITIONER_OPS_TILE_WINDOWS_H_
#define TOROID_PARTITIONER_OPS_TILE_WINDOWS_H_

#include <vector>

#include "hlo/ir/instruction.h"
#include "hlo/ir/mesh.h"
#include "partitioner/reshard/halo_plan.h"

namespace toroid {

struct OperandWindows {
  int operand = 0;
  int dim = 0;  // Of the operand.
  TileWindows windows;
};

// What tiles of dimension `dim` of the result read, cut in `tiles`. Nothing for ops that read their own rows,
// and for cumulative windows.
std::vector<OperandWindows> ReadsOfTiles(const Instruction& op, int dim, int64_t tiles);

// A window along `dim` that reaches from every row to the begin (or the end) of the dimension, over a reducer
// and an init value that leave others unchanged: the parts of tiles combine. 0: no; 1: from the begin; -1:
// from the end.
int CumulativeDirection(const Instruction& op, int dim);

// Bytes that one device sends for the op's own exchanges if dimension `dim` of the result is cut over `axes`,
// and what many small messages cost beyond their bytes. operand_bytes[k]: local bytes of operand k.
struct ExchangeCost {
  int64_t sent_bytes = 0;
  double delay = 0;  // In link bytes (hlo/cost/cost_model.h).
};
ExchangeCost CostOfExchanges(const Instruction& op, int dim, const Mesh& mesh, const CostModel& model,
                             const AxisList& axes, absl::Span<const double> operand_bytes);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_TILE_WINDOWS_H_
