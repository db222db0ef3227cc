// The operation of StableHLO that computes what an instruction of HLO does, and its attributes.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "hlo/ir/instruction.h"

namespace toroid {

struct StableHloOp {
  std::string name;        // stablehlo.dot_general
  std::string attributes;  // What stands between <{ and }>.
};

// For opcodes that are one operation: not while, conditional, calls, tuples, parameters and transfers.
// Errors: kInvalidArgument for an opcode or an attribute that StableHLO lacks; the message does not name the instruction.
absl::StatusOr<StableHloOp> StableHloOpOf(const Instruction& instruction);

}  // namespace toroid
