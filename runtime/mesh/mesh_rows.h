// Rows of mesh buffers: taken out for some devices, and put back.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/mesh/mesh_buffer.h"
#include "runtime/mesh/mesh_context.h"

namespace toroid {

// The rows at these positions of a buffer (of each element of a tuple); uniform arrays stay uniform. `copies`
// is the number of rows of `buffer`. Errors: kResourceExhausted.
absl::Status GatherRows(const MeshBuffer& buffer, int64_t copies, absl::Span<const int64_t> positions,
                        MeshBuffer* result);

// Whether uniform arrays may stay uniform when rows are merged. Where ranks share the devices they may not:
// all ranks must agree on which arrays are uniform, and a merge sees only the rows of its own rank.
enum class Uniformity { kKept, kDropped };
inline Uniformity KeepUniform(const MeshContext& mesh) {
  return mesh.shared() ? Uniformity::kDropped : Uniformity::kKept;
}

// Overwrites the rows at `positions` of `target`, which has `copies` rows, by the rows of `source`. An array
// that is uniform in both and holds the same bytes stays uniform, if `uniformity` allows it; an empty target
// becomes an array whose other rows are zero. Errors: kResourceExhausted.
absl::Status MergeRows(const MeshBuffer& source, absl::Span<const int64_t> positions, int64_t copies,
                       MeshBuffer* target, Uniformity uniformity = Uniformity::kKept);

// Gives every array of the buffer one row per device.
// Errors: kResourceExhausted.
absl::Status SpreadRows(int64_t copies, MeshBuffer* buffer);

// Marks the bytes of an array as uniform or not; copies them first if another handle shares the storage.
// Errors: kResourceExhausted.
absl::Status MarkRows(bool uniform, MeshBuffer* buffer);

}  // namespace toroid
