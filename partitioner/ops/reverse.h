// `reverse`: tiles change places with their mirror images, in all cut dimensions by one permute, each is reversed, and along
// dimensions whose last tile is short the rows move up by what it lacks.
//
// Tile i of s rows reads, of the reversed tiles, [i s + s tiles - n, .. + s).
#ifndef TOROID_PARTITIONER_OPS_REVERSE_H_
#define TOROID_PARTITIONER_OPS_REVERSE_H_

#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

ShardingRule ReverseShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionReverse(OpContext& context);
std::vector<OperandWindows> ReadsOfReverse(const Instruction& op, int dim, int64_t tiles);

// The tiles themselves, besides what `halo` bytes the exchange above sends.
int64_t BytesSentByReverse(const Instruction& op, int dim, int64_t tiles,
                           absl::Span<const double> operand_bytes, int64_t halo);

// The local rows of dimension `d`, of n rows cut over `axes`, in reverse order.
Instruction* ReverseCut(SpmdBuilder& b, Instruction* x, int d, int64_t n, const AxisList& axes);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_REVERSE_H_
