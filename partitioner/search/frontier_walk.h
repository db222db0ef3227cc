// Decides some steps of a program together, by dynamic programming over the values that are live between two steps
// (frontier_search.cc).
#pragma once

#include <set>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "partitioner/search/present_program.h"

namespace toroid {

// The live values whose versions differ from those in the present program at the same step: (tensor, set of
// versions), in order of tensors.
using Difference = SetsOfTensors;

// A path to a state. Its cost and flops are differences from the present program's.
struct Path {
  double cost = 0;
  double flops = 0;
  int last = -1;  // The number of its last decision; -1: none.
};
using Paths = absl::InlinedVector<Path, 1>;

// In the order in which they were reached, so that ties are broken the same way in every run.
class States {
 public:
  struct State {
    Difference difference;
    Paths paths;
  };
  size_t size() const { return states_.size(); }
  std::vector<State>::const_iterator begin() const { return states_.begin(); }
  std::vector<State>::const_iterator end() const { return states_.end(); }
  const State& operator[](size_t i) const { return states_[i]; }

  // The paths to a state, which is added if it is new.
  Paths& At(const Difference& difference) {
    const auto [it, is_new] = number_of_.try_emplace(difference, states_.size());
    if (is_new) states_.push_back({difference, {}});
    return states_[it->second].paths;
  }
  void Clear() {
    number_of_.clear();
    states_.clear();
  }

 private:
  absl::flat_hash_map<Difference, size_t> number_of_;
  std::vector<State> states_;
};

// The least part of the cost of a program that new decisions must save.
inline constexpr double kLeastGain = 1e-7;

class FrontierWalk {
 public:
  // `part`: the steps to decide anew, in order; all others keep their decisions. `units`: those that may cut a factor.
  // `most_states`: kept after each step. All pointers must outlive the walk.
  FrontierWalk(PresentProgram* program, const AxisUnits& units, LaterUses* later_uses, std::vector<int> part,
               size_t most_states);

  // The decisions of the cheapest path, in the order of steps, if it costs less than the present program and computes no more
  // flops; empty if there is none.
  PresentProgram::Decisions Run();

 private:
  // A decision on a path, with the number of the decision before it.
  struct Node {
    int before = -1;
    int step = 0;
    StepDecision decision;
  };

  // What a step, and all later ones that the part reaches, can save at most, and the fewest flops that they do, as a
  // difference from the present program.
  struct Bound {
    int step = 0;
    double most_saved = 0;
    double least_flops = 0;
  };

  bool IsOfPart(int step) const;
  absl::Span<const OpChoice* const> ChoicesOf(int step) const;
  void FindBounds();
  bool MayWin(const Path& path) const;
  void Visit(int i);
  void Take(int i, const Difference& difference, absl::Span<const Path> paths);
  void Extend(int i, const Difference& before, absl::Span<const Path> paths, const StepCosts::Taken& taken,
              double flops, const Node* node);
  Difference DifferenceAfter(int i, const Difference& before, const StepCosts::Taken& taken) const;
  double ExtraCost(int i, int t, int set);
  void KeepCheapest(int i);

  PresentProgram& program_;
  const ProgramSteps& steps_;
  const AxisUnits& units_;
  const std::vector<int> part_;
  const size_t most_states_;
  LaterUses& later_uses_;
  absl::flat_hash_map<std::tuple<int, int, size_t>, double> extra_;  // By tensor, set and next user.
  std::set<int> agenda_;  // Steps to visit: those of the part, and those whose tensors differ in some state.
  std::vector<Bound> bounds_;  // In the order of steps; the last one is that of no step.
  Bound after_;                // Of the steps after the one that is visited.
  States states_, next_;
  std::vector<Node> nodes_;
};

}  // namespace toroid
