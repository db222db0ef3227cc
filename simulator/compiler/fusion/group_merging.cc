#include "simulator/compiler/fusion/grouper.h"

namespace toroid {

void Grouper::Merge() {
  MergeSlices();
  read_by_.assign(n_, {});
  for (int g = 0; g < n_; ++g) {
    for (const int input : inputs_[g]) {
      if (read_by_[input].empty() || read_by_[input].back() != g) read_by_[input].push_back(g);
    }
  }
  MergeLargest();
  // First those that have most to read in common; of these reductions, which leave nothing large behind.
  for (const bool reductions : {true, false}) {
    for (int64_t shared = reductions ? Thresholds().most_shared_arrays() : 1; shared >= 0; --shared)
      MergeThatShare(shared, reductions);
  }
}

void Grouper::MergeLargest() {
  for (int g = 0; g < n_; ++g) {
    if (!CanMerge(g) || ReductionOf(At(g)) == nullptr || At(g)->shape().IsArray()) continue;
    const std::vector<int> inputs = inputs_[g];  // A group that moves adds its own.
    for (const int input : inputs) {
      for (size_t k = 0; k < std::min(kMostReaders, read_by_[input].size()); ++k) {
        const int other = group_of_[read_by_[input][k]];
        if (other != g && CanMerge(other) && CanMeet(g, other) && ShareLevel(g, other) &&
            Decides(Rule::kLargestBesidePlace, *At(other)))
          Move(other, g);
      }
    }
  }
}

int Grouper::Shared(int g, int other) const {
  const absl::Span<const int64_t> dims = SpaceOf(g)->dims();
  int shared = 0;
  std::vector<int> seen;
  for (const int input : inputs_[g]) {
    if (!IsOfSize(input, dims) || absl::c_linear_search(seen, input)) continue;
    seen.push_back(input);
    shared += absl::c_linear_search(inputs_[other], input);
  }
  return shared;
}

bool Grouper::CanMerge(int g) const {
  if (values_[g].empty()) return false;
  if (made_.owner[g] != nullptr && !made_.recomputed[g] && At(g)->opcode() != Opcode::kReduce) return false;
  if (made_.owner[g] != nullptr && IsOfProduct(g)) return false;  // Products stay apart.
  if (IsPlaced(At(g)) && ReductionOf(At(g)) == nullptr && !IsCutColumn(*At(g), tiling_) &&
      Decides(Rule::kPlacedRunAlone, *At(g)))
    return false;
  const Shape* own = SpaceOf(g);
  return own != nullptr && own->rank() > 0;
}

void Grouper::MergeThatShare(int64_t shared, bool reductions) {
  const auto counts = [&](int input, absl::Span<const int64_t> dims) {
    const Shape& shape = At(input)->shape();
    return shared > 0 ? IsOfSize(input, dims) : shape.IsArray() && shape.NumElements() > 1;
  };
  // Groups by the arrays of their sizes that they read.
  std::vector<std::vector<int>> readers(n_);
  for (int g = 0; g < n_; ++g) {
    if (!CanMerge(g)) continue;
    const bool is_reduction = ReductionOf(At(g)) != nullptr;
    const Shape* own = SpaceOf(g);
    if (reductions && !is_reduction) continue;
    int into = -1;
    for (const int input : inputs_[g]) {
      const int maker = group_of_[input];
      if (is_reduction || maker == into || !counts(input, own->dims()) || !CanJoin(g, maker) ||
          (!IsLastToJoin(g, input) && Decides(Rule::kLastReaderJoins, *At(g))) ||
          !Decides(Rule::kReaderJoinsMaker, *At(g)))
        continue;
      if (into < 0) into = maker;
    }
    for (const int input : inputs_[g]) {
      if (into >= 0) break;
      if (!counts(input, own->dims())) continue;
      // The last ones, nearest in level; first those that need not rise.
      const std::vector<int>& candidates = readers[input];
      const size_t tried =
          std::min(static_cast<size_t>(Thresholds().most_merge_candidates()), candidates.size());
      for (size_t k = 0; k < 2 * tried && into < 0; ++k) {
        const bool rises = k >= tried;
        const int other = candidates[candidates.size() - 1 - k % tried];
        if ((level_[other] != level_[g]) != rises) continue;
        if (values_[other].empty() || other == g || values_[other].size() + values_[g].size() > MostValues())
          continue;
        const Shape* theirs = SpaceOf(other);
        if (theirs == nullptr || theirs->dims() != own->dims()) continue;
        if (!GoTogether(At(g), At(other))) continue;
        if (Shared(g, other) < shared) continue;
        if (!ShareLevel(g, other) ||
            !Decides(shared > 0 ? Rule::kReadersOfOneArray : Rule::kReadersOfOneVector, *At(g)))
          continue;
        into = other;
      }
    }
    if (into >= 0) {
      level_[into] = level_[g] = LevelWith(g, into);
      Move(g, into);
    }
    if (into >= 0 && IsOfProduct(into)) continue;
    for (const int input : inputs_[g]) {
      if (counts(input, own->dims())) readers[input].push_back(into >= 0 ? into : g);
    }
  }
}

void Grouper::Move(int g, int into) {
  for (const int value : values_[g]) {
    group_of_[value] = into;
    values_[into].push_back(value);
  }
  values_[g].clear();
  inputs_[into].insert(inputs_[into].end(), inputs_[g].begin(), inputs_[g].end());
}

bool Grouper::CanMeet(int g, int other) const {
  if (values_[g].size() + values_[other].size() >= MostValues() || Reads(g, other) || Reads(other, g))
    return false;
  const Shape *own = SpaceOf(g), *theirs = SpaceOf(other);
  return own != nullptr && theirs != nullptr && own->dims() == theirs->dims() && GoTogether(At(g), At(other));
}

}  // namespace toroid
