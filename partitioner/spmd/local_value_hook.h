// Where others may look into rewriting, or change what it makes.
#ifndef TOROID_PARTITIONER_SPMD_LOCAL_VALUE_HOOK_H_
#define TOROID_PARTITIONER_SPMD_LOCAL_VALUE_HOOK_H_

#include <cstdint>
#include <functional>

#include "absl/types/span.h"

namespace toroid {

class Instruction;
class SpmdBuilder;
struct Sharding;

// Called with every array of a device that did not lie there before: entry parameters, results of ops, values resharded
// to another sharding or rematerialized in it. Uneven shards get padding there and nowhere else.
// `local` is the part under `sharding` of an array of global dimensions `dims`; what is returned, of its shape, takes
// its place. The hook adds instructions with `b`.
using LocalValueHook = std::function<Instruction*(SpmdBuilder& b, Instruction* local,
                                                  absl::Span<const int64_t> dims, const Sharding& sharding)>;

}  // namespace toroid

#endif  // TOROID_PARTITIONER_SPMD_LOCAL_VALUE_HOOK_H_
