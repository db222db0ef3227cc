// The pairs of one permute of a halo exchange, as a pattern; the time to find it does not grow with the
// number of tiles.
//
// The windows of places that are a period apart begin at the same row of their origin tiles, and these are a
// fixed number of tiles apart. Take the places first, first + period, first + 2 period, ...: the receivers of
// a hop among them form an interval, because the array ends on both sides and, if windows and tiles advance
// differently, the source tile leaves the window. Bisection finds the ends of the interval; each `first` of
// one period gives one line of the pattern.
//
// Example: x[0:4096] of f32[8192] over 2,048 tiles: tiles have 4 rows, windows have 2 and begin at row 2 i.
// The period is 2: even places i take rows 0 and 1 of tile i / 2, a line of 1,024 pairs (j, 2 j).
#pragma once

#include "hlo/proto/hlo.pb.h"
#include "partitioner/reshard/halo_plan.h"

namespace toroid {

// Adds the lines of `hop`, a hop of lane number `lane`, to a pattern whose places are those of the step.
void AddHopLines(const HaloStep& step, int64_t lane, const HaloStep::Hop& hop, xla::PermutePattern* pattern);

}  // namespace toroid
