// The two sides of a bitcast without the tiles of their layouts.
//
// Tiles regroup an array in memory: f32[16,256]{1,0:T(8,128)} lies there as 2 x 2 tiles of 8 x 128 elements, which is how
// f32[2,8,2,128]{3,1,2,0} lies. Two ways to read a bitcast of tiled layouts:
//   - Both sides have the same tiles over the same sizes, up to dimensions of one element. Then padding lies where it lay,
//     and tiles may be left out: bf16[100,64]{1,0:T(8,128)} and bf16[100,64,1]{1,0,2:T(8,128)}.
//   - The tiles fit both sides without padding. Then each side is an array of more dimensions without tiles.
// Source: XLA, docs/tiled_layout.md.
#ifndef TOROID_HLO_IR_UNTILED_SHAPES_H_
#define TOROID_HLO_IR_UNTILED_SHAPES_H_

#include "absl/status/statusor.h"
#include "hlo/ir/shape.h"

namespace toroid {

struct UntiledShapes {
  // In row-major order the elements of `from` are those of the bitcast's operand, and likewise of `to`. Layouts without
  // tiles say in which order they lie in memory, which is the same for both.
  Shape from, to;
};

// Errors: kUnimplemented where an element of one side would lie in the padding of the other.
absl::StatusOr<UntiledShapes> WithoutTiles(const Shape& from, const Shape& to);

}  // namespace toroid

#endif  // TOROID_HLO_IR_UNTILED_SHAPES_H_
