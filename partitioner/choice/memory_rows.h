// What is left of the memory limit in each row, while nodes change their strategies.
//
// Rows stand in blocks of 128, each with its least: a change of a stretch of rows touches the rows of its two outer blocks and
// one number of each block between.
#pragma once

#include <cstdint>
#include <vector>

#include "partitioner/choice/random_numbers.h"
#include "partitioner/choice/reduction.h"

namespace toroid {

class MemoryRows {
 public:
  // Requires: `core` outlives this.
  MemoryRows(const ChoiceCore& core, const std::vector<int>& choice);

  // Node `node` changes from one strategy to another.
  void Change(int node, int from, int to);

  // Whether all rows keep their limits.
  bool Fits() const;

  // The sum over rows of what exceeds the limit.
  int64_t Excess() const;

  // The row with the least room, if that is negative; else -1.
  int WorstRow() const;

  // One of the rows above their limit, chosen at random; -1 if there is none.
  int RandomViolatedRow(RandomNumbers& random) const;

  // A row with little room, chosen at random. Requires: there are rows.
  int RandomTightRow(RandomNumbers& random) const;

  // Limit less usage.
  int64_t Room(int row) const { return room_[row] + pending_[row / kBlock]; }

 private:
  static constexpr int kBlock = 128;

  int EndOf(int block) const;
  void Take(int begin, int end, int64_t usage);
  void TakeInBlock(int block, int begin, int end, int64_t usage);

  const ChoiceCore* core_;
  std::vector<int64_t> room_;
  std::vector<int64_t> least_;    // By block, with what is pending.
  std::vector<int64_t> pending_;  // By block: to be added to its rows.
};

}  // namespace toroid
