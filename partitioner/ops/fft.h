// `fft`: dimensions in front of the transformed ones are a batch. Transformed ones may be cut too: they are transformed
// one by one, those that are cut in the way that sends least of
//
//   lines      an all-to-all gives each of s devices whole lines of n elements, another one their tiles of the result.
//              Sends 2 (s - 1) / s tiles; the other dimensions together need s lines, or nearly as many
//   four steps n = s m, of few lines: with i = i1 m + i2, k = k1 + s k2,
//                X[k] = sum over i2 of W_m^(i2 k2) W_n^(i2 k1) (sum over i1 of W_s^(i1 k1) x[i])
//              an all-to-all before the inner sums, one between the sums, one behind. Sends 3 (s - 1) / s tiles.
//              Holds for s^2 | n; not IRFFT
//
// Assignments weigh that against gathering, and against moving the cut to the batch, which keeps it from one transform to the
// next: no sharding flows along transformed dimensions.
// Example: c64[1048576] over 8: 3 all-to-alls of a tile of 1 MiB, 2.75 MB; gathering sends 7.3 MB.
// Uneven: lines are completed with what is computed for nobody; padding inside a line is cut off before it is transformed.
// Source: D. H. Bailey, FFTs in external or hierarchical memory (1990), for the four steps.
#ifndef TOROID_PARTITIONER_OPS_FFT_H_
#define TOROID_PARTITIONER_OPS_FFT_H_

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule FftShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionFft(OpContext& context);
int64_t BytesSentByFft(const Instruction& op, int factor, int64_t tiles,
                       absl::Span<const double> operand_bytes, int64_t halo);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_FFT_H_
