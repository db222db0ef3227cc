// The same program with chains of bf16 arithmetic kept in f32, as XLA computes them unless told otherwise
// (xla_allow_excess_precision).
//
//   b = bf16[4] convert(x)                 b, c and d run in f32; only where another op than these reads a value,
//   c = bf16[4] add(b, b)           =>     or the computation ends, is it rounded to bf16
//   d = bf16[4] multiply(c, c)
//   ROOT t = (bf16[4]) tuple(d)
//
// Chains are elementwise ops, conversions between bf16 and f32, dots, convolutions and reductions by
// elementwise reducers.
#ifndef TOROID_RUNTIME_NUMERICS_FLOAT_CHAINS_H_
#define TOROID_RUNTIME_NUMERICS_FLOAT_CHAINS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Some instruction has an array of bf16.
bool HasBf16(const Module& module);

// Shares arenas with `module`. Parameters and result keep their types; shardings and the record of a
// partitioning stay.
absl::StatusOr<std::unique_ptr<Module>> KeepChainsInF32(const Module& module);

}  // namespace toroid

#endif  // TOROID_RUNTIME_NUMERICS_FLOAT_CHAINS_H_
