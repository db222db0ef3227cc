// How arrays lie in memory: in tiles of sublanes x lanes elements, the last ones padded.
//
// The two minor dimensions of an array, in the order of its layout, are cut into tiles of 8 x 128; where the second-minor
// extent is small the tile is 4 x 128 (extent 3 or 4) or 2 x 128 (at most 2; 4 x 128 for types narrower than 32 bits,
// which pack rows in pairs). Vectors lie in tiles of 1024, or of the power of two from 128 on that holds them.
// Example: f32[2048,64]{1,0} takes 2048 x 128 elements, f32[2048,64]{0,1} 64 x 2048, f32[10] 128.
// Source: XLA's documentation, "Tiled layout"; sizes as Google's compiler prints them for TPU v3: {1,0:T(8,128)}.
#pragma once

#include <cstdint>

#include "hlo/analysis/buffers.h"
#include "hlo/ir/instruction.h"
#include "hlo/ir/shape.h"

namespace toroid {

struct Tiling {
  int64_t sublanes = 8;
  int64_t lanes = 128;
};

// Elements that an array takes, padding included, in the layout of its shape (row-major if it has none); of a tuple the
// sum over its arrays. As double: padding may exceed what int64 holds.
double PaddedElements(const Shape& shape, const Tiling& tiling);
double PaddedBytes(const Shape& shape, const Tiling& tiling);
// Those, for analyses of memory.
ArraySize PaddedSize(const Tiling& tiling);
// The same for a program that has no layouts yet: each array lies in the order of its dimensions that needs the least padding,
// as the compilers of TPUs store them, unless its layout names tiles.
// Example: f32[28672,32,16] takes 59 MB, in row-major order 470 MB.
ArraySize LeastPaddedSize(const Tiling& tiling);

// PaddedElements of an array whose two minor dimensions have these extents, all others together `outer`.
double PaddedElements(double outer, int64_t second_minor, int64_t minor, int64_t element_bytes,
                      const Tiling& tiling);

// Tiles of an array, whatever rows they have: as many vector registers as it fills, in part or whole.
double TilesOf(const Shape& shape, const Tiling& tiling);

// A slice that begins where its operand does and has as many tiles: the same memory, with more of it padding.
bool IsFirstOfTiles(const Instruction& op, const Tiling& tiling);

// A concatenation of so many arrays that each is written to its place by who makes it.
bool IsConcatenatedInPlace(const Instruction& op);

// Rows of a tile of an array with that second-minor extent.
int64_t RowsOfTile(int64_t second_minor, int64_t element_bytes, const Tiling& tiling);

// The order of dimensions, minor to major, that needs the least padding; row-major if that is as good.
// Example: f32[65536,64] gives {0,1}; f32[2048,128,2] gives {1,2,0}, tiles of two rows, as Google's compiler takes arguments.
// With `prefers_whole`, for what it makes itself, {1,0,2}: of orders that pad alike one whose tiles have all their rows.
Dims LeastPaddingOrder(const Shape& shape, const Tiling& tiling, bool prefers_whole = false);

// Gives the shape that order of dimensions.
void SetOrder(const Dims& minor_to_major, Shape* shape);
// With the minor dimension along lanes even if it has one element: f32[128,128,1]{2,1,0:T(8,128)} takes 128 x 128 x 128.
void SetTiled(const Dims& minor_to_major, const Tiling& tiling, Shape* shape);

// The dimensions of more than one element, minor to major: what the others do moves nothing.
Dims PhysicalOrder(const Shape& shape);

// A reshape that leaves data in place: its layouts have the same minor dimension, and rows are merged or split in whole
// tiles; of any rows where one tile holds all lanes. The layouts are such that elements follow each other in the same order.
bool KeepsTiles(const Shape& from, const Shape& to, const Tiling& tiling);
// So would row-major layouts, if these do not: blocks of a cumulative sum are joined as they are copied.
bool KeepsRows(const Shape& from, const Shape& to, const Tiling& tiling);

// A reshape of whole tiles, several of them beside each other, to a vector.
// Example: of f32[512,512] four tiles lie beside each other. Their rows of 128 follow each other in f32[262144], as they do in
// f32[64,8,4,128] with tiles of 4 x 128.
bool JoinsTiles(const Instruction& op, const Tiling& tiling);

}  // namespace toroid
