// `fft`: dimensions in front of the transformed ones are a batch. Transformed dimensions may be cut too. The
// local program transforms one dimension after the other; for a cut one it chooses the scheme that sends
// fewer bytes:
//
//   lines      An all-to-all gives each of s devices whole lines of n elements, and a second one returns the
//              tiles of the result. A device sends 2 (s - 1) / s tiles, if padding the number of lines to a
//              multiple of s adds few.
//   four steps For few lines. n = s m; with i = i1 m + i2, k = k1 + s k2,
//                X[k] = sum over i2 of W_m^(i2 k2) W_n^(i2 k1) (sum over i1 of W_s^(i1 k1) x[i])
//              by an all-to-all before the inner sums, one between the sums, and one after them. A device
//              sends 3 (s - 1) / s tiles. Requires that s^2 divides n; not for IRFFT.
//
// Assignments compare these bytes with those of gathering, and of moving the cut to the batch, where it can
// stay from one transform to the next. So no sharding flows along transformed dimensions.
// Example: c64[1048576] over 8: 3 all-to-alls of a tile of 1 MiB, 2.75 MB; gathering sends 7.3 MB.
// Uneven: lines are padded to a multiple of s, and the results of padding lines are dropped; padding within a
//          line is sliced off before the transform.
// Source: D. H. Bailey, FFTs in external or hierarchical memory (1990), for the four steps.
#pragma once

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule FftShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionFft(OpContext& context);
}  // namespace toroid
