// The prices of memory: how they move, and what they charge.
#include <algorithm>
#include <cmath>

#include "partitioner/choice/dual_ascent.h"

namespace toroid {
namespace {

constexpr int kPriceBits = 20;
constexpr double kMomentum = 0.95;
constexpr double kLargestStep = 0.05;  // Of the distance to the upper cost.
constexpr double kSmallestStep = 1e-5;
constexpr int kPatience = 30;
constexpr double kFar = 20;  // Steps below the best from which to go back: what momentum can add up to.

}  // namespace

std::vector<double> DualAscent::UsageAboveLimits(double distance) const {
  std::vector<double> above(core_->limits.size() + 1);
  std::vector<double> weight;
  for (int i = 0; i < core_->size(); ++i) {
    if (segments_[i].empty()) continue;
    weight.resize(Size(i));
    double sum = 0;
    for (int s = 0; s < Size(i); ++s) sum += weight[s] = std::exp(-excess_[i][s] / distance);
    for (const CoreSegment& segment : segments_[i]) {
      double usage = 0;
      for (int s = 0; s < Size(i); ++s) usage += weight[s] * static_cast<double>(segment.usages[s]);
      above[segment.begin] += usage / sum;
      above[segment.end] -= usage / sum;
    }
  }
  for (size_t r = 1; r < core_->limits.size(); ++r) above[r] += above[r - 1];
  above.pop_back();
  for (size_t r = 0; r < above.size(); ++r) above[r] -= static_cast<double>(core_->limits[r]);
  return above;
}

// Where steps fail, they and the temperature of the strategies counted become smaller; far below the best prices they start
// there again.
void DualAscent::AdaptStep(double value, double range) {
  if (value > best_value_) {
    best_value_ = value;
    best_prices_ = prices_;
    failures_ = 0;
    if (++successes_ > 5) {
      step_ = std::min(kLargestStep, step_ * 1.1);
      successes_ = 0;
    }
    return;
  }
  successes_ = 0;
  const bool far = value < best_value_ - range * std::max(kFar * step_, 0.01);
  if (++failures_ <= kPatience && !far) return;
  failures_ = 0;
  step_ *= 0.8;
  temperature_ = std::max(1e-6, temperature_ * 0.8);
  if (far) {
    prices_ = best_prices_;
    std::fill(velocity_.begin(), velocity_.end(), 0);
  }
  if (step_ < kSmallestStep) {
    step_ = 0.003;
    temperature_ = 1e-4;
  }
}

// A step along the usage above the limits, of the length that would raise the bound by step_ of the upper cost.
void DualAscent::UpdatePrices() {
  const double value = static_cast<double>(least_sum_ - limit_charge_);
  // A known solution may be very far away.
  const double near = 2 * std::fabs(std::max(value, best_value_)) + 2 * std::ldexp(1.0, std::max(scale_, 0));
  const double range = has_upper_ ? std::min(static_cast<double>(upper_) + 1, near) : near / 2;
  AdaptStep(value, range);
  const std::vector<double> above = UsageAboveLimits(std::ldexp(range * temperature_, -scale_));
  double square = 0;
  for (size_t r = 0; r < above.size(); ++r)
    square += above[r] > 0 || prices_[r] > 0 ? above[r] * above[r] : 0;
  const double length = square == 0 ? 0 : step_ * range / square;
  for (size_t r = 0; r < above.size(); ++r) {
    velocity_[r] = kMomentum * velocity_[r] + length * above[r];
    prices_[r] = std::max(0.0, prices_[r] + velocity_[r]);
  }
  if (!SetPrices(prices_)) {
    prices_ = best_prices_;
    std::fill(velocity_.begin(), velocity_.end(), 0);
    SetPrices(prices_);
  }
}

// Returns whether it did: false if the prices are too large for integers of 64 bits.
bool DualAscent::SetPrices(const std::vector<double>& prices) {
  std::vector<__int128> sums(prices.size() + 1);  // Of the rows before, in 2^-kPriceBits.
  const __int128 unit = __int128{1} << kPriceBits;
  __int128 charge = 0;
  double estimate = 0;
  for (size_t r = 0; r < prices.size(); ++r)
    estimate += prices[r] * (static_cast<double>(core_->limits[r]) + 1);
  if (!(estimate < static_cast<double>(kTotal / 2))) return false;
  for (size_t r = 0; r < prices.size(); ++r) {
    const __int128 price = static_cast<__int128>(std::ldexp(prices[r], kPriceBits));
    sums[r + 1] = sums[r] + price;
    charge += price * core_->limits[r];
  }
  limit_charge_ = static_cast<int64_t>(charge / unit + 1);
  for (int i = 0; i < core_->size(); ++i) {
    if (segments_[i].empty()) continue;
    least_sum_ -= Least(costs_[i]);
    for (int s = 0; s < Size(i); ++s) {
      __int128 charged = 0;
      for (const CoreSegment& segment : segments_[i])
        charged += (sums[segment.end] - sums[segment.begin]) * segment.usages[s];
      const int64_t rounded = static_cast<int64_t>(std::min<__int128>(charged / unit, kLargest));
      costs_[i][s] += rounded - charged_[i][s];
      charged_[i][s] = rounded;
    }
    least_sum_ += Least(costs_[i]);
  }
  return true;
}

std::vector<std::vector<double>> DualAscent::UsagePrices() const {
  std::vector<double> sums(best_prices_.size() + 1);
  for (size_t r = 0; r < best_prices_.size(); ++r)
    sums[r + 1] = sums[r] + std::ldexp(best_prices_[r], -scale_);
  std::vector<std::vector<double>> prices;
  for (int i = 0; i < core_->size(); ++i) {
    prices.emplace_back(core_->strategies(i), 0.0);
    for (const CoreSegment& segment : core_->segments[i]) {
      for (int s = 0; s < core_->strategies(i); ++s) {
        prices.back()[s] +=
            (sums[segment.end] - sums[segment.begin]) * static_cast<double>(segment.usages[s]);
      }
    }
  }
  return prices;
}

double DualAscent::PriceSum() const {
  double sum = 0;
  for (const double price : best_prices_) sum += std::ldexp(price, -scale_);
  return sum;
}

}  // namespace toroid
