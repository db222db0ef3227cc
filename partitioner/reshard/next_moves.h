// Lists the moves that a search for a resharding tries from one sharding (plan.cc).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "partitioner/reshard/plan.h"

namespace toroid {

// Runs of axes that both shardings keep together. Axes a and b are joined if b follows a in every list
// that contains a, and a precedes b in every list that contains b.
class AxisRuns {
 public:
  AxisRuns(const Mesh& mesh, const Sharding& from, const Sharding& to) {
    next_.fill(-2);
    previous_.fill(-2);
    for (const Sharding* sharding : {&from, &to}) {
      for (const AxisList& dim : sharding->dims) Add(dim);
      Add(mesh.InOrder(sharding->partial));
    }
  }

  // Number of axes at the end of `axes` that form its minor-most run.
  int MinorRun(const AxisList& axes) const {
    int n = 1;
    while (n < axes.size() && Joined(axes[axes.size() - n - 1], axes[axes.size() - n])) ++n;
    return n;
  }
  // Splits `axes`, which are in mesh order or in the order of one of the lists, into runs.
  std::vector<AxisList> Split(const AxisList& axes) const {
    std::vector<AxisList> runs;
    for (int i = 0; i < axes.size(); ++i) {
      if (i > 0 && Joined(axes[i - 1], axes[i])) {
        runs.back().push_back(axes[i]);
      } else {
        runs.push_back(AxisList{axes[i]});
      }
    }
    return runs;
  }

 private:
  void Add(const AxisList& axes) {
    for (int i = 0; i < axes.size(); ++i) {
      Note(&next_[axes[i]], i + 1 < axes.size() ? axes[i + 1] : -1);
      Note(&previous_[axes[i]], i > 0 ? axes[i - 1] : -1);
    }
  }
  // -1: end of a list; -2: not seen yet; -3: seen with different neighbours.
  static void Note(int* slot, int neighbour) { *slot = *slot == -2 || *slot == neighbour ? neighbour : -3; }
  bool Joined(int a, int b) const { return next_[a] == b && previous_[b] == a; }

  std::array<int, 32> next_;
  std::array<int, 32> previous_;
};

class NextMoves {
 public:
  // `v`: the bytes of the local array that the move sends or cuts, with the padding that it needs.
  using Visit = absl::FunctionRef<void(int64_t v, Move move)>;

  explicit NextMoves(const Resharding& task);

  // Calls `visit` with each move from `state` that may lead to the target.
  void ForEach(const Sharding& state, Visit visit) const;

 private:
  class OfState;

  const Resharding& task_;
  const AxisRuns runs_;
  std::vector<std::vector<AxisList>> to_runs_;  // The target's axes, by dimension.
};

}  // namespace toroid
