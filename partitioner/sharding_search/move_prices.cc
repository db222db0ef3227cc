#include "partitioner/sharding_search/move_prices.h"

#include <limits>
#include <vector>

namespace toroid {
namespace {

constexpr int kNowhere = -1, kPartial = -2;

// Whether a unit cuts a dimension, is summed over, or neither.
int PlaceOf(const AxisList& unit, const Sharding& sharding) {
  const AxisSet axes = unit.Set();
  if ((sharding.partial & axes) != 0) return kPartial;
  for (size_t d = 0; d < sharding.dims.size(); ++d) {
    if ((sharding.dims[d].Set() & axes) != 0) return static_cast<int>(d);
  }
  return kNowhere;
}

}  // namespace

MovePrices::Price MovePrices::Of(int tensor, int from, int to) {
  if (from == to) return {};
  const Shape& shape = memo_.program().graph->shape(tensor);
  const auto [it, is_new] = known_.try_emplace(
      {ByteWidth(shape.element_type()), Dims(shape.dims().begin(), shape.dims().end()), from, to}, Price());
  if (is_new) it->second = Find(tensor, memo_.versions().sharding(from), memo_.versions().sharding(to));
  return it->second;
}

MovePrices::Price MovePrices::Find(int tensor, const Sharding& from, const Sharding& to) const {
  const PreparedProgram& program = memo_.program();
  const Mesh& mesh = program.annotations.mesh;
  const CostModel& cost = program.planner->cost();
  const double kNever = std::numeric_limits<double>::infinity();
  if ((to.partial & ~from.partial) != 0 || (to.partial != 0 && to.reducer != from.reducer)) return {kNever};
  if ((from.manual & ~to.manual) != 0 || (from.DimAxes() & to.manual & ~from.manual) != 0) return {kNever};
  int64_t bytes = LocalBytes(program, tensor, from);
  Price price;
  const auto add = [&](CollectiveKind kind, const AxisList& axes) {
    price.time += cost.CollectiveTime(kind, bytes, mesh, axes);
    ++price.collectives;
  };
  AxisList summed;
  std::vector<const AxisList*> moved;
  std::vector<AxisList> gathered(to.dims.size());  // By dimension.
  int64_t sliced = 1;
  for (const AxisList& unit : units_) {
    const int before = PlaceOf(unit, from), after = PlaceOf(unit, to);
    const bool stays = before == after && (before < 0 || from.dims[before].Set() == to.dims[after].Set() ||
                                           from.dims[before].IsPrefixOf(to.dims[after]) ||
                                           to.dims[after].IsPrefixOf(from.dims[before]));
    if (stays) continue;
    if (before == kPartial && after == kNowhere) {
      summed.Append(unit);
    } else if (before == kPartial) {
      add(CollectiveKind::kReduceScatter, unit);
      bytes /= mesh.Product(unit);
    } else if (before == kNowhere) {
      sliced *= mesh.Product(unit);
    } else if (after == kNowhere) {
      gathered[before].Append(unit);
    } else {
      moved.push_back(&unit);
    }
  }
  bytes /= sliced;
  if (!summed.empty()) add(CollectiveKind::kAllReduce, summed);
  for (const AxisList* unit : moved) {
    const bool is_same_dim = PlaceOf(*unit, from) == PlaceOf(*unit, to);
    add(is_same_dim ? CollectiveKind::kPermute : CollectiveKind::kAllToAll, *unit);
  }
  for (const AxisList& axes : gathered) {
    if (axes.empty()) continue;
    add(CollectiveKind::kAllGather, axes);
    bytes *= mesh.Product(axes);
  }
  return price;
}

}  // namespace toroid
