#include "runtime/groups/unit_order.h"

#include <algorithm>
#include <iterator>

namespace toroid {

int UnitOrder::Add(absl::Span<const int> producers) {
  const int unit = static_cast<int>(parents_.size());
  parents_.push_back(unit);
  places_.push_back(unit);
  users_.emplace_back();
  producers_.emplace_back();
  visits_.push_back(0);
  for (const int producer : producers) {
    if (producer < 0) continue;
    producers_[unit].push_back(Find(producer));
    users_[Find(producer)].push_back(unit);
  }
  return unit;
}

int UnitOrder::Find(int unit) const {
  while (parents_[unit] != unit) unit = parents_[unit];
  return unit;
}

bool UnitOrder::Dependents(int start, int64_t last_place, absl::Span<const int> avoided,
                           std::vector<int>* found) {
  ++question_;
  found->assign({start});
  visits_[start] = question_;
  for (size_t i = 0; i < found->size(); ++i) {
    if (found->size() > kMostVisited) return false;
    for (const int part : users_[(*found)[i]]) {
      const int user = Find(part);
      if (visits_[user] == question_ || places_[user] > last_place) continue;
      if (std::find(avoided.begin(), avoided.end(), user) != avoided.end()) return false;
      visits_[user] = question_;
      found->push_back(user);
    }
  }
  return true;
}

bool UnitOrder::Dependencies(absl::Span<const int> starts, int64_t first_place, std::vector<int>* found) {
  ++question_;
  found->clear();
  for (const int start : starts) {
    if (visits_[start] == question_) continue;
    visits_[start] = question_;
    found->push_back(start);
  }
  for (size_t i = 0; i < found->size(); ++i) {
    if (found->size() > kMostVisited) return false;
    for (const int part : producers_[(*found)[i]]) {
      const int producer = Find(part);
      if (visits_[producer] == question_ || places_[producer] < first_place) continue;
      visits_[producer] = question_;
      found->push_back(producer);
    }
  }
  return true;
}

bool UnitOrder::MoveBefore(absl::Span<const int> producers, int user) {
  Units behind;
  int64_t last = places_[user];
  for (const int producer : producers) {
    if (producer == user) return false;
    if (places_[producer] < places_[user]) continue;
    behind.push_back(producer);
    last = std::max(last, places_[producer]);
  }
  if (behind.empty()) return true;
  std::vector<int> dependents, dependencies;
  if (!Dependents(user, last, behind, &dependents)) return false;
  if (!Dependencies(behind, places_[user], &dependencies)) return false;
  // All of them share out their places anew: dependencies first, each kind in the order it had.
  const auto by_place = [&](int a, int b) { return places_[a] < places_[b]; };
  std::sort(dependents.begin(), dependents.end(), by_place);
  std::sort(dependencies.begin(), dependencies.end(), by_place);
  std::vector<int64_t> places;
  places.reserve(dependencies.size() + dependents.size());
  std::vector<int> units;
  units.reserve(dependencies.size() + dependents.size());
  std::merge(dependencies.begin(), dependencies.end(), dependents.begin(), dependents.end(),
             std::back_inserter(units), by_place);
  for (const int unit : units) places.push_back(places_[unit]);
  size_t next = 0;
  for (const int unit : dependencies) places_[unit] = places[next++];
  for (const int unit : dependents) places_[unit] = places[next++];
  return true;
}

bool UnitOrder::MakeUser(int user, absl::Span<const int> producers) {
  const int unit = Find(user);
  Units roots;
  for (const int producer : producers) {
    if (producer < 0) continue;
    const int root = Find(producer);
    if (std::find(roots.begin(), roots.end(), root) == roots.end()) roots.push_back(root);
  }
  if (!MoveBefore(roots, unit)) return false;
  for (const int root : roots) {
    producers_[unit].push_back(root);
    users_[root].push_back(unit);
  }
  return true;
}

bool UnitOrder::Merge(int unit, int other) {
  int first = Find(unit), second = Find(other);
  if (first == second) return true;
  const int kept = first;
  if (places_[first] > places_[second]) std::swap(first, second);
  // Were the second one a producer of the first, both would end as neighbours as far as anything that depends on them goes.
  if (!MoveBefore({second}, first)) return false;
  const int gone = kept == first ? second : first;
  places_[kept] = places_[first];
  parents_[gone] = kept;
  producers_[kept].insert(producers_[kept].end(), producers_[gone].begin(), producers_[gone].end());
  users_[kept].insert(users_[kept].end(), users_[gone].begin(), users_[gone].end());
  producers_[gone].clear();
  users_[gone].clear();
  return true;
}

}  // namespace toroid
