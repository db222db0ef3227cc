#include "partitioner/choice/searcher.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace toroid {
namespace {

constexpr int kLargeRegion = 400;
constexpr int kSmallRegion = 40;
constexpr double kCooling = 0.83;    // The part of a cycle in which costs are disturbed.
constexpr double kRestartGap = 0.8;  // A gap this much smaller makes prices worth a new start.

}  // namespace

Searcher::Searcher(const SearchGraph& graph, const SearchGuide& guide, std::vector<int> start,
                   int priced_moves, uint64_t seed)
    : search_(graph, guide, seed),
      guide_(&guide),
      priced_(std::move(start)),
      gap_then_(guide.gap),
      patience_(std::clamp(graph.core->size(), 500, 4000)),
      priced_moves_(priced_moves) {
  search_.Start(priced_, true);
}

void Searcher::Run(const SearchGuide& guide, const CoreSolution& known, int64_t work,
                   const std::function<bool()>& stop) {
  guide_ = &guide;
  search_.SetGuide(guide);
  if (phase_ == Phase::kImprove && cycle_move_ >= cycle_length_ && guide.gap < kRestartGap * gap_then_) {
    gap_then_ = guide.gap;
    phase_ = Phase::kPriced;
    idle_ = 0;
    moves_ = 0;
  }
  if (phase_ == Phase::kPriced) search_.Start(search_.choice(), true);  // The prices are others now.
  const int64_t until = search_.work() + work;
  while (search_.work() < until && !stop()) {
    switch (phase_) {
      case Phase::kPriced:
        MovePriced();
        break;
      case Phase::kRepair:
        MoveRepair();
        break;
      case Phase::kImprove:
        MoveImprove(known);
        break;
    }
  }
}

void Searcher::MovePriced() {
  MoveSettings settings;
  settings.largest_region = kLargeRegion;
  const double before = search_.cost();
  search_.Move(settings);
  idle_ = search_.cost() < before - std::fabs(before) * 1e-6 ? 0 : idle_ + 1;
  if (idle_ < patience_ && ++moves_ < priced_moves_) return;
  priced_ = search_.choice();
  search_.Start(priced_, false);
  phase_ = Phase::kRepair;
}

void Searcher::MoveRepair() {
  if (!search_.feasible()) {
    MoveSettings settings;
    settings.largest_region = search_.random().Below(4) == 0 ? kLargeRegion : kSmallRegion;
    settings.price_factor = std::pow(2.0, 2 * search_.random().Uniform() - 1);
    search_.Move(settings);
  }
  if (!search_.feasible()) return;
  phase_ = Phase::kImprove;
  cycle_length_ = 2 * patience_;
  cycle_move_ = 0;
  amplitude_ = 0;
  Note();
}

void Searcher::Note() {
  if (search_.feasible() && (!best_.found() || search_.cost() < best_.cost))
    best_ = {search_.choice(), search_.cost()};
}

void Searcher::BeginCycle(const CoreSolution& known) {
  RandomNumbers& random = search_.random();
  use_known_ = known.found() && known.cost < best_.cost && random.Below(2) == 0;
  search_.Start(use_known_ ? known.choice : best_.choice, false);
  amplitude_ = std::max(guide_->gap, best_.cost * 1e-6) * std::pow(2.0, -6 * random.Uniform());
  temperature_ = amplitude_ / std::max<size_t>(1, best_.choice.size());
  cycle_length_ = patience_ * (1 << random.Below(4));
  cycle_move_ = 0;
}

void Searcher::MoveImprove(const CoreSolution& known) {
  if (cycle_move_ >= cycle_length_) BeginCycle(known);
  RandomNumbers& random = search_.random();
  MoveSettings settings;
  settings.largest_region = random.Below(4) == 0 ? kLargeRegion : kSmallRegion;
  settings.price_factor = random.Uniform() < 0.3 ? 0 : std::pow(2.0, 4 * random.Uniform() - 3);
  const double part = static_cast<double>(cycle_move_) / cycle_length_;
  if (amplitude_ > 0 && part < kCooling) {
    settings.level = (use_known_ ? known.cost : best_.cost) + amplitude_ * (1 - part / kCooling);
    temperature_ = search_.cost() < settings.level ? std::min(temperature_ * 1.02, amplitude_)
                                                   : std::max(temperature_ * 0.98, amplitude_ * 1e-6);
    settings.temperature = temperature_;
  }
  if (known.found() && random.Below(16) == 0 && known.choice != search_.choice())
    settings.partner = &known.choice;
  const double before = search_.cost();
  search_.Move(settings);
  ++cycle_move_;
  if (amplitude_ == 0 && search_.cost() < before)
    cycle_move_ = 0;  // The first descent goes on while it helps.
  Note();
}

}  // namespace toroid
