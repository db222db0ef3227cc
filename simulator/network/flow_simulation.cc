#include "simulator/network/flow_simulation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "hlo/base/status.h"

namespace toroid {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kUnlimited = 1e30;  // Stays finite in sums.
constexpr double kSameEvent = 1e-9;
constexpr int64_t kManyTransfers = 4096;
constexpr double kCoarseEvent = 1.0 / 1024;

// Transfers in an order that depends on what they are alone, equal ones put together, and their users by resource.
class Classes {
 public:
  explicit Classes(const FlowProblem& problem) : problem_(problem) {
    std::vector<int64_t> order(problem.transfers());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return Compare(a, b) < 0; });
    class_of_.resize(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      const bool same = i > 0 && Compare(order[i - 1], order[i]) == 0;
      if (!same) {
        member_.push_back(order[i]);
        count_.push_back(0);
      }
      count_.back() += problem.count(order[i]);
      class_of_[order[i]] = static_cast<int64_t>(member_.size()) - 1;
    }
    user_begin_.assign(problem.resources() + 1, 0);
    for (int64_t c = 0; c < size(); ++c) {
      for (const ResourceShare& s : shares(c)) ++user_begin_[s.resource + 1];
    }
    std::partial_sum(user_begin_.begin(), user_begin_.end(), user_begin_.begin());
    users_.resize(user_begin_.back());
    std::vector<int64_t> next(user_begin_.begin(), user_begin_.end() - 1);
    for (int64_t c = 0; c < size(); ++c) {
      for (const ResourceShare& s : shares(c)) users_[next[s.resource]++] = static_cast<int32_t>(c);
    }
  }

  int64_t size() const { return static_cast<int64_t>(member_.size()); }
  double bytes(int64_t c) const { return problem_.bytes(member_[c]); }
  double count(int64_t c) const { return count_[c]; }
  absl::Span<const ResourceShare> shares(int64_t c) const { return problem_.shares(member_[c]); }
  absl::Span<const int32_t> users(int64_t resource) const {
    return absl::MakeConstSpan(users_).subspan(user_begin_[resource],
                                               user_begin_[resource + 1] - user_begin_[resource]);
  }
  int64_t class_of(int64_t transfer) const { return class_of_[transfer]; }
  const FlowProblem& problem() const { return problem_; }

  // Max-min fair rates of the classes in `active`.
  void Rates(const std::vector<bool>& active, std::vector<double>* rates) const {
    const int64_t resources = problem_.resources();
    std::vector<double> left(resources), weight(resources, 0);
    std::vector<int32_t> waiting(resources, 0);
    std::vector<bool> filling = active;
    rates->assign(size(), 0);
    for (int64_t r = 0; r < resources; ++r) left[r] = problem_.capacity(r);
    for (int64_t c = 0; c < size(); ++c) {
      if (!active[c]) continue;
      if (shares(c).empty()) {
        (*rates)[c] = kInfinite;
        filling[c] = false;
        continue;
      }
      for (const ResourceShare& s : shares(c)) {
        weight[s.resource] += count(c) * s.share;
        ++waiting[s.resource];
      }
    }
    // All rates rise together; the resource that is full at the lowest rate holds its transfers there. Entries of
    // resources that lost transfers since are too low and are put back with their new rate.
    using Entry = std::pair<double, int64_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> full_at;
    for (int64_t r = 0; r < resources; ++r) {
      if (waiting[r] > 0) full_at.push({left[r] / weight[r], r});
    }
    double rate = 0;
    while (!full_at.empty()) {
      const auto [then, r] = full_at.top();
      full_at.pop();
      if (waiting[r] == 0) continue;
      const double now = std::max(rate, left[r] / weight[r]);
      if (now > then * (1 + 1e-12)) {
        full_at.push({now, r});
        continue;
      }
      rate = now;
      for (const int32_t c : users(r)) {
        if (!filling[c]) continue;
        filling[c] = false;
        (*rates)[c] = rate;
        for (const ResourceShare& s : shares(c)) {
          left[s.resource] = std::max(0.0, left[s.resource] - rate * count(c) * s.share);
          weight[s.resource] -= count(c) * s.share;
          --waiting[s.resource];
        }
      }
    }
  }

 private:
  int Compare(int64_t a, int64_t b) const {
    if (problem_.bytes(a) != problem_.bytes(b)) return problem_.bytes(a) < problem_.bytes(b) ? -1 : 1;
    const absl::Span<const ResourceShare> x = problem_.shares(a), y = problem_.shares(b);
    if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i].resource != y[i].resource) return x[i].resource < y[i].resource ? -1 : 1;
      if (x[i].share != y[i].share) return x[i].share < y[i].share ? -1 : 1;
    }
    return 0;
  }

  const FlowProblem& problem_;
  std::vector<int64_t> member_;  // By class, one of its transfers.
  std::vector<double> count_;
  std::vector<int64_t> class_of_, user_begin_;
  std::vector<int32_t> users_;
};

}  // namespace

