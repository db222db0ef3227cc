// Disjoint sets of integers (union-find).
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace toroid {

// Sets of the numbers 0 .. n - 1. At first each number is a set of its own.
class DisjointSets {
 public:
  explicit DisjointSets(int64_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }

  // The smallest number in x's set.
  int32_t Root(int32_t x) {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }
  void Join(int32_t a, int32_t b) {
    a = Root(a), b = Root(b);
    if (a != b) parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<int32_t> parent_;
};

}  // namespace toroid
