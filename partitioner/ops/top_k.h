// `topk`: (b n) -> (b k), (b k): the k largest, or smallest, elements of every line, and their positions.
//
// On a cut line every tile gives its first k, these are gathered, and their first k are those of the line: of n elements
// over g devices k (g - 1) values and positions travel instead of n (g - 1) / g. Of equal elements the first wins, as
// tiles are gathered in order. Tiles of fewer than k elements are gathered as they are.
// Example: the first 8 of f32[4,4096] over 8: 4 lines, 7 x 8 values and positions each, 1,792 bytes.
#ifndef TOROID_PARTITIONER_OPS_TOP_K_H_
#define TOROID_PARTITIONER_OPS_TOP_K_H_

#include "partitioner/ops/local_program.h"

namespace toroid {

// The rule of the op, and of custom calls that do the same.
ShardingRule TopKShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionTopK(OpContext& context);

// The results of the tiles, or the tiles.
int64_t BytesSentByTopK(const Instruction& op, int factor, int64_t tiles,
                        absl::Span<const double> operand_bytes, int64_t halo);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_TOP_K_H_
