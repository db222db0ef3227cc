#include "partitioner/choice/rounds.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "partitioner/choice/memory_rows.h"
#include "partitioner/choice/rounded_rows.h"

namespace toroid {
namespace {

constexpr size_t kSearchers = 3;
constexpr int kSettledRounds = 3;  // Rounds with hardly a better bound before there are more searches.
constexpr int kBoundEvery = 4;     // Rounds from one attempt at a better bound to the next, once it is idle.
constexpr int kQuietRounds = 20;
constexpr int64_t kFirstWork = 10'000;  // Of a round's task; doubled each round up to the following.
constexpr int64_t kBoundWork = 60'000'000;
constexpr int64_t kSearchWork = 6'000'000;
constexpr int kIdleRounds = 4;  // Rounds without a better bound before branch and bound begins.
constexpr size_t kMostBranchCells = 1'000'000;  // Of edges, for branch and bound: it keeps many copies.

// Calls each task, on up to `threads` threads.
void RunTasks(const std::vector<std::function<void()>>& tasks, int threads) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t task = next++; task < tasks.size(); task = next++) tasks[task]();
  };
  std::vector<std::thread> others;
  for (int t = 1; t < std::min<int>(threads, static_cast<int>(tasks.size())); ++t) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
}

}  // namespace

SolveRounds::SolveRounds(const ChoiceCore& core, std::optional<int64_t> upper, uint64_t seed, int threads)
    : core_(core),
      tightened_(WithRoundedRows(core)),
      graph_(core),
      dual_(tightened_),
      upper_(upper),
      bound_(core.constant),
      bound_before_(core.constant),
      seed_(seed),
      threads_(threads) {
  if (upper.has_value()) dual_.SetUpper(*upper);
  closed_ = dual_.closed();
}

void SolveRounds::RunBound(int64_t work, const std::function<bool()>& stop) {
  if (branches_ != nullptr) {
    branches_->Run(work, stop);
    return;
  }
  const int64_t until = dual_.work() + work;
  do {
    dual_.Step();
  } while (dual_.work() < until && !dual_.closed() && !stop());
}

void SolveRounds::Run(const std::function<bool()>& stop) {
  const int64_t growth = int64_t{1} << std::min(rounds_, 20);
  const int64_t bound_work = std::min(kBoundWork, kFirstWork * growth * 20);
  const int64_t search_work = std::min(kSearchWork, kFirstWork * growth);
  if (searchers_.empty()) {
    RunBound(bound_work, stop);
    AddSearcher();
    Merge();
    if (closed_) return;
  }
  guide_ = Guide();
  const CoreSolution known = best_;
  std::vector<std::function<void()>> tasks;
  if (branches_ != nullptr || idle_rounds_ < kIdleRounds || rounds_ % kBoundEvery == 0) {
    tasks.push_back([&] { RunBound(bound_work, stop); });
  }
  // Once searches have found nothing for long, the proof gets more of the cores.
  const bool quiet = branches_ != nullptr && quiet_rounds_ >= kQuietRounds;
  for (size_t k = 0; k < searchers_.size(); ++k) {
    if (quiet && k != static_cast<size_t>(rounds_) % searchers_.size()) continue;
    tasks.push_back([&, one = searchers_[k].get()] { one->Run(guide_, known, search_work, stop); });
  }
  RunTasks(tasks, threads_);
  ++rounds_;
  const std::optional<int64_t> before = upper_;
  Merge();
  quiet_rounds_ = upper_ == before ? quiet_rounds_ + 1 : 0;
  // Prices that are nearly those of the best bound are worth more searches.
  if (settled_rounds_ >= kSettledRounds && searchers_.size() < kSearchers) AddSearcher();
}

void SolveRounds::AddSearcher() {
  guide_ = Guide();
  const int index = static_cast<int>(searchers_.size());
  searchers_.push_back(std::make_unique<Searcher>(
      graph_, guide_, Start(), (core_.size() + 500) << (index + 1), seed_ * kSearchers + index));
}

void SolveRounds::Offer(const std::vector<int>& choice) {
  const int64_t cost = CoreCost(core_, choice);
  const bool is_better = !upper_.has_value() || cost < *upper_ || (!best_.found() && cost == *upper_);
  if (cost >= kForbidden || !is_better || !MemoryRows(core_, choice).Fits()) return;
  upper_ = cost;
  best_ = {choice, static_cast<double>(cost - core_.constant)};
}

void SolveRounds::Merge() {
  if (branches_ != nullptr && !branches_->best().empty()) Offer(branches_->best());
  for (const auto& searcher : searchers_) {
    if (searcher->best().found()) Offer(searcher->best().choice);
  }
  if (upper_.has_value()) dual_.SetUpper(*upper_);
  if (branches_ != nullptr) {
    if (upper_.has_value()) branches_->SetUpper(*upper_);
    bound_ = std::max(bound_, branches_->bound());
    closed_ = branches_->done();
  } else {
    bound_ = std::max(bound_, dual_.bound());
    closed_ = dual_.closed();
    const double better = static_cast<double>(bound_ - bound_before_);
    idle_rounds_ = better > 1e-4 * static_cast<double>(bound_) ? 0 : idle_rounds_ + 1;
    settled_rounds_ = better > 2e-3 * static_cast<double>(bound_) ? 0 : settled_rounds_ + 1;
    bound_before_ = bound_;
    size_t cells = 0;
    for (const CoreEdge& edge : core_.edges)
      cells += dual_.strategies()[edge.a].size() * dual_.strategies()[edge.b].size();
    if (!closed_ && idle_rounds_ >= kIdleRounds && cells <= kMostBranchCells) {
      branches_ = std::make_unique<BranchAndBound>(tightened_, dual_, upper_.value_or(kForbidden));
    }
  }
  if (upper_.has_value()) {
    if (closed_) bound_ = *upper_;
    bound_ = std::min(bound_, *upper_);
    closed_ = closed_ || bound_ == *upper_;
  }
}

SearchGuide SolveRounds::Guide() const {
  SearchGuide guide;
  guide.prices = dual_.UsagePrices();
  guide.price_sum = dual_.PriceSum();
  guide.gap = static_cast<double>(std::min(upper_.value_or(kForbidden), 2 * bound_ + 1) - bound_) + 1;
  for (int i = 0; i < core_.size(); ++i) {
    guide.excess.emplace_back(core_.strategies(i), SearchGraph::kImpossible);
    const std::vector<int>& left = dual_.strategies()[i];
    for (size_t s = 0; s < left.size(); ++s) guide.excess[i][left[s]] = dual_.excess()[i][s];
  }
  return guide;
}

// The strategies of the least excess, each beside those chosen before it.
std::vector<int> SolveRounds::Start() const {
  std::vector<int> choice(core_.size(), -1);
  for (int i = 0; i < core_.size(); ++i) {
    std::vector<double> costs = guide_.excess[i];
    for (const auto& [neighbour, edge] : core_.adjacent[i]) {
      if (choice[neighbour] < 0) continue;
      const double* row = graph_.Row(edge, neighbour, choice[neighbour]);
      for (size_t s = 0; s < costs.size(); ++s) costs[s] += row[s];
    }
    choice[i] = static_cast<int>(std::min_element(costs.begin(), costs.end()) - costs.begin());
  }
  return choice;
}

}  // namespace toroid
