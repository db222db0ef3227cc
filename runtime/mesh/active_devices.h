// The devices that run a computation, and what they agree on across ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/mesh/mesh_context.h"

namespace toroid {

// The mesh of the devices at `places` of another mesh; places ascend.
struct SubMesh {
  SubMesh(const MeshContext& mesh, absl::Span<const int64_t> places);
  SubMesh(const SubMesh&) = delete;
  SubMesh& operator=(const SubMesh&) = delete;

  std::vector<int64_t> devices;
  std::vector<int64_t> rows;  // Rows of the outer mesh that hold the devices of this rank.
  MeshContext context;
};

// For each rank the first place of its active devices; last, the number of active devices.
std::vector<int64_t> FirstPlaces(const MeshContext& mesh);

// `bytes` bytes of every active device, in order of places. `rows` holds those of this rank's devices; the
// result is `rows` itself if all devices are here, else `storage`. Every rank must call. Errors: those of the
// transport.
absl::StatusOr<const char*> EveryRow(const MeshContext& mesh, const char* rows, int64_t bytes,
                                     std::vector<char>* storage);

// Whether all rows, `bytes` long each, are equal.
bool RowsAgree(const char* rows, int64_t count, int64_t bytes);

}  // namespace toroid
