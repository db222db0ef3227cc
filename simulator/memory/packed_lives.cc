#include "simulator/memory/packed_lives.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "hlo/base/math.h"

namespace toroid {
namespace {

// The placed ones among lives that are sorted by their begin, as a tree of the latest end.
class PlacedLives {
 public:
  explicit PlacedLives(const std::vector<ArrayLife>& lives) : lives_(lives) {
    while (leaves_ < static_cast<int>(lives.size())) leaves_ *= 2;
    latest_end_.assign(2 * static_cast<size_t>(leaves_), -1);
  }

  void Add(int life) {
    for (int node = leaves_ + life; node > 0; node /= 2)
      latest_end_[node] = std::max(latest_end_[node], lives_[life].end);
  }

  // Those that live at a step of `life`.
  void AppendBeside(const ArrayLife& life, std::vector<int>* beside) const {
    const auto after = std::partition_point(lives_.begin(), lives_.end(),
                                            [&](const ArrayLife& other) { return other.begin <= life.end; });
    Append(1, 0, leaves_, static_cast<int>(after - lives_.begin()), life.begin, beside);
  }

 private:
  // Of the lives [from, from + size) below `node`: those before `to` that end at `least_end` or later.
  void Append(int node, int from, int size, int to, int least_end, std::vector<int>* beside) const {
    if (from >= to || latest_end_[node] < least_end) return;
    if (size == 1) {
      beside->push_back(from);
      return;
    }
    Append(2 * node, from, size / 2, to, least_end, beside);
    Append(2 * node + 1, from + size / 2, size / 2, to, least_end, beside);
  }

  const std::vector<ArrayLife>& lives_;
  int leaves_ = 1;
  std::vector<int> latest_end_;  // By node; -1 if none below is placed.
};

// Takes all but the largest lives away, and returns the most bytes of these that are alive at a time.
int64_t TakeSmallOnes(std::vector<ArrayLife>* lives) {
  if (lives->size() <= kMostPlaced) return 0;
  std::nth_element(lives->begin(), lives->begin() + kMostPlaced, lives->end(),
                   [](const ArrayLife& a, const ArrayLife& b) { return a.bytes > b.bytes; });
  std::vector<std::pair<int, int64_t>> changes;  // Bytes that come or go at a step; what goes, after it.
  for (auto life = lives->begin() + kMostPlaced; life != lives->end(); ++life) {
    changes.emplace_back(life->begin, life->bytes);
    changes.emplace_back(life->end + 1, -life->bytes);
  }
  lives->resize(kMostPlaced);
  std::sort(changes.begin(), changes.end());  // Of one step, what goes first.
  int64_t alive = 0, most = 0;
  for (const auto& [step, bytes] : changes) {
    alive = SaturatingAdd(alive, bytes);
    most = std::max(most, alive);
  }
  return most;
}

}  // namespace

int64_t PackedBytes(std::vector<ArrayLife> lives) {
  const int64_t small = TakeSmallOnes(&lives);
  std::sort(lives.begin(), lives.end(),
            [](const ArrayLife& a, const ArrayLife& b) { return a.begin < b.begin; });
  std::vector<int> largest_first(lives.size());
  std::iota(largest_first.begin(), largest_first.end(), 0);
  std::stable_sort(largest_first.begin(), largest_first.end(), [&](int a, int b) {
    return std::pair(lives[a].bytes, lives[a].end - lives[a].begin) >
           std::pair(lives[b].bytes, lives[b].end - lives[b].begin);
  });
  PlacedLives placed(lives);
  std::vector<int64_t> at(lives.size(), 0);
  std::vector<int> beside;
  int64_t highest = 0;
  for (const int life : largest_first) {
    const int64_t bytes = lives[life].bytes;
    beside.clear();
    placed.AppendBeside(lives[life], &beside);
    std::sort(beside.begin(), beside.end(), [&](int a, int b) { return at[a] < at[b]; });
    int64_t free_from = 0, best = -1, best_gap = 0;
    for (const int other : beside) {
      const int64_t gap = at[other] - free_from;
      if (gap >= bytes && (best < 0 || gap < best_gap)) {
        best = free_from;
        best_gap = gap;
      }
      free_from = std::max(free_from, SaturatingAdd(at[other], lives[other].bytes));
    }
    at[life] = best >= 0 ? best : free_from;
    placed.Add(life);
    highest = std::max(highest, SaturatingAdd(at[life], bytes));
  }
  return SaturatingAdd(highest, small);
}

}  // namespace toroid
