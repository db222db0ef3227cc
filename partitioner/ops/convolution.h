// `convolution`: the batch passes through, input features are contracted as in a dot. A group count splits a
// dimension into (group, rest); if groups are cut, each device computes some of the groups. In each spatial
// dimension the image shares its factor with either the output or the window: the one with the larger product
// of rows and reach along the image. The other one is never cut.
//
// - Output cut: a tile fetches the image rows that its windows read (window_base.h), and the op runs without
//   padding.
// - Window cut (in the gradient by the kernel, whose window is as large as an image): the op contracts over
//   the window as over features. A tile has t of the window's rows, fetches the image rows that they meet in
//   all outputs, and computes a partial sum.
//
// Example: image f32[32], window f32[32] padded by 1, output f32[3], over 4. The window is cut: tile i meets
//          image rows [8 i - 1, 8 i + 9), one from either neighbour, and the output is partial.
// Example: image f32[224], window f32[16], strides of 16, output f32[14], over 2. Outputs reach over 13 * 16
//          rows, the window over 15. The output is cut, and a tile of 7 outputs reads its own 112 image rows.
//
// A short last tile of the window is filled up with zeros, which are multiplied with image rows. 0 x infinity
// is NaN, so if the image is visibly non-finite (finite.h), the window is cut evenly or not at all.
#pragma once

#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

ShardingRule ConvolutionShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionConvolution(OpContext& context);
std::vector<OperandWindows> ReadsOfConvolution(const Instruction& op, int factor, int64_t tiles);

}  // namespace toroid
