// Rows of mesh buffers: taking those of some devices out and putting them back.
#ifndef TOROID_RUNTIME_MESH_MESH_ROWS_H_
#define TOROID_RUNTIME_MESH_MESH_ROWS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/mesh/mesh_buffer.h"
#include "runtime/mesh/mesh_context.h"

namespace toroid {

// The rows at these positions of a buffer (of each element of a tuple); uniform arrays stay as they are.
// `copies` is the number of rows of `buffer`. Errors: kResourceExhausted.
absl::Status GatherRows(const MeshBuffer& buffer, int64_t copies, absl::Span<const int64_t> positions,
                        MeshBuffer* result);

// Whether arrays that are uniform may stay so when rows are merged. Where ranks share the devices they may not: which
// arrays are uniform must not depend on rows that one rank alone sees.
enum class Uniformity { kKept, kDropped };
inline Uniformity KeepUniform(const MeshContext& mesh) {
  return mesh.shared() ? Uniformity::kDropped : Uniformity::kKept;
}

// Overwrites the rows at `positions` of `target`, which has `copies` rows, by those of `source`. Arrays that
// are uniform in both and hold the same bytes stay uniform, if they may; an empty target becomes an array with the
// other rows zero. Errors: kResourceExhausted.
absl::Status MergeRows(const MeshBuffer& source, absl::Span<const int64_t> positions, int64_t copies,
                       MeshBuffer* target, Uniformity uniformity = Uniformity::kKept);

// Gives every array of the buffer one row per device.
// Errors: kResourceExhausted.
absl::Status SpreadRows(int64_t copies, MeshBuffer* buffer);

// Declares the bytes of an array to be uniform or not; copies them first if another handle sees the storage.
// Errors: kResourceExhausted.
absl::Status MarkRows(bool uniform, MeshBuffer* buffer);

}  // namespace toroid

#endif  // TOROID_RUNTIME_MESH_MESH_ROWS_H_
