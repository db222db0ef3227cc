// Where the elements of an array lie in memory under the tiles of its layout.
//
// A tile of k sizes regroups the last k dimensions, in memory order: first the numbers of tiles, then the positions in a
// tile. If a tile size does not divide its dimension, the last tile is padded: f32[10,130]{1,0:T(8,128)} lies as
// f32[2,2,8,128] in 4096 places, 1300 of them used. The index of a dimension therefore has digits, each with a stride in
// places. In the example, row i has the digits i / 8 (stride 2048) and i % 8 (128); column j has j / 128 (1024) and
// j % 128 (1). Places with i >= 10 or j >= 130 are padding.
// Source: XLA, docs/tiled_layout.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/ir/shape.h"

namespace toroid {

// The digits of an index, major to minor. Every digit after the first takes all values below its count; the first takes
// as many as `count` needs.
struct PlacedIndex {
  struct Digit {
    int64_t stride, count;
    bool operator==(const Digit& other) const { return stride == other.stride && count == other.count; }
  };

  int64_t count = 1;  // The index is below.
  std::vector<Digit> digits;

  bool operator==(const PlacedIndex& other) const { return count == other.count && digits == other.digits; }
};

struct TiledPlaces {
  std::vector<PlacedIndex> dims;
  int64_t size = 1;  // All places, the unused too.
};

// nullopt for dynamic dimensions, tiles that merge dimensions ('*'), tiles that do not divide the tile around
// them, and 2^63 places or more.
std::optional<TiledPlaces> PlacesOf(const Shape& array);

// The dimensions split into indices that are independent of each other, major to minor, none of one element. Each has one
// digit, or several that its count ties together: of f32[20,100]{1,0:T(8,128)}, i / 4 < 5 with digits {1024, 3} and {512, 2},
// then i % 4, then j. Arrays of the same places have the same of several digits. Requires an array with elements.
std::vector<PlacedIndex> IndependentIndices(const std::vector<PlacedIndex>& indices);

}  // namespace toroid
