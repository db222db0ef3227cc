// Where others may look into rewriting, or change what it makes.
#ifndef TOROID_PARTITIONER_REWRITE_LOCAL_VALUE_HOOK_H_
#define TOROID_PARTITIONER_REWRITE_LOCAL_VALUE_HOOK_H_

#include <functional>

#include "absl/types/span.h"
#include "hlo/ir/mesh.h"
#include "partitioner/spmd/spmd_builder.h"

namespace toroid {

// Called with every array of a device that did not lie there before: entry parameters, results of ops, values brought
// to another sharding or made anew in it. Uneven shards get padding there and nowhere else.
// `local` is the part under `sharding` of an array of global dimensions `dims`; what is returned, of its shape, takes
// its place. The hook adds instructions with `b`.
using LocalValueHook = std::function<Instruction*(SpmdBuilder& b, Instruction* local, absl::Span<const int64_t> dims,
                                                  const Sharding& sharding)>;

}  // namespace toroid

#endif  // TOROID_PARTITIONER_REWRITE_LOCAL_VALUE_HOOK_H_
