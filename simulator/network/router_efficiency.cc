#include "simulator/network/router_efficiency.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

// How unlike two shapes are: factors of two in size and in longest over shortest axis, and axes that wrap in one alone.
double Distance(const BoxShape& a, const BoxShape& b) {
  const auto log_aspect = [](const BoxShape& s) {
    const auto [low, high] = std::minmax_element(s.chips.begin(), s.chips.end());
    return s.chips.empty() ? 0 : std::log2(static_cast<double>(*high) / static_cast<double>(*low));
  };
  const auto wraps = [](const BoxShape& s) {
    return s.chips.empty() ? 0.0
                           : static_cast<double>(std::count(s.far_wrap.begin(), s.far_wrap.end(), true)) /
                                 static_cast<double>(s.chips.size());
  };
  return std::abs(std::log2(static_cast<double>(a.total()) / static_cast<double>(b.total()))) +
         4 * std::abs(log_aspect(a) - log_aspect(b)) + 16 * std::abs(wraps(a) - wraps(b)) +
         (a.chips == b.chips ? 0 : 1e-3);
}

}  // namespace

int64_t BoxShape::total() const {
  int64_t product = 1;
  for (const int64_t n : chips) product = SaturatingMultiply(product, n);
  return product;
}

absl::StatusOr<RouterEfficiency> RouterEfficiency::Create(const RouterEfficiencyTable& table) {
  RouterEfficiency found;
  for (int i = 0; i < table.rows_size(); ++i) {
    const RouterEfficiencyTable::Row& row = table.rows(i);
    const std::string where = absl::StrCat("rows[", i, "]");
    if (row.chips().empty() || row.bytes_per_core() < 1 ||
        std::any_of(row.chips().begin(), row.chips().end(), [](int64_t n) { return n < 1; })) {
      return absl::InvalidArgumentError(absl::StrCat(where, ": chips and bytes_per_core must be 1 or more"));
    }
    if (!(row.efficiency() > 0 && row.efficiency() <= 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ".efficiency is ", row.efficiency(), "; it is more than 0 and at most 1"));
    }
    Curve curve;
    curve.pattern = row.pattern();
    for (int axis = 0; axis < row.chips_size(); ++axis) {
      if (row.chips(axis) == 1) continue;
      curve.shape.chips.push_back(row.chips(axis));
      curve.shape.far_wrap.push_back(axis < row.far_wrap_size() && row.far_wrap(axis));
    }
    auto same = std::find_if(found.curves_.begin(), found.curves_.end(), [&](const Curve& c) {
      return c.pattern == curve.pattern && c.shape.chips == curve.shape.chips &&
             c.shape.far_wrap == curve.shape.far_wrap;
    });
    if (same == found.curves_.end()) same = found.curves_.insert(same, curve);
    same->points.push_back({row.bytes_per_core(), row.efficiency()});
  }
  for (Curve& curve : found.curves_) {
    std::sort(curve.points.begin(), curve.points.end(),
              [](const Point& a, const Point& b) { return a.bytes < b.bytes; });
  }
  return found;
}

double RouterEfficiency::Find(absl::string_view pattern, const BoxShape& shape,
                              int64_t bytes_per_core) const {
  const Curve* nearest = nullptr;
  for (const Curve& curve : curves_) {
    if (curve.pattern != pattern) continue;
    if (nearest == nullptr || Distance(curve.shape, shape) < Distance(nearest->shape, shape))
      nearest = &curve;
  }
  if (nearest == nullptr || bytes_per_core < 1 || shape.chips.empty()) return 1;
  const std::vector<Point>& points = nearest->points;
  if (bytes_per_core <= points.front().bytes) {
    return points.front().efficiency * static_cast<double>(bytes_per_core) /
           static_cast<double>(points.front().bytes);
  }
  const auto above =
      std::find_if(points.begin(), points.end(), [&](const Point& p) { return p.bytes >= bytes_per_core; });
  if (above == points.end()) return points.back().efficiency;
  const Point &low = *(above - 1), &high = *above;
  const double part = std::log(static_cast<double>(bytes_per_core) / static_cast<double>(low.bytes)) /
                      std::log(static_cast<double>(high.bytes) / static_cast<double>(low.bytes));
  return low.efficiency + part * (high.efficiency - low.efficiency);
}

}  // namespace toroid
