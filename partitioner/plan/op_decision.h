// How a device computes an op: which axes cut its factors, and which operands it takes as partial sums.
#pragma once

#include <cstdint>

#include "hlo/devices/mesh.h"
#include "partitioner/prepare/prepared_program.h"

namespace toroid {

// Operands that an op takes partial, and the axes and the reducer that they have in common.
struct PartialOperands {
  uint32_t operands = 0;  // Bit i: operand i.
  Sharding partial;       // Only its fields `partial` and `reducer` count.

  bool none() const { return operands == 0; }
  bool Has(size_t operand) const { return operand < 32 && (operands >> operand & 1) != 0; }
  AxisSet axes() const { return none() ? 0 : partial.partial; }
  bool operator==(const PartialOperands& other) const {
    return operands == other.operands &&
           (none() || (partial.partial == other.partial.partial && partial.reducer == other.partial.reducer));
  }
};

struct OpDecision {
  Assignment assignment;
  PartialOperands passed_on;  // Taken unreduced; the result is partial over their axes.

  // The same cuts and partial operands; the figures of the assignment follow from these.
  bool operator==(const OpDecision& other) const {
    return assignment.factor_axes == other.assignment.factor_axes && passed_on == other.passed_on;
  }
};

// The shardings in which an op needs an operand and computes a result, under a decision.
Sharding OperandSharding(const PreparedProgram& program, const FlowOp& op, size_t operand,
                         const OpDecision& decision);
Sharding ResultSharding(const PreparedProgram& program, const FlowOp& op, size_t result,
                        const OpDecision& decision);

// True if the op may take the operands of `partial`, and no others, partial: it is linear in them together,
// under their reducer. Operands that would have to be partial as well may instead be constant zeros, the
// missing terms of a sum.
bool MayPassOn(const Instruction& instruction, const FlowOp& op, const PartialOperands& partial);

// Whether the local program of an op can cut factor `factor` over `axes`.
bool MayCut(const Mesh& mesh, const FlowOp& op, int factor, const AxisList& axes);

// The bytes of a device's shard of a tensor.
int64_t LocalBytes(const PreparedProgram& program, int tensor, const Sharding& sharding);

}  // namespace toroid
