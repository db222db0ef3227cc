#include "partitioner/plan/version_sets.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace toroid {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// By tensor of the flow graph: a number that tensors of the same dimensions and width of elements share.
std::vector<int> TensorClasses(const FlowGraph& graph) {
  std::vector<int> classes;
  absl::flat_hash_map<std::pair<int64_t, Dims>, int> known;
  for (int t = 0; t < graph.num_tensors(); ++t) {
    const Shape& shape = graph.shape(t);
    const Dims dims(shape.dims().begin(), shape.dims().end());
    const auto width = shape.IsArray() ? ByteWidth(shape.element_type()) : 0;
    classes.push_back(known.try_emplace({width, dims}, static_cast<int>(known.size())).first->second);
  }
  return classes;
}

}  // namespace

VersionSets::VersionSets(const PreparedProgram& program)
    : program_(program), classes_(TensorClasses(*program.graph)), last_plan_step_(INT64_MAX) {
  Intern({});
}

void VersionSets::LimitPlanning(int64_t steps) {
  last_plan_step_ = steps == INT64_MAX ? steps : program_.planner->steps() + steps;
}

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
  if (set == kAnywhere) return {{}, set};
  const std::tuple<int, int, int> key = {classes_[tensor], set, wanted};
  if (const auto known = fetched_.find(key); known != fetched_.end()) return known->second;
  bool is_estimated = false;
  const Fetched fetched = Plan(tensor, set, wanted, &is_estimated);
  if (!is_estimated) fetched_.emplace(key, fetched);
  return fetched;
}

bool VersionSets::HasWhole(int set) const {
  return std::any_of(sets_[set].begin(), sets_[set].end(),
                     [&](int number) { return shardings_[number].IsReplicated(); });
}

VersionSets::Fetched VersionSets::Plan(int tensor, int set, int wanted, bool* is_estimated) {
  if (std::binary_search(sets_[set].begin(), sets_[set].end(), wanted)) return {{}, set};
  Fetched fetched;
  fetched.moves.time = kNever;
  for (const int from : sets_[set]) {
    const Moves moves = Between(tensor, from, wanted, is_estimated);
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

VersionSets::Moves VersionSets::Between(int tensor, int from_number, int to_number, bool* is_estimated) {
  const std::tuple<int, int, int> key = {classes_[tensor], from_number, to_number};
  if (const auto known = moves_.find(key); known != moves_.end()) return known->second;
  Sharding from = shardings_[from_number];
  const Sharding& to = shardings_[to_number];
  if (!MayBecome(from, to)) return moves_[key] = Moves{kNever};
  from.manual = to.manual;
  if (IsOverLimit()) {
    *is_estimated = true;
    const double bytes = Estimate(tensor, from, to);
    return {bytes, bytes, bytes > 0 ? 1.0 : 0.0};
  }
  const Shape& shape = program_.graph->shape(tensor);
  const ReshardPlan& plan = program_.planner->Plan(shape.dims(), ByteWidth(shape.element_type()), from, to);
  Moves moves = {plan.time, static_cast<double>(plan.sent_bytes), 0};
  for (const Move& move : plan.moves) moves.collectives += move.kind != MoveKind::kSlice;
  return moves_[key] = moves;
}

double VersionSets::EstimateFetch(int tensor, int set, int wanted) {
  if (set == kAnywhere) return 0;
  double least = kNever;
  for (const int from : sets_[set]) {
    if (from == wanted) return 0;
    const auto [it, is_new] = estimate_.try_emplace({classes_[tensor], from, wanted}, kNever);
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
