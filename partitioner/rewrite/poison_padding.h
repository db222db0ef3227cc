// A test aid that fills all padding with garbage.
#pragma once

#include "partitioner/spmd/local_value_hook.h"

namespace toroid {

// A LocalValueHook: writes NaN (for integers the largest value, for booleans true) beyond the valid part of
// every uneven shard. The results of a correct partitioned program do not change.
// Example: f32[5] over 4 devices has tiles of 2: device 2 holds [x[4], NaN], device 3 [NaN, NaN].
Instruction* PoisonPadding(SpmdBuilder& b, Instruction* local, absl::Span<const int64_t> dims,
                           const Sharding& sharding);

}  // namespace toroid
