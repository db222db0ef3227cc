// Which arrays of a program lie in the host's memory, and what is copied between host and device.
//
// An array lies in the host's memory if its layout says so, S(5), there or in the entry's layout; if MoveToHost, or
// annotate_device_placement with _xla_buffer_placement of pinned_host or unpinned_host, makes it; if an op that runs on
// the host (_xla_compute_type "host") makes it for others that do; and if it shares its memory with such an array: names,
// states of loops, arguments and results of calls and branches, what a dynamic-update-slice updates. Slices of it that are
// only moved on are read where they lie. All other arrays are the device's.
// Example: s = f32[16,8]{1,0:S(5)} parameter(0), d = f32[1,8] dynamic-slice(s, i, z), x = MoveToDevice(d): s and d lie on the
// host, x on the device; 32 bytes go to the device.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

inline constexpr int64_t kHostMemorySpace = 5;  // S(5) in layouts.

struct HostTraffic {
  int64_t to_host = 0;  // Bytes. Both saturate.
  int64_t to_device = 0;
};

// It holds as long as no instruction is added or changed.
class MemorySpaces {
 public:
  explicit MemorySpaces(const Module& module);

  bool any_on_host() const { return any_; }
  // The array that is leaf `leaf` of what `op` gives, left to right.
  bool IsOnHost(const Instruction& op, int leaf) const {
    return any_ && on_host_[id_of_[op.computation()->index()][op.index()] + leaf];
  }
  // True if a move between the two memories writes the result of `op`: the result has no place before.
  bool Moves(const Instruction& op) const;
  // True if the result of `op` names elements of an array on the host, and the elements stay there.
  bool IsViewOfHost(const Instruction& op) const;
  // Bytes that one execution of `op` moves, without the bodies that it runs.
  HostTraffic TrafficOf(const Instruction& op) const;
  // Bytes of the result leaves of `op` that lie on the host (`host`), or on the device.
  int64_t LeafBytesOn(bool host, const Instruction& op) const;

 private:
  enum class Move { kNone, kToHost, kToDevice };
  static Move MoveOf(const Instruction& op);
  static bool RunsOnHost(const Instruction& op);

  bool FindMarks(const Module& module);
  int Find(int id);
  void Join(int a, int b);
  void JoinLeaves(const Instruction& a, int64_t begin_a, const Instruction& b, int64_t begin_b,
                  int64_t count);
  void JoinNames(const Instruction& op);
  void JoinBodies(const Instruction& op);
  void MarkOpsOfHost(const Module& module);
  void FindViews(const Computation& computation);
  void Spread(const Module& module);

  bool any_ = false;
  std::vector<std::vector<int>> id_of_;     // By computation and instruction: that of the first leaf.
  std::vector<int> parent_;                 // By id: leaves that share memory, as a forest.
  std::vector<bool> on_host_;               // By id; of a root until the end, then of all.
  std::vector<std::pair<int, int>> views_;  // If the first lies on the host, so does the second.
  std::vector<std::vector<bool>>
      is_view_;                     // By computation and instruction: reads parts of its operand for moves.
  std::vector<bool> runs_on_host_;  // By computation.
};

// Bytes that one execution of the entry moves. The body of a loop counts once per trip, or once if the program does not
// show the trip count.
HostTraffic ComputeHostTraffic(const Module& module, const MemorySpaces& spaces);

}  // namespace toroid