int32_t FlowProblem::AddResource(double capacity) {
  TOROID_CHECK(capacity > 0, capacity);
  capacity_.push_back(std::min(capacity, kUnlimited));
  return static_cast<int32_t>(capacity_.size()) - 1;
}

int32_t FlowProblem::AddTransfer(double bytes, double count, absl::Span<const ResourceShare> shares) {
  TOROID_CHECK(bytes >= 0 && count > 0, bytes, " bytes, count ", count);
  bytes_.push_back(bytes);
  count_.push_back(count);
  const size_t first = shares_.size();
  for (const ResourceShare& s : shares)
    TOROID_CHECK(s.resource >= 0 && s.resource < resources() && s.share >= 0, s.resource);
  if (static_cast<int64_t>(shares.size()) > resources() / 4) {
    // Many: added up in an array instead of being sorted.
    sum_.assign(resources(), 0);
    for (const ResourceShare& s : shares) sum_[s.resource] += s.share;
    for (int64_t r = 0; r < resources(); ++r) {
      if (sum_[r] > 0) shares_.push_back({static_cast<int32_t>(r), sum_[r]});
    }
    begin_.push_back(static_cast<int64_t>(shares_.size()));
    return static_cast<int32_t>(bytes_.size()) - 1;
  }
  for (const ResourceShare& s : shares) {
    if (s.share > 0) shares_.push_back(s);
  }
  std::sort(shares_.begin() + first, shares_.end(), [](const ResourceShare& a, const ResourceShare& b) {
    return std::tie(a.resource, a.share) < std::tie(b.resource, b.share);
  });
  size_t end = first;
  for (size_t i = first; i < shares_.size(); ++i) {
    if (end > first && shares_[end - 1].resource == shares_[i].resource) {
      shares_[end - 1].share += shares_[i].share;
    } else {
      shares_[end++] = shares_[i];
    }
  }
  shares_.resize(end);
  begin_.push_back(static_cast<int64_t>(end));
  return static_cast<int32_t>(bytes_.size()) - 1;
}

std::vector<double> MaxMinRates(const FlowProblem& problem, const std::vector<bool>& active) {
  // Not put into classes: some of equal transfers may be inactive.
  FlowProblem some;
  std::vector<int64_t> place(problem.transfers(), -1);
  for (int64_t r = 0; r < problem.resources(); ++r) some.AddResource(problem.capacity(r));
  for (int64_t t = 0; t < problem.transfers(); ++t) {
    if (active[t]) place[t] = some.AddTransfer(problem.bytes(t), problem.count(t), problem.shares(t));
  }
  const Classes classes(some);
  std::vector<double> by_class, rates(problem.transfers(), 0);
  classes.Rates(std::vector<bool>(classes.size(), true), &by_class);
  for (int64_t t = 0; t < problem.transfers(); ++t) {
    if (place[t] >= 0) rates[t] = by_class[classes.class_of(place[t])];
  }
  return rates;
}

FlowResult SimulateFlows(const FlowProblem& problem) {
  const Classes classes(problem);
  const int64_t n = classes.size();
  std::vector<bool> active(n, true);
  std::vector<double> left(n), finish(n, 0), rates;
  int64_t under_way = 0;
  for (int64_t c = 0; c < n; ++c) {
    left[c] = classes.bytes(c);
    active[c] = left[c] > 0 && !classes.shares(c).empty();
    under_way += active[c];
  }
  double now = 0;
  while (under_way > 0) {
    classes.Rates(active, &rates);
    double next = kInfinite;
    for (int64_t c = 0; c < n; ++c) {
      if (active[c]) next = std::min(next, left[c] / rates[c]);
    }
    double until = next * (1 + kSameEvent);
    if (under_way > kManyTransfers) until = std::max(until, next + (now + next) * kCoarseEvent);
    now += next;
    for (int64_t c = 0; c < n; ++c) {
      if (!active[c]) continue;
      const double needs = left[c] / rates[c];
      if (needs <= until) {
        active[c] = false;
        --under_way;
        finish[c] = now + (needs > next * (1 + kSameEvent) ? needs - next : 0);
      } else {
        left[c] -= rates[c] * next;
      }
    }
  }
  FlowResult result;
  result.finish_seconds.resize(problem.transfers());
  for (int64_t t = 0; t < problem.transfers(); ++t) {
    result.finish_seconds[t] = finish[classes.class_of(t)];
    result.seconds = std::max(result.seconds, result.finish_seconds[t]);
  }
  result.resource_bytes.assign(problem.resources(), 0);
  for (int64_t c = 0; c < n; ++c) {
    for (const ResourceShare& s : classes.shares(c)) {
      result.resource_bytes[s.resource] += classes.bytes(c) * classes.count(c) * s.share;
    }
  }
  return result;
}

}  // namespace toroid
