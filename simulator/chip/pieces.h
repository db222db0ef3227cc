// Pieces of arrays: what is read of them for slices, pads and concatenations.
//
// The array that is put together or cut passes through on-chip memory in windows. For each window each piece is read in whole
// tiles, from the beginning of the window (even if that lies before the piece) to the end of the piece or window. A piece of a
// single tile is read at once. Windows cut the outermost dimension. If pieces lie one behind the other along that dimension,
// each is read for all windows that begin before its end; if along rows, for all windows. Pieces that do not begin at a tile
// take one tile more. Example: f32[128,64,824] stands from lane 200 on in f32[128,64,1024]: of the lanes -200 to 823 that
// windows of 1,024 take tiles -2 to 6 are read, nine, not the seven that it has.
// Seen in Google's compiler for TPU v3.
#pragma once

#include <vector>

#include "hlo/ir/module.h"
#include "simulator/chip/matrix_work.h"
#include "simulator/machines/core.pb.h"
#include "simulator/program/tiling.h"

namespace toroid {

// A slice, pad or concatenation that takes elements from where they stand, one beside the other.
bool IsMove(const Instruction& op);

// Elements `begin` to `limit` of an array, as part of something larger or smaller (the result of a concatenation, pad or slice)
// that begins at element `at` of the array, which may be negative, and has `extent` elements.
struct Piece {
  const Instruction* array;
  Dims at, extent, begin, limit;
  bool is_joined = false;  // A piece of a concatenation.
};

// Bytes that are read of a whole array: those of its tiles. A column of a table is read with all rows of its tiles
// (column_in_rows).
double BytesOfArray(const Shape& shape, const Tiling& tiling);
// What is read of a piece for something of the shape `whole`.
double BytesOfPiece(const Piece& piece, const Shape& whole, const CoreSpec& core);
double BytesOfSlice(const Instruction& slice, const CoreSpec& core);
// Bytes that a pad or concatenation reads in addition to those of its operands.
double BytesBesideOperands(const Instruction& op, const CoreSpec& core);

// By index: values that are read to be spread over more dimensions, and for nothing else.
std::vector<bool> OnlySpread(const Computation& inside);

// For operand `side` of a product, if it is a concatenation in the product's group; bytes are 0 if not.
JoinedOperand JoinedOperandOf(const Instruction& dot, int side, const Tiling& tiling);

}  // namespace toroid
