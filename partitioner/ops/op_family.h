// What the partitioner knows of a family of ops (the family column of hlo/opcode.inc). Each family has a source file in this
// folder, which ends with its row: `const OpFamily families::kDot = {DotShardingRule};`.
//
// A rule names the factors of every dimension of the op, as an einsum would, and what cutting each means; see
// sharding_rule.h. Rules are written for verified instructions and return no errors.
// Example: f32[8,16] dot f32[16,4]: (m k), (k n) -> (m n), k a reduction, linear in either operand.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "partitioner/ops/local_program.h"
#include "partitioner/ops/sharding_rule.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

struct OpFamily {
  ShardingRule (*rule)(const Instruction& op);
  // The local program, which can cut permuting, exchanged and indexed factors. Null: PartitionByRule, which
  // cannot.
  absl::StatusOr<std::vector<Instruction*>> (*program)(OpContext& context) = nullptr;
  // The operand rows that each tile reads if the factor is cut in `tiles`. Null: a tile's own rows only.
  // Factor d is dimension d of the result, except in convolutions.
  std::vector<OperandWindows> (*reads)(const Instruction& op, int factor, int64_t tiles) = nullptr;
  // The value that the local program reads in place of operand k. Null: the operand itself.
  const Instruction& (*source)(const Instruction& op, int k) = nullptr;
};

namespace families {
#define HLO_OP(enumerator, name, arity, family, attributes, traits) extern const OpFamily k##family;
#include "hlo/opcode.inc"
#undef HLO_OP
extern const OpFamily kUnknown;
}  // namespace families

}  // namespace toroid
