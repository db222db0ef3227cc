// The partitioner's functions for each family of ops (the family column of hlo/opcode.inc): one row per family in
// op_families.cc, its functions in a source of its own in this folder.
//
// A rule names the factors of every dimension of the op, as an einsum would, and what cutting each means; see
// sharding_rule.h. Rules are written for verified instructions and have no errors.
// Example: f32[8,16] dot f32[16,4]: (m k), (k n) -> (m n), k a reduction, linear in either operand.
#ifndef TOROID_PARTITIONER_OPS_OP_FAMILIES_H_
#define TOROID_PARTITIONER_OPS_OP_FAMILIES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "hlo/cost/cost_model.h"
#include "partitioner/ops/local_program.h"
#include "partitioner/ops/sharding_rule.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

struct OpFamily {
  ShardingRule (*rule)(const Instruction& op);
  // The local program, which can cut permuting and indexed factors. Null: PartitionByRule, which cannot.
  absl::StatusOr<std::vector<Instruction*>> (*program)(OpContext& context) = nullptr;
  // The rows that tiles of a factor read, cut in `tiles`. Null: their own rows. Factor d is dimension d of the result, but of
  // convolutions.
  std::vector<OperandWindows> (*reads)(const Instruction& op, int factor, int64_t tiles) = nullptr;
  // Bytes that one device sends for the local program's own exchanges, of which `halo` for what its tiles read;
  // operand_bytes[k]: local bytes of operand k. Null: these alone.
  int64_t (*sent)(const Instruction& op, int factor, int64_t tiles, absl::Span<const double> operand_bytes,
                  int64_t halo) = nullptr;
  // The value that the local program takes as operand k. Null: the operand itself.
  const Instruction& (*source)(const Instruction& op, int k) = nullptr;
};

// The value of which an op reads operand k: what its local program is given, and what `OperandWindows` speak of.
const Instruction& SourceOf(const Instruction& op, int k);

// The row of an opcode's family; kUnknown: a family whose ops run on replicated arrays.
const OpFamily& FamilyOf(Opcode opcode);

// The rule of an instruction. Opcodes without a rule of their own (rng, ...) get one in which no dimension is cut.
ShardingRule ShardingRuleOf(const Instruction& instruction);

// The local values of the op's result leaves, in the shardings `context.results`.
absl::StatusOr<std::vector<Instruction*>> LocalProgram(OpContext& context);

// True if the local program of `op` can be written with a factor of this kind cut.
bool CanCutLocally(const Instruction& op, FactorKind kind);

// True if local programs of the op's family exchange data by themselves.
bool HasExchanges(const Instruction& op);

// Bytes that one device sends for the op's own exchanges if a factor of its rule is cut over `axes`, and what many small messages cost beyond their bytes. operand_bytes[k]: local bytes of operand k.
struct ExchangeCost {
  int64_t sent_bytes = 0;
  double delay = 0;  // In link bytes (hlo/cost/cost_model.h).
};
ExchangeCost CostOfExchanges(const Instruction& op, const ShardingRule& rule, int factor, const Mesh& mesh,
                             const CostModel& model, const AxisList& axes,
                             absl::Span<const double> operand_bytes);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_OP_FAMILIES_H_
