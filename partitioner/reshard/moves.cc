#include "partitioner/reshard/moves.h"

#include "hlo/analysis/collective.h"
#include "hlo/base/math.h"

namespace toroid {
namespace {

CollectiveKind CollectiveOf(MoveKind kind) {
  switch (kind) {
    case MoveKind::kAllGather:
      return CollectiveKind::kAllGather;
    case MoveKind::kAllToAll:
      return CollectiveKind::kAllToAll;
    case MoveKind::kReduceScatter:
      return CollectiveKind::kReduceScatter;
    case MoveKind::kAllReduce:
      return CollectiveKind::kAllReduce;
    default:
      return CollectiveKind::kPermute;
  }
}

}  // namespace

int64_t BytesOfShard(const Mesh& mesh, absl::Span<const int64_t> dims, int64_t width,
                     const Sharding& sharding) {
  int64_t bytes = width;
  for (size_t d = 0; d < dims.size(); ++d) bytes *= CeilOfRatio(dims[d], mesh.Product(sharding.dims[d]));
  return bytes;
}

int64_t SentBytes(MoveKind kind, int64_t v, int64_t g) {
  return kind == MoveKind::kSlice ? 0 : SentBytes(CollectiveOf(kind), v, g);
}

bool TilesNest(int64_t n, int64_t t, int64_t g) {
  return t == 1 || CeilOfRatio(n, t * g) * g == CeilOfRatio(n, t);
}

double TimeOf(const CostModel& cost, const Mesh& mesh, const Move& move, int64_t v) {
  return move.kind == MoveKind::kSlice ? 0 : cost.CollectiveTime(CollectiveOf(move.kind), v, mesh, move.axes);
}

}  // namespace toroid
