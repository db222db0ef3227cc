#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "partitioner/propagation/stated_shardings.h"

namespace toroid {
namespace {

// The sharding with the same number of tiles per dimension as `sharding`, over axes taken in mesh order.
absl::StatusOr<Sharding> SameTiles(const HloSharding& sharding, const Mesh& mesh, int rank) {
  Sharding result = Sharding::Replicated(rank);
  AxisSet used = 0;
  for (int d = 0; d < rank; ++d) {
    int64_t rest = sharding.tiles()[d];
    for (int axis = 0; axis < mesh.num_axes() && rest > 1; ++axis) {
      if (used >> axis & 1 || rest % mesh.size(axis) != 0) continue;
      used |= AxisSet{1} << axis;
      rest /= mesh.size(axis);
      result.dims[d].push_back(axis);
    }
    if (rest != 1) return absl::InvalidArgumentError("sharding does not fit the mesh");
  }
  return result;
}

}  // namespace

bool HoldsOwnValues(const HloSharding& sharding) {
  return absl::c_any_of(sharding.subgroups(), [](const HloSharding::Subgroup& subgroup) {
    return subgroup.type != xla::OpSharding::REPLICATED;
  });
}

absl::StatusOr<Annotation> OnMesh(const StatedSharding& stated, const Mesh& mesh, int rank) {
  Annotation annotation;
  const std::optional<Sharding> sharding = mesh.FromHlo(stated.sharding, rank);
  if (sharding) {
    annotation.sharding = *sharding;
  } else {
    if (HoldsOwnValues(stated.sharding)) {
      return absl::UnimplementedError(absl::StrCat("the sharding ", stated.sharding.ToString(),
                                                   " orders manual or unreduced devices unlike the others"));
    }
    ASSIGN_OR_RETURN(annotation.sharding, SameTiles(stated.sharding, mesh, rank));
    annotation.foreign = stated.sharding;
  }
  annotation.closed = stated.closed;
  const bool has_later = absl::c_any_of(stated.priorities, [](int priority) { return priority != 0; });
  if (has_later) annotation.priorities = stated.priorities;
  for (const SdyAxisRef& ref : stated.replicated)
    annotation.replicated |= AxesOnMesh(stated.mesh, ref, mesh).Set();
  return annotation;
}

AxisList AxesOnMesh(const std::optional<SdyMesh>& sdy_mesh, const SdyAxisRef& ref, const Mesh& mesh) {
  if (!sdy_mesh || sdy_mesh->NumDevices() != mesh.num_devices()) return AxisList();
  int64_t stride = 1;
  for (auto axis = sdy_mesh->axes.rbegin(); axis != sdy_mesh->axes.rend(); ++axis) {
    if (axis->name == ref.name) {
      const int64_t size = ref.size > 0 ? ref.size : axis->size;
      return mesh.AxesOfPart(size, stride * (axis->size / (ref.pre * size))).value_or(AxisList());
    }
    stride *= axis->size;
  }
  return AxisList();
}

}  // namespace toroid
