// Which devices run a computation, and what they agree on, wherever they are.
#ifndef TOROID_RUNTIME_MESH_ACTIVE_DEVICES_H_
#define TOROID_RUNTIME_MESH_ACTIVE_DEVICES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/mesh/mesh_context.h"

namespace toroid {

// The mesh of the devices at some places of another, ascending.
struct SubMesh {
  SubMesh(const MeshContext& mesh, absl::Span<const int64_t> places);
  SubMesh(const SubMesh&) = delete;
  SubMesh& operator=(const SubMesh&) = delete;

  std::vector<int64_t> devices;
  std::vector<int64_t> rows;  // Of the outer mesh, of those that are here.
  MeshContext context;
};

// The first place of each rank's active devices, by rank, and their number.
std::vector<int64_t> FirstPlaces(const MeshContext& mesh);

// `bytes` bytes of every active device, in order of places, of which `rows` has those here: `rows` itself where all
// are here, else in `storage`. Every rank asks. Errors: those of the transport.
absl::StatusOr<const char*> EveryRow(const MeshContext& mesh, const char* rows, int64_t bytes,
                                     std::vector<char>* storage);

// Rows `bytes` long are equal.
bool RowsAgree(const char* rows, int64_t count, int64_t bytes);

}  // namespace toroid

#endif  // TOROID_RUNTIME_MESH_ACTIVE_DEVICES_H_
