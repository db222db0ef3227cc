// Random numbers.
//
// rng-bit-generator: (new state, bits), a function of the state alone.
//   Threefry-2x32, 20 rounds, state u64[2] = (key, counter). 64-bit element i is block counter + i. For
//   narrower elements the first even dimension, else the largest, is halved (rounded up); block i, row-major
//   over the halved shape, gives the two elements at 2t and 2t + 1 along it.
//   Philox-4x32, 10 rounds, state u64[3] = (key, 128-bit counter) or u64[2]: words of blocks counter, counter
//   + 1, ... The default algorithm is Philox.
// rng: uniform in [a, b) or normal with mean a and deviation b, from Philox with a key that counts the draws
// of the run.
// rng-get-and-update-state: a 128-bit counter of the run.
// The generators, and their source: loops/counter_random.h.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteRngBitGenerator(OpCall& call);
absl::Status ExecuteRng(OpCall& call);
absl::Status ExecuteRngGetAndUpdateState(OpCall& call);

}  // namespace toroid
