// The plan of a halo exchange: which tile takes which rows from which other tile; see halo_exchange.h.
//
// A dimension of n rows lies in tiles of s rows. Tile i of the wanted cut reads rows [start_i, start_i +
// length), where start_i = floor((scale i + shift) / divisor). Two schemes fetch them:
//
//   by distance  one collective-permute for each difference between the numbers of source and target tile. Few where
//                both cuts advance alike (scale = s divisor: convolutions), many where they drift apart.
//   by rank      one for each k and c: a tile takes the k-th of the source tiles that its window touches, and is the
//                c-th of those that begin in one source tile. As many as a window touches tiles, times the windows
//                that begin in one, however many tiles there are.
//
// Windows over many tiles first gather some minor axes of the cut, so that the tiles are larger; where many
// windows begin in one tile, a first exchange may make the tiles smaller. The cheapest plan wins: rows sent, and
// a charge for each permute beyond a few. Planning takes time independent of the number of tiles: beyond
// kCounted of them the rows of a hop are bounded by arithmetic instead of being counted.
//
// Example: f32[8] padded by 2 at its begin, over 2: s = 4, start = {-2, 3}, length 5. Tile 1 takes row 3 from
// tile 0.
// Example: x[0:4096] of f32[8192] over 2048: s = 4, start_i = 2 i. Tiles 2 j and 2 j + 1 begin in tile j: two
// permutes of two rows by rank; by distance it would be 1,024.
#ifndef TOROID_PARTITIONER_RESHARD_HALO_PLAN_H_
#define TOROID_PARTITIONER_RESHARD_HALO_PLAN_H_

#include <cstdint>
#include <vector>

#include "hlo/base/math.h"
#include "hlo/cost/cost_model.h"
#include "hlo/ir/mesh.h"

namespace toroid {

struct TileWindows {
  int64_t scale = 1;  // > 0
  int64_t shift = 0;
  int64_t length = 0;
  int64_t divisor = 1;
  int64_t first = 0;  // Rows before it are nobody's.
  // Where all windows have room for `length` rows but some take fewer, those before (scale i + shift + reach) / divisor.
  // 0: all take `length`.
  int64_t reach = 0;
  int64_t Start(int64_t tile) const { return FloorOfRatio(scale * tile + shift, divisor); }
  int64_t End(int64_t tile) const {
    return reach == 0 ? Start(tile) + length : FloorOfRatio(scale * tile + shift + reach, divisor);
  }
};

// One exchange: all its permutes are independent of each other.
struct HaloStep {
  struct Hop {
    int64_t distance = 0;    // Source tile - origin tile.
    int64_t lo = 0, hi = 0;  // Rows of the source tile that travel.
    bool stays = false;      // Every receiver has the rows itself.
  };
  // Windows that begin at rows [lo, hi] of their origin tile, counted from its first row.
  struct Lane {
    int64_t lo = 0, hi = 0;
    std::vector<Hop> hops;  // By distance, ascending; none: no window reads anything.
  };

  int64_t rows = 0;    // Of the dimension.
  int64_t tile = 0;    // Rows of a source tile.
  int64_t places = 1;  // Tiles of the wanted cut, `share` of which lie in each source tile.
  int64_t share = 1;
  TileWindows windows;
  bool by_rank = false;
  std::vector<Lane> lanes;  // By distance: one. By rank: lane c for rank c.

  // From where distances count. By distance: the tile that the place holds; by rank: where its window begins.
  int64_t Origin(int64_t place) const {
    return by_rank ? FloorOfRatio(windows.scale * place + windows.shift, windows.divisor * tile)
                   : place / share;
  }
  // Where a window begins, counted from the first row of its origin tile.
  int64_t Offset(int64_t place) const { return windows.Start(place) - Origin(place) * tile; }
  int64_t LaneOf(int64_t place) const;
  // The place that sends a tile to `place`.
  int64_t Source(int64_t place, int64_t source_tile) const { return source_tile * share + place % share; }
};

struct HaloPlan {
  int gathered = 0;             // Minor axes of the source's cut that are gathered first.
  std::vector<HaloStep> steps;  // None: the rows are there.
  int64_t sent_rows = 0;        // Per device, at most.
  int64_t permutes = 0;
};

// The rows that an exchange brings: `from` cuts the dimension of n rows into tiles of `tile` rows, `to` is the wanted cut;
// one is a prefix of the other.
struct HaloProblem {
  int64_t n = 0;  // Or fewer, if rows from there on are nobody's.
  int64_t tile = 0;
  AxisList from, to;
  TileWindows windows;
  int64_t row_bytes = 0;  // Local, of one row: to weigh rows against permutes.
};

HaloPlan PlanHalo(const Mesh& mesh, const CostModel& cost, const HaloProblem& problem);

// The windows that turn another cut of n rows into the one over `tiles`.
TileWindows RealignWindows(int64_t n, int64_t tiles);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_RESHARD_HALO_PLAN_H_
