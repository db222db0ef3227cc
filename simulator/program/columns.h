// Columns of a table: arrays [N, 1] whose elements are numbers of as many tiles of few rows, and vectors [N], which fill tiles.
//
// A reshape from one to the other moves every element. Cut columns are worked on as such, and become vectors where they meet
// others:
//   x[:, 0] * x[:, 1] + v  =>  reshape(x[:, 0:1] * x[:, 1:2]) + v, the first in one group with others of x.
// A vector that is put beside others as a column of a table is written as one before.
// Seen in Google's compiler for TPU v3, which reduces over the dimension of one element.
#pragma once

#include "hlo/ir/instruction.h"
#include "hlo/ir/shape.h"
#include "simulator/program/tiling.h"

namespace toroid {

// [N, 1] or [1, N] of more than one tile's lanes.
bool IsColumn(const Shape& shape, const Tiling& tiling);
// Such a value that is cut from a table or made elementwise of what is.
bool IsCutColumn(const Instruction& value, const Tiling& tiling);
// From [N, 1] or [1, N], which is cut from a table or made elementwise of what is, to [N].
bool IsColumnToVector(const Instruction& op, const Tiling& tiling);
// From [N] to [N, 1] or [1, N].
bool IsVectorToColumn(const Instruction& op, const Tiling& tiling);

}  // namespace toroid
