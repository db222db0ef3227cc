// An order of units, each before those that use it, kept while units grow.
//
// A unit is a step, or a group of steps that run as one. A unit that takes a further step may come to depend on units that
// stood behind it; they are moved before it, unless they depend on it themselves. Source: Pearce and Kelly, "A dynamic
// topological sort algorithm for directed acyclic graphs", 2006: only units whose places lie between the two are looked at.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

namespace toroid {

class UnitOrder {
 public:
  // Most units that one question looks at; what would take more is refused.
  static constexpr size_t kMostVisited = 400;

  // A unit behind all others that uses these (-1: none).
  int Add(absl::Span<const int> producers);
  // The unit that `unit` has become part of.
  int Find(int unit) const;
  // Makes `user` a user of these, too. False, and nothing changes, if one of them depends on it (or is it).
  bool MakeUser(int user, absl::Span<const int> producers);
  // Makes two units one, found as `unit`. False, and nothing changes, if one of them depends on the other.
  bool Merge(int unit, int other);
  // Whether the unit stands before the other one.
  bool IsBefore(int unit, int other) const { return places_[Find(unit)] < places_[Find(other)]; }

 private:
  using Units = absl::InlinedVector<int, 4>;

  // Units that depend on `start`, itself included, up to a place; false if they are too many or one of `avoided`.
  bool Dependents(int start, int64_t last_place, absl::Span<const int> avoided, std::vector<int>* found);
  // Units that these depend on, themselves included, down to a place; false if they are too many.
  bool Dependencies(absl::Span<const int> starts, int64_t first_place, std::vector<int>* found);
  // Moves `producers`, and what they depend on, before `user` and what depends on it. False as MakeUser.
  bool MoveBefore(absl::Span<const int> producers, int user);

  std::vector<int> parents_;  // Itself, or the unit it is part of.
  std::vector<int64_t> places_;
  std::vector<Units> users_, producers_;
  std::vector<int> visits_;  // The number of the question that saw the unit last.
  int question_ = 0;
};

}  // namespace toroid
