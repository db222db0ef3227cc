// Which groups must run before which, while groups still grow.
#pragma once

#include <cstdint>
#include <vector>

namespace toroid {

// A set of groups: bit k is group newest - k. Groups further back are forgotten; they take no more members.
struct GroupSet {
  uint64_t bits = 0;
  int newest = -1;

  // The bits as seen from a later group.
  uint64_t At(int now) const {
    const int shift = now - newest;
    return newest < 0 || shift >= 64 ? 0 : bits << shift;
  }
};

class GroupDeps {
 public:
  // A new group, without members.
  int NewGroup();
  // The group that `group` has become part of.
  int Find(int group) const;
  // Takes members no longer, since its numbers would be forgotten.
  bool IsClosed(int group) const { return newest_ - groups_[Find(group)].oldest >= 63; }

  // All groups that must run before a value with these direct ones.
  GroupSet Closure(GroupSet direct) const;
  // What a user of a member depends on: the group, and what must run before it.
  GroupSet OfMember(int group) const;
  GroupSet Union(GroupSet a, GroupSet b) const { return {a.At(newest_) | b.At(newest_), newest_}; }

  // Whether the set holds the group.
  bool Holds(GroupSet set, int group) const { return (set.At(newest_) & Own(Find(group))) != 0; }
  // The group now depends on these, which do not depend on it.
  void AddDependencies(int group, GroupSet deps);
  // Makes two groups one; false if one of them must run before the other.
  bool Merge(int group, int other);

 private:
  struct Group {
    int parent;  // Itself, or the group it is part of.
    int oldest;  // Least number of its parts.
    GroupSet own, before;
  };
  uint64_t Own(int root) const { return groups_[root].own.At(newest_); }

  std::vector<Group> groups_;
  int newest_ = -1;
};

}  // namespace toroid
