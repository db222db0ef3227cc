// The two sides of a bitcast without the tiles of their layouts.
//
// A bitcast has a meaning if each element of the result lies at the place of an element of the operand, none in padding. Then
// dimensions can be split into the digits of their places (tiled_places.h), of which both sides have the same in other orders:
//   f32[16,256]{1,0:T(8,128)} to f32[4096]{0:T(1024)}: f32[2,8,2,128]{3,1,2,0} lies as f32[4096]{0} does.
//   f32[2,16,130]{2,1,0:T(8,128)} to f32[32,130]{1,0:T(8,128)}: a reshape, the padding of 126 columns lies where it lay.
//   f32[1000]{0:T(1024)} to f32[1,1000]{1,0:T(1,1024)}: a reshape.
//   f32[32,100]{1,0:T(8,128)} to f32[30,100]{1,0:T(8,128)}: the first 30 rows; the other way there is none.
//   f32[3,5,100]{2,1,0:T(8,128)} to f32[15,100]{1,0:T(8,128)}: none, row 5 of the result lies in padding of the operand.
#pragma once

#include "absl/status/statusor.h"
#include "hlo/ir/shape.h"

namespace toroid {

struct UntiledShapes {
  // The result holds the first kept[d] elements of dimension d of the operand: all, or fewer where it is smaller.
  Dims kept;
  // In row-major order the elements of `from` are those that are kept of the bitcast's operand, and those of `to` the result's.
  // Layouts without tiles give them an order that is the same for both, as the order in memory is.
  Shape from, to;
};

// Errors: kUnimplemented where the result has elements at other places than the operand, or fewer that are no slice of it, or
// the places are unknown (tiles that merge dimensions or do not divide the tile around them, dynamic dimensions).
absl::StatusOr<UntiledShapes> WithoutTiles(const Shape& from, const Shape& to);

}  // namespace toroid
