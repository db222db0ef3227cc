// A callback that sees, and may replace, every local array that rewriting makes.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/types/span.h"

namespace toroid {

class Instruction;
class SpmdBuilder;
struct Sharding;

// Called with every new local array: entry parameters, results of ops, values resharded to another sharding
// or rematerialized in it. Padding of uneven shards arises in these arrays and nowhere else. `local` is the
// shard, under `sharding`, of an array of global dimensions `dims`. The returned instruction, of the same
// shape, takes its place. The hook adds instructions with `b`.
using LocalValueHook = std::function<Instruction*(SpmdBuilder& b, Instruction* local,
                                                  absl::Span<const int64_t> dims, const Sharding& sharding)>;

}  // namespace toroid
