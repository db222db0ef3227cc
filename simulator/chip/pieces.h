// Pieces of arrays: what is read of them for slices, pads and concatenations.
//
// Windows pass of what is put together or cut, and each piece of it is read in whole tiles, from where the window begins, even if that
// is before the piece, to where it or the window ends; a piece of one tile at once. Along the outermost dimension, that windows cut, a piece
// of a concatenation is read for all windows before its end, along rows for all; and one tile more where they do not begin with one.
// Example: f32[128,64,824] stands from lane 200 on in f32[128,64,1024]: of the lanes -200 to 823 that windows of 1,024 take tiles -2 to 6
// are read, nine, not the seven that it has.
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

// From `begin` to `limit` of an array, which stand in something larger or smaller, that goes from `at` of the array on.
struct Piece {
  const Instruction* array;
  Dims at, extent, begin, limit;
  bool is_joined = false;  // Others stand before or behind it.
};

// Of an array; a column takes tiles of a few rows.
double BytesOfArray(const Shape& shape, const Tiling& tiling);
// What is read of a piece for something of the shape `whole`.
double BytesOfPiece(const Piece& piece, const Shape& whole, const CoreSpec& core);
double BytesOfSlice(const Instruction& slice, const CoreSpec& core);
// Of a pad or concatenation, what is read of its operands beside their own bytes.
double BytesBesideOperands(const Instruction& op, const CoreSpec& core);

// By index: values that are read to be spread over more dimensions, and for nothing else.
std::vector<bool> OnlySpread(const Computation& inside);

// Of a product's operand `side` that is put together from arrays in the product's group; bytes 0 for others.
JoinedOperand JoinedOperandOf(const Instruction& dot, int side, const Tiling& tiling);

}  // namespace toroid
