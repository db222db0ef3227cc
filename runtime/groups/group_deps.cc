#include "runtime/groups/group_deps.h"

#include <algorithm>

namespace toroid {

int GroupDeps::NewGroup() {
  ++newest_;
  groups_.push_back({newest_, newest_, {1, newest_}, {0, newest_}});
  return newest_;
}

int GroupDeps::Find(int group) const {
  while (groups_[group].parent != group) group = groups_[group].parent;
  return group;
}

GroupSet GroupDeps::Closure(GroupSet direct) const {
  uint64_t bits = direct.At(newest_), all = bits;
  while (bits != 0) {
    const int group = Find(newest_ - __builtin_ctzll(bits));
    bits &= bits - 1;
    all |= groups_[group].before.At(newest_);
  }
  return {all, newest_};
}

GroupSet GroupDeps::OfMember(int group) const {
  const int root = Find(group);
  return Closure({Own(root) | groups_[root].before.At(newest_), newest_});
}

void GroupDeps::AddDependencies(int group, GroupSet deps) {
  const int root = Find(group);
  const uint64_t own = Own(root), added = deps.At(newest_);
  if ((added & ~groups_[root].before.At(newest_)) == 0) return;
  groups_[root].before = {groups_[root].before.At(newest_) | added, newest_};
  for (int g = std::max(0, newest_ - 63); g <= newest_; ++g) {
    if (groups_[g].parent != g || (groups_[g].before.At(newest_) & own) == 0) continue;
    groups_[g].before = {groups_[g].before.At(newest_) | added, newest_};
  }
}

bool GroupDeps::Merge(int group, int other) {
  const int a = Find(group), b = Find(other);
  if (a == b) return true;
  const uint64_t own_a = Own(a), own_b = Own(b);
  if ((groups_[a].before.At(newest_) & own_b) != 0 || (groups_[b].before.At(newest_) & own_a) != 0)
    return false;
  groups_[b].parent = a;
  groups_[a].oldest = std::min(groups_[a].oldest, groups_[b].oldest);
  groups_[a].own = {own_a | own_b, newest_};
  const uint64_t before = groups_[a].before.At(newest_) | groups_[b].before.At(newest_);
  groups_[a].before = {before, newest_};
  for (int g = std::max(0, newest_ - 63); g <= newest_; ++g) {
    if (groups_[g].parent != g || g == a || (groups_[g].before.At(newest_) & (own_a | own_b)) == 0) continue;
    groups_[g].before = {groups_[g].before.At(newest_) | before | own_a | own_b, newest_};
  }
  return true;
}

}  // namespace toroid
