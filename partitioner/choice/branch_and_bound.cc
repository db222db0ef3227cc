// BUILD: copts = ["-O3"]
#include "partitioner/choice/branch_and_bound.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace toroid {
namespace {

constexpr int kTrial = 20;  // Steps after which a part must have improved by kProgress of its gap.
constexpr double kProgress = 0.03;

// The node to split and its strategies in ascending order of what they cost with memory, so that a split parts those that use
// little from those that use much. The node is the one whose likely strategies differ most in the price of memory, or, without
// that, in cost.
struct Split {
  int node = -1;
  std::vector<int> first;
  std::vector<int> second;
};

Split ChooseSplit(const DualAscent& part, const std::vector<std::vector<double>>& prices, double gap) {
  Split split;
  double best = -1;
  for (size_t i = 0; i < part.strategies().size(); ++i) {
    const std::vector<int>& strategies = part.strategies()[i];
    if (strategies.size() < 2) continue;
    double sum = 0;
    double mean = 0;
    double square = 0;
    for (size_t s = 0; s < strategies.size(); ++s) {
      const double weight = std::exp(-8 * part.excess()[i][s] / gap);
      const double price = prices[i][strategies[s]];
      sum += weight;
      mean += weight * price;
      square += weight * price * price;
    }
    mean /= sum;
    const double spread = std::sqrt(std::max(0.0, square / sum - mean * mean)) + gap * 1e-3 * (1 - 1 / sum) +
                          gap * 1e-9 / static_cast<double>(strategies.size());
    if (spread <= best) continue;
    best = spread;
    split = {static_cast<int>(i), {}, {}};
    for (size_t s = 0; s < strategies.size(); ++s) {
      (prices[i][strategies[s]] <= mean ? split.first : split.second).push_back(static_cast<int>(s));
    }
    if (split.first.empty() ||
        split.second.empty()) {  // All of one price: the best strategy against the rest.
      const std::vector<double>& excess = part.excess()[i];
      const int least = static_cast<int>(std::min_element(excess.begin(), excess.end()) - excess.begin());
      split.first.assign(1, least);
      split.second.clear();
      for (int s = 0; s < static_cast<int>(strategies.size()); ++s) {
        if (s != least) split.second.push_back(s);
      }
    }
  }
  return split;
}

double LeastExcess(const DualAscent& part, int node, const std::vector<int>& positions) {
  double least = part.excess()[node][positions[0]];
  for (const int s : positions) least = std::min(least, part.excess()[node][s]);
  return least;
}

}  // namespace

BranchAndBound::BranchAndBound(const ChoiceCore& core, DualAscent root, int64_t upper)
    : core_(core), upper_(upper) {
  open_.push_back(std::make_unique<DualAscent>(std::move(root)));
}

void BranchAndBound::SetUpper(int64_t cost) { upper_ = std::min(upper_, cost); }

int64_t BranchAndBound::bound() const {
  int64_t bound = upper_;
  for (const auto& part : open_) bound = std::min(bound, part->bound());
  return bound;
}

void BranchAndBound::Run(int64_t work, const std::function<bool()>& stop) {
  const int64_t until = work_ + work;
  while (!open_.empty() && work_ < until && !stop()) {
    std::unique_ptr<DualAscent> part = std::move(open_.back());
    open_.pop_back();
    Explore(std::move(part), until, stop);
  }
}

void BranchAndBound::Explore(std::unique_ptr<DualAscent> part, int64_t until,
                             const std::function<bool()>& stop) {
  part->SetUpper(upper_);
  int64_t before = part->bound();
  for (int step = 1; !part->closed(); ++step) {
    if (work_ >= until || stop()) {
      open_.push_back(std::move(part));
      return;
    }
    const int64_t work = part->work();
    part->Step();
    work_ += part->work() - work + core_.size();
    if (part->closed()) break;
    const auto single = [](const std::vector<int>& strategies) { return strategies.size() == 1; };
    if (std::all_of(part->strategies().begin(), part->strategies().end(), single)) {
      if (!part->Fits()) break;
      Record(*part);
      break;
    }
    if (step % kTrial != 0) continue;
    const double gap = static_cast<double>(upper_ - before);
    if (static_cast<double>(part->bound() - before) < kProgress * gap) {
      Branch(std::move(part));
      break;
    }
    before = part->bound();
  }
  ++parts_;
}

void BranchAndBound::Branch(std::unique_ptr<DualAscent> part) {
  const double gap = std::max(1.0, static_cast<double>(upper_ - part->bound()));
  const Split split = ChooseSplit(*part, part->UsagePrices(), gap);
  const bool first_is_better =
      LeastExcess(*part, split.node, split.first) <= LeastExcess(*part, split.node, split.second);
  auto other = std::make_unique<DualAscent>(*part);
  other->Restrict(split.node, first_is_better ? split.second : split.first);
  part->Restrict(split.node, first_is_better ? split.first : split.second);
  other->Renew();
  part->Renew();
  open_.push_back(std::move(other));
  open_.push_back(std::move(part));
}

void BranchAndBound::Record(const DualAscent& part) {
  std::vector<int> choice;
  for (const std::vector<int>& strategies : part.strategies()) choice.push_back(strategies[0]);
  const int64_t cost = CoreCost(core_, choice);  // It fits: see DualAscent::Step.
  if (cost >= upper_) return;
  upper_ = cost;
  best_ = std::move(choice);
}

}  // namespace toroid
