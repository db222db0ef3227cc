// The plan of a halo exchange: which tile takes which rows from which other tile; see halo_exchange.h.
//
// A dimension of n rows is cut into tiles of s rows. Tile i of the wanted cut, also called place i, reads the
// window [start_i, start_i + length) of rows, where start_i = floor((scale i + shift) / divisor). Two schemes
// bring the rows:
//
//   by distance  One collective-permute for each difference between the numbers of source and target tile.
//                These are few if windows and tiles advance by the same number of rows (scale = s divisor, as
//                in convolutions), and many otherwise.
//   by rank      One collective-permute for each pair (k, c): the window that is the c-th to begin in its
//                source tile takes rows of the k-th source tile that it touches. Their number is that of the
//                tiles a window touches, times that of the windows that begin in one tile; it does not grow
//                with the number of tiles.
//
// If windows span many tiles, some minor axes of the cut may be all-gathered first, which makes the tiles
// larger. If many windows begin in one tile, earlier exchanges may make the tiles smaller. The cheapest plan
// wins: its cost is the time to send the rows, plus the cost model's delay for the number of permutes.
// Planning time does not grow with the number of tiles: if more than kCounted places read any row, the rows
// of a hop are bounded by arithmetic instead of counted.
//
// Example: f32[8] padded by 2 at its begin, over 2 tiles: s = 4, start = {-2, 3}, length 5. Tile 1 takes row
// 3 from tile 0.
// Example: x[0:4096] of f32[8192] over 2,048 tiles: s = 4, start_i = 2 i. The windows of places 2 j and 2 j +
// 1 begin in tile j: two permutes of two rows by rank; by distance it would be 1,024 permutes.
// BUILD: srcs += "halo_pairs.cc"
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/base/math.h"
#include "hlo/cost/cost_model.h"
#include "hlo/devices/mesh.h"
#include "hlo/proto/hlo.pb.h"

namespace toroid {

struct TileWindows {
  int64_t scale = 1;  // > 0
  int64_t shift = 0;
  int64_t length = 0;
  int64_t divisor = 1;
  int64_t first = 0;  // No window needs rows before this one.
  // If not 0: all windows have room for `length` rows, but window i needs only those before
  // floor((scale i + shift + reach) / divisor). 0: all windows need `length` rows.
  int64_t reach = 0;
  int64_t Start(int64_t tile) const { return FloorOfRatio(scale * tile + shift, divisor); }
  int64_t End(int64_t tile) const {
    return reach == 0 ? Start(tile) + length : FloorOfRatio(scale * tile + shift + reach, divisor);
  }
};

// One exchange, whose permutes are independent of each other.
struct HaloStep {
  struct Hop {
    int64_t distance = 0;    // Source tile - origin tile.
    int64_t lo = 0, hi = 0;  // Rows [lo, hi) of the source tile travel.
    bool stays = false;      // Every receiver holds the source tile itself.
  };
  // The windows that begin at rows lo to hi, inclusive, of their origin tiles, counted from its first row.
  struct Lane {
    int64_t lo = 0, hi = 0;
    std::vector<Hop> hops;  // By ascending distance; empty if no window contains existing rows.
  };

  int64_t rows = 0;    // Rows of the dimension, up to the last row that a window needs.
  int64_t tile = 0;    // Rows of a source tile.
  int64_t places = 1;  // Tiles of the wanted cut.
  int64_t share = 1;   // Places that hold the same source tile.
  TileWindows windows;
  bool by_rank = false;
  std::vector<Lane> lanes;  // One if by distance; lane c holds the windows of rank c if by rank.

  // The source tile from which distances count. By distance: the tile that the place holds. By rank: the tile
  // in which its window begins.
  int64_t Origin(int64_t place) const {
    return by_rank ? FloorOfRatio(windows.scale * place + windows.shift, windows.divisor * tile)
                   : place / share;
  }
  // The first row of the window of `place`, counted from the first row of its origin tile.
  int64_t Offset(int64_t place) const { return windows.Start(place) - Origin(place) * tile; }
  int64_t LaneOf(int64_t place) const;
  // The place that sends rows of `source_tile` to `place`.
  int64_t Source(int64_t place, int64_t source_tile) const { return source_tile * share + place % share; }
};

struct HaloPlan {
  int gathered = 0;             // The number of minor axes of the source's cut that are all-gathered first.
  std::vector<HaloStep> steps;  // In order, each on the result of the one before.
  int64_t sent_rows = 0;        // Upper bound on the rows that one device sends.
  int64_t permutes = 0;
};

// `from` cuts a dimension into tiles of `tile` rows; `to` is the wanted cut. One of the lists is a prefix of
// the other.
struct HaloProblem {
  int64_t n = 0;  // The rows of the dimension; fewer if no window needs rows from there on.
  int64_t tile = 0;
  AxisList from, to;
  TileWindows windows;
  int64_t row_bytes = 0;  // Local bytes of one row, to weigh rows against permutes.
};

HaloPlan PlanHalo(const Mesh& mesh, const CostModel& cost, const HaloProblem& problem);

// The windows that are the tiles of n rows cut into `tiles` tiles: fetching them realigns another cut.
TileWindows RealignWindows(int64_t n, int64_t tiles);

// Adds the lines of `hop`, a hop of lane number `lane`, to a pattern whose places are those of the step.
void AddHopLines(const HaloStep& step, int64_t lane, const HaloStep::Hop& hop, xla::PermutePattern* pattern);

}  // namespace toroid
