#include "partitioner/choice/rounded_rows.h"

#include <algorithm>

namespace toroid {
namespace {

constexpr size_t kMostRows = 1000;
constexpr int kParts = 3;

// The rows of one divisor each for every row of the core: the smallest that leaves `fitting` of it in the limit.
void AddRows(const ChoiceCore& core, int fitting, ChoiceCore& out) {
  std::vector<int64_t> divisors;
  std::vector<int64_t> most(core.limits.size());  // What all nodes together could use at most, divided.
  for (const int64_t limit : core.limits) divisors.push_back(std::max<int64_t>(limit, 0) / (fitting + 1) + 1);
  for (const std::vector<CoreSegment>& node : core.segments) {
    for (const CoreSegment& segment : node) {
      const int64_t usage = *std::max_element(segment.usages.begin(), segment.usages.end());
      for (int r = segment.begin; r < segment.end; ++r) most[r] += usage / divisors[r];
    }
  }
  std::vector<int> row(core.limits.size(), -1);
  for (size_t r = 0; r < row.size(); ++r) {
    const int64_t limit = std::max<int64_t>(core.limits[r], 0) / divisors[r];
    if (core.limits[r] < 0 || most[r] <= limit) continue;
    row[r] = static_cast<int>(out.limits.size());
    out.limits.push_back(limit * divisors[r]);
  }
  for (int i = 0; i < core.size(); ++i) {
    std::vector<CoreSegment>& segments = out.segments[i];
    for (const CoreSegment& segment : core.segments[i]) {
      for (int r = segment.begin; r < segment.end; ++r) {
        if (row[r] < 0) continue;
        CoreSegment added{row[r], row[r] + 1, segment.usages};
        for (int64_t& usage : added.usages) usage -= usage % divisors[r];
        if (*std::max_element(added.usages.begin(), added.usages.end()) == 0) continue;
        CoreSegment* last = segments.empty() ? nullptr : &segments.back();
        if (last != nullptr && last->end == added.begin && last->usages == added.usages) {
          last->end = added.end;
        } else {
          segments.push_back(std::move(added));
        }
      }
    }
  }
}

}  // namespace

ChoiceCore WithRoundedRows(const ChoiceCore& core) {
  ChoiceCore out = core;
  if (core.limits.size() > kMostRows) return out;
  for (int fitting = 1; fitting <= kParts; ++fitting) AddRows(core, fitting, out);
  return out;
}

}  // namespace toroid
