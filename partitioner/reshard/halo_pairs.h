// Which tiles send in one permute of a halo exchange, without going through all of them.
//
// Places that lie a period apart stand alike: their windows begin at the same row of their origin tiles, which are a fixed number
// of tiles apart. So the receivers of a hop are, of each place of the first period, an interval of those that stand like it,
// whose ends are found by bisection: existing rows end at both sides, and where cuts drift apart, the source tile leaves the window.
//
// Example: x[0:4096] of f32[8192] over 2,048: windows of 2 rows begin at 2 i in tiles of 4. The period is 2: even places take
// rows 0 and 1 of tile i / 2, the line of 1,024 pairs (j, 2 j).
#ifndef TOROID_PARTITIONER_RESHARD_HALO_PAIRS_H_
#define TOROID_PARTITIONER_RESHARD_HALO_PAIRS_H_

#include "hlo/proto/hlo.pb.h"
#include "partitioner/reshard/halo_plan.h"

namespace toroid {

// Adds the lines of `hop`, which belongs to lane number `lane`, to a pattern whose places are those of the step.
void AddHopLines(const HaloStep& step, int64_t lane, const HaloStep::Hop& hop, xla::PermutePattern* pattern);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_RESHARD_HALO_PAIRS_H_
