// `convolution`: batch passes through, features contract as in a dot; group counts split a dimension into (group,
// rest), and groups may be cut: a device then has some of them. Of a spatial dimension either output or window is one
// factor with that of the image, the one that has more rows and reaches further along the image (their product decides);
// the other one is never cut.
//
// - Output cut: a tile fetches the rows that its windows read (window_base.h), and the op runs without padding.
// - Window cut (the gradient by a kernel: the window is the other image): the op
//   contracts over it as over features. A tile has t of the window's rows, fetches the image's rows that these meet in
//   all outputs, and gives a term of the sum.
//
// Example: image f32[32], window f32[32] padded by 1, output f32[3], over 4: tile i meets rows [8 i - 1, 8 i + 9): one
// from either neighbour, and the output is partial.
// Example: image f32[224], window f32[16], strides of 16, output f32[14], over 2: outputs reach over 13 * 16 rows, the window
// over 15. The output is cut, and a tile of 7 reads its own 112 rows.
//
// A window's rows that fill up a short last tile are zeros, which meet rows of the image: an infinity there would make
// NaN of them, so if the image is seen to hold one, the window is cut evenly or not at all.
#ifndef TOROID_PARTITIONER_OPS_CONVOLUTION_H_
#define TOROID_PARTITIONER_OPS_CONVOLUTION_H_

#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

ShardingRule ConvolutionShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionConvolution(OpContext& context);
std::vector<OperandWindows> ReadsOfConvolution(const Instruction& op, int factor, int64_t tiles);

// A cut window that is applied in reverse is reversed first.
int64_t BytesSentByConvolution(const Instruction& op, int factor, int64_t tiles,
                               absl::Span<const double> operand_bytes, int64_t halo);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_CONVOLUTION_H_
