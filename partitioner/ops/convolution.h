// `convolution`: batch passes through, features contract as in a dot; group counts split a dimension into (group,
// rest). A spatial dimension is one factor of image and output; the window (kernel spatial) is never cut.
//
// On a cut spatial dimension a halo exchange fetches the rows that the windows of a tile read (window_base.h), and the
// op runs without padding.
#ifndef TOROID_PARTITIONER_OPS_CONVOLUTION_H_
#define TOROID_PARTITIONER_OPS_CONVOLUTION_H_

#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

ShardingRule ConvolutionShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionConvolution(OpContext& context);
std::vector<OperandWindows> ReadsOfConvolution(const Instruction& op, int dim, int64_t tiles);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_CONVOLUTION_H_
