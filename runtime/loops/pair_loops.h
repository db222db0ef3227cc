// Two cheap ops on f32 as one loop: out[i] = (a[i] first b[i]) second c[i]. The value between them stays in a register.
#pragma once

#include <cstdint>
#include <optional>

#include "hlo/opcode.h"
#include "runtime/loops/per_level.h"

namespace toroid {

// Ops of a pair. kFrom: subtraction with its operands exchanged.
enum class PairOp : uint8_t { kAdd, kSubtract, kFrom, kMultiply, kMaximum, kMinimum };
inline constexpr int kPairOps = 6;

// nullopt for opcodes that are in no pair.
inline std::optional<PairOp> PairOpOf(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAdd:
      return PairOp::kAdd;
    case Opcode::kSubtract:
      return PairOp::kSubtract;
    case Opcode::kMultiply:
      return PairOp::kMultiply;
    case Opcode::kMaximum:
      return PairOp::kMaximum;
    case Opcode::kMinimum:
      return PairOp::kMinimum;
    default:
      return std::nullopt;
  }
}

// The op with its operands exchanged; nullopt if that changes bits (which zero, or which NaN, a maximum gives).
inline std::optional<PairOp> Exchanged(PairOp op) {
  switch (op) {
    case PairOp::kAdd:
    case PairOp::kMultiply:
      return op;
    case PairOp::kSubtract:
      return PairOp::kFrom;
    case PairOp::kFrom:
      return PairOp::kSubtract;
    default:
      return std::nullopt;
  }
}

// b, or c, may be a single value that is used for all n elements. `out` may be a, b or c. The result has the bits of the two ops
// one after the other.
using PairLoop = void (*)(const float* a, const float* b, const float* c, float* out, int64_t n);
TOROID_PER_LEVEL(FindPairLoop, PairLoop(PairOp first, PairOp second, bool one_b, bool one_c));

}  // namespace toroid
