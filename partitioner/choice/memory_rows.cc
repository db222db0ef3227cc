// BUILD: copts = ["-O3"]
#include "partitioner/choice/memory_rows.h"

#include <algorithm>

namespace toroid {

MemoryRows::MemoryRows(const ChoiceCore& core, const std::vector<int>& choice)
    : core_(&core),
      room_(core.limits),
      least_((room_.size() + kBlock - 1) / kBlock),
      pending_(least_.size()) {
  std::vector<int64_t> changes(room_.size() + 1);
  for (int i = 0; i < core.size(); ++i) {
    for (const CoreSegment& segment : core.segments[i]) {
      changes[segment.begin] += segment.usages[choice[i]];
      changes[segment.end] -= segment.usages[choice[i]];
    }
  }
  int64_t usage = 0;
  for (size_t r = 0; r < room_.size(); ++r) {
    usage += changes[r];
    room_[r] -= usage;
  }
  for (size_t b = 0; b < least_.size(); ++b) TakeInBlock(static_cast<int>(b), 0, 0, 0);
}

int MemoryRows::EndOf(int block) const {
  return std::min(static_cast<int>(room_.size()), (block + 1) * kBlock);
}

void MemoryRows::TakeInBlock(int block, int begin, int end, int64_t usage) {
  for (int r = begin; r < end; ++r) room_[r] -= usage;
  least_[block] =
      *std::min_element(room_.begin() + block * kBlock, room_.begin() + EndOf(block)) + pending_[block];
}

void MemoryRows::Take(int begin, int end, int64_t usage) {
  const int first = begin / kBlock;
  const int last = (end - 1) / kBlock;
  if (first == last) {
    TakeInBlock(first, begin, end, usage);
    return;
  }
  TakeInBlock(first, begin, EndOf(first), usage);
  for (int b = first + 1; b < last; ++b) {
    pending_[b] -= usage;
    least_[b] -= usage;
  }
  TakeInBlock(last, last * kBlock, end, usage);
}

void MemoryRows::Change(int node, int from, int to) {
  for (const CoreSegment& segment : core_->segments[node]) {
    const int64_t more = segment.usages[to] - segment.usages[from];
    if (more != 0) Take(segment.begin, segment.end, more);
  }
}

bool MemoryRows::Fits() const {
  return std::all_of(least_.begin(), least_.end(), [](int64_t room) { return room >= 0; });
}

int64_t MemoryRows::Excess() const {
  int64_t excess = 0;
  for (size_t b = 0; b < least_.size(); ++b) {
    if (least_[b] >= 0) continue;
    for (int r = static_cast<int>(b) * kBlock; r < EndOf(static_cast<int>(b)); ++r) {
      excess += std::max<int64_t>(0, -(room_[r] + pending_[b]));
    }
  }
  return excess;
}

int MemoryRows::WorstRow() const {
  const auto worst = std::min_element(least_.begin(), least_.end());
  if (worst == least_.end() || *worst >= 0) return -1;
  const int block = static_cast<int>(worst - least_.begin());
  return static_cast<int>(std::min_element(room_.begin() + block * kBlock, room_.begin() + EndOf(block)) -
                          room_.begin());
}

int MemoryRows::RandomViolatedRow(RandomNumbers& random) const {
  int block = -1;
  int seen = 0;
  for (size_t b = 0; b < least_.size(); ++b) {
    if (least_[b] < 0 && random.Below(++seen) == 0) block = static_cast<int>(b);
  }
  if (block < 0) return -1;
  int row = -1;
  seen = 0;
  for (int r = block * kBlock; r < EndOf(block); ++r) {
    if (Room(r) < 0 && random.Below(++seen) == 0) row = r;
  }
  return row;
}

int MemoryRows::RandomTightRow(RandomNumbers& random) const {
  int block = random.Below(static_cast<int>(least_.size()));
  for (int k = 0; k < 3; ++k) {
    const int other = random.Below(static_cast<int>(least_.size()));
    if (least_[other] < least_[block]) block = other;
  }
  const int begin = block * kBlock;
  int row = begin + random.Below(EndOf(block) - begin);
  for (int k = 0; k < 8; ++k) {
    const int other = begin + random.Below(EndOf(block) - begin);
    if (room_[other] < room_[row]) row = other;
  }
  return row;
}

}  // namespace toroid
