#include "partitioner/plan/version_sets.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace toroid {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

int VersionSets::Number(const Sharding& sharding) {
  const auto [it, is_new] = number_of_.try_emplace(sharding, static_cast<int>(shardings_.size()));
  if (is_new) {
    shardings_.push_back(sharding);
    alone_.push_back(Intern({it->second}));
  }
  return it->second;
}

int VersionSets::Intern(std::vector<int> set) {
  const auto [it, is_new] = set_number_.try_emplace(set, static_cast<int>(sets_.size()));
  if (is_new) sets_.push_back(std::move(set));
  return it->second;
}

VersionSets::Fetched VersionSets::Fetch(int tensor, int set, int wanted) {
  const auto [it, is_new] = fetched_.try_emplace({tensor, set, wanted});
  if (is_new) it->second = Plan(tensor, set, wanted);
  return it->second;
}

bool VersionSets::HasWhole(int set) const {
  return std::any_of(sets_[set].begin(), sets_[set].end(),
                     [&](int number) { return shardings_[number].IsReplicated(); });
}

VersionSets::Fetched VersionSets::Plan(int tensor, int set, int wanted) {
  if (set == kAnywhere) return {{}, set};
  if (std::binary_search(sets_[set].begin(), sets_[set].end(), wanted)) return {{}, set};
  Fetched fetched;
  fetched.moves.time = kNever;
  for (const int from : sets_[set]) {
    const Moves moves = Between(tensor, from, wanted);
    if (moves.time < fetched.moves.time) fetched.moves = moves;
  }
  if (fetched.moves.time == kNever) return fetched;
  std::vector<int> after = sets_[set];
  after.insert(std::lower_bound(after.begin(), after.end(), wanted), wanted);
  fetched.set = Intern(std::move(after));
  return fetched;
}

bool VersionSets::MayBecome(const Sharding& from, const Sharding& to) {
  if ((to.partial & ~from.partial) != 0 || (to.partial != 0 && to.reducer != from.reducer)) return false;
  // A value that is not cut over the manual axes of `to` becomes a local value without communication.
  return (from.manual & ~to.manual) == 0 && (from.DimAxes() & to.manual & ~from.manual) == 0;
}

VersionSets::Moves VersionSets::Between(int tensor, int from_number, int to_number) {
  const auto [it, is_new] = moves_.try_emplace({tensor, from_number, to_number}, Moves{kNever});
  Sharding from = shardings_[from_number];
  const Sharding& to = shardings_[to_number];
  if (!is_new || !MayBecome(from, to)) return it->second;
  from.manual = to.manual;
  if (program_.planner->steps() >= last_plan_step_) {
    const double bytes = Estimate(tensor, from, to);
    return it->second = {bytes, bytes, bytes > 0 ? 1.0 : 0.0};
  }
  const Shape& shape = program_.graph->shape(tensor);
  const ReshardPlan& plan = program_.planner->Plan(shape.dims(), ByteWidth(shape.element_type()), from, to);
  it->second = {plan.time, static_cast<double>(plan.sent_bytes), 0};
  for (const Move& move : plan.moves) it->second.collectives += move.kind != MoveKind::kSlice;
  return it->second;
}

double VersionSets::EstimateFetch(int tensor, int set, int wanted) {
  if (set == kAnywhere) return 0;
  double least = kNever;
  for (const int from : sets_[set]) {
    if (from == wanted) return 0;
    const auto [it, is_new] = estimate_.try_emplace({tensor, from, wanted}, kNever);
    if (is_new && MayBecome(shardings_[from], shardings_[wanted])) {
      it->second = Estimate(tensor, shardings_[from], shardings_[wanted]);
    }
    least = std::min(least, it->second);
  }
  return least;
}

double VersionSets::Estimate(int tensor, const Sharding& from, const Sharding& to) const {
  const Mesh& mesh = program_.annotations.mesh;
  const Shape& shape = program_.graph->shape(tensor);
  double wanted = static_cast<double>(ByteWidth(shape.element_type())), there = wanted;
  for (int d = 0; d < shape.rank(); ++d) {
    const double size = static_cast<double>(shape.dim(d));
    // Along the axes that both lists begin with, a device's source tile contains its target tile. Along the
    // other target axes the two overlap by chance: a device has 1 / (number of their tiles) of what it wants.
    int alike = 0;
    while (alike < std::min(from.dims[d].size(), to.dims[d].size()) &&
           from.dims[d][alike] == to.dims[d][alike])
      ++alike;
    wanted *= size / static_cast<double>(mesh.Product(to.dims[d]));
    there *= size / static_cast<double>(mesh.Product(from.dims[d]) * mesh.Product(to.dims[d].Suffix(alike)));
  }
  const AxisSet summed = from.partial & ~to.partial;
  if (summed == 0) return wanted - std::min(wanted, there);
  // Partial sums over axes that cut the target are reduce-scattered; those over other axes are all-reduced.
  const double scattered = static_cast<double>(mesh.Product(summed & to.DimAxes()));
  const double alike = static_cast<double>(mesh.Product(summed & ~to.DimAxes()));
  return wanted * (scattered - 1) + 2 * wanted * (alike - 1) / alike;
}

}  // namespace toroid
