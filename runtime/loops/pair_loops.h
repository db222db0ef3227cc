// Cheap ops as one loop: the values between them stay in registers.
//
// Pairs on f32: out[i] = (a[i] first b[i]) second c[i].
#pragma once

#include <cstdint>
#include <optional>

#include "hlo/opcode.h"
#include "runtime/loops/element_widths.h"
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
// Four loops: by 2 * (b is a single value) + (c is one).
TOROID_PER_LEVEL(FindPairLoops, const PairLoop*(PairOp first, PairOp second));

// out[i] = ((a[i] << left[i]) | (a[i] >> right[i])) ^ d[i]: rotations, as random numbers are made of. Without d if it is null. What
// is shifted by all bits or more is 0. `out` may be the memory of any operand of stride 1.
using TurnLoop = void (*)(Elements<void> a, Elements<void> left, Elements<void> right, Elements<void> d,
                          void* out, int64_t n);
// For integers of 4 and 8 bytes; null for others.
TOROID_PER_LEVEL(FindTurnLoop, TurnLoop(int64_t width));

}  // namespace toroid
