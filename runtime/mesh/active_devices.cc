#include "runtime/mesh/active_devices.h"

#include <algorithm>
#include <cstring>

#include "hlo/base/status.h"
#include "runtime/transport/transport.h"

namespace toroid {

SubMesh::SubMesh(const MeshContext& mesh, absl::Span<const int64_t> places) : context(mesh) {
  devices.reserve(places.size());
  context.first_here = 0;
  for (const int64_t place : places) {
    devices.push_back(mesh.DeviceAt(place));
    if (mesh.IsHere(place)) rows.push_back(place - mesh.first_here);
    context.first_here += place < mesh.first_here;
  }
  context.copies = static_cast<int64_t>(rows.size());
  context.num_active = static_cast<int64_t>(devices.size());
  context.active = &devices;
}

std::vector<int64_t> FirstPlaces(const MeshContext& mesh) {
  if (!mesh.shared()) return {0, mesh.num_active};
  const Transport& transport = *mesh.run->transport;
  std::vector<int64_t> first;
  for (int rank = 0; rank < transport.size(); ++rank) {
    const int64_t device = transport.ShareOf(rank, mesh.num_devices()).first;
    first.push_back(mesh.active == nullptr
                        ? device
                        : std::lower_bound(mesh.active->begin(), mesh.active->end(), device) -
                              mesh.active->begin());
  }
  first.push_back(mesh.num_active);
  return first;
}

absl::StatusOr<const char*> EveryRow(const MeshContext& mesh, const char* rows, int64_t bytes,
                                     std::vector<char>* storage) {
  if (!mesh.shared()) return rows;
  const std::vector<int64_t> first = FirstPlaces(mesh);
  std::vector<int64_t> lengths;
  for (size_t rank = 0; rank + 1 < first.size(); ++rank)
    lengths.push_back((first[rank + 1] - first[rank]) * bytes);
  storage->resize(static_cast<size_t>(mesh.num_active * bytes) + 1);  // Never without data().
  std::copy_n(rows, mesh.copies * bytes, storage->data() + mesh.first_here * bytes);
  RETURN_IF_ERROR(mesh.run->transport->AllGather(lengths, storage->data()));
  return storage->data();
}

bool RowsAgree(const char* rows, int64_t count, int64_t bytes) {
  return count <= 1 || std::memcmp(rows, rows + bytes, (count - 1) * bytes) == 0;
}

}  // namespace toroid
