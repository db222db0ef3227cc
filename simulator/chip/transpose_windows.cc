#include "simulator/chip/transpose_windows.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/base/math.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

// More than any machine's windows hold: the search stays short.
constexpr double kMostTiles = 1 << 16;
// Counts of windows along the other dimensions that are tried, beginning with the fewest: the search stays short.
constexpr int64_t kMostTried = 4;

class Search {
 public:
  Search(const TransposedArray& array, const CoreSpec& core)
      : array_(array),
        movement_(core.movement()),
        counts_(Thresholds()),
        lanes_(core.vector().lanes()),
        sublanes_(core.vector().sublanes()),
        budget_(static_cast<int64_t>(std::min(movement_.transpose_window_tiles(), kMostTiles))),
        window_(array.dims),
        is_inner_(array.dims.size()) {
    for (const Dims* order : {&array.before, &array.after}) {
      for (size_t i = 0; i < 2 && i < order->size(); ++i) {
        const bool is_row = i == 1;
        if (is_row && order == &array.after && array.rows_alone) continue;
        const int64_t d = (*order)[i];
        if (!is_inner_[d]) inner_.push_back({d, is_row ? sublanes_ : lanes_});
        if (!is_row)
          absl::c_find_if(inner_, [d](const Inner& inner) { return inner.dim == d; })->granule = lanes_;
        is_inner_[d] = true;
      }
    }
    for (size_t d = 0; d < array.dims.size(); ++d) {
      if (is_inner_[d]) continue;
      others_ *= array.dims[d];
      window_[d] = 1;
    }
  }

  double Run() {
    for (const Inner& inner : inner_) window_[inner.dim] = std::min(inner.granule, array_.dims[inner.dim]);
    Try(0, 1);
    return best_ < kNone ? best_ : smallest_;
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::max();
  struct Inner {
    int64_t dim;
    int64_t granule;  // Windows are cut along it in multiples of this.
  };

  // Tiles along the i-th dimension of an order.
  int64_t Granules(size_t i, int64_t size, bool rows_alone) const {
    return CeilOfRatio(size, i == 0 ? lanes_ : i == 1 && !rows_alone ? sublanes_ : 1);
  }
  int64_t Tiles(const Dims& order, bool rows_alone) const {
    int64_t tiles = 1;
    for (size_t i = 0; i < order.size(); ++i) tiles *= Granules(i, window_[order[i]], rows_alone);
    return tiles;
  }

  // Cycles for runs of one side, of whose windows each has so many tiles; of the other dimensions `together` elements pass at a
  // time.
  double Runs(const Dims& order, bool rows_alone, int64_t tiles, int64_t together) const {
    int64_t run = 1;
    bool is_cut = false, passes_together = false, has_several = false;
    for (size_t i = 0; i < order.size(); ++i) {
      const int64_t d = order[i], in_window = Granules(i, window_[d], rows_alone);
      const bool is_passed = !is_inner_[d] && together < others_;
      if (is_cut) {
        has_several |= is_passed ? !passes_together && together > 1 : in_window > 1;
      } else if (is_passed) {
        // Other dimensions as if they were one.
        run *= together;
        is_cut = passes_together = true;
      } else {
        run *= is_inner_[d] ? in_window : array_.dims[d];
        is_cut = is_inner_[d] && window_[d] < array_.dims[d];
      }
    }
    if (!has_several || run >= counts_.unbroken_run_tiles()) return 0;
    int64_t counted = 1;
    while (counted < counts_.longest_run_tiles() && 2 * counted <= run) counted *= 2;
    const double each =
        movement_.strided_run_cycles() * (counted < counts_.long_run_tiles() ? 1 : counts_.long_run_share());
    return each * static_cast<double>(tiles) / static_cast<double>(counted);
  }

  // Windows along the dimensions from `next` on, of one granule each so far; `windows` along those before.
  void Try(size_t next, int64_t windows) {
    const int64_t read = Tiles(array_.before, false), written = Tiles(array_.after, array_.rows_alone);
    if (next < inner_.size()) {
      const int64_t size = array_.dims[inner_[next].dim], granules = CeilOfRatio(size, inner_[next].granule);
      for (int64_t each = std::min(granules, budget_); each > 0;) {
        window_[inner_[next].dim] = std::min(size, each * inner_[next].granule);
        const int64_t count = CeilOfRatio(granules, each);
        if (each == 1 || Tiles(array_.before, false) + Tiles(array_.after, array_.rows_alone) <= budget_)
          Try(next + 1, windows * count);
        // The largest of which more are needed, all as large.
        each = each == 1 ? 0 : CeilOfRatio(granules, CeilOfRatio(granules, each - 1));
      }
      return;
    }
    const auto cycles = [&](int64_t together) {
      const auto n = static_cast<double>(windows * CeilOfRatio(others_, together)),
                 times = static_cast<double>(together);
      const double runs = Runs(array_.before, false, read, together) +
                          Runs(array_.after, array_.rows_alone, written, together);
      return n * (movement_.transpose_window_cycles() +
                  times * (movement_.transpose_cycles() * static_cast<double>(read + written) + runs));
    };
    const int64_t most = budget_ / (read + written);
    // Where lanes and rows of both sides are four dimensions the smallest window holds more.
    if (most < 1) {
      smallest_ = std::min(smallest_, cycles(1));
      return;
    }
    const int64_t fewest = CeilOfRatio(others_, most);
    for (int64_t n = fewest; n < fewest + kMostTried; ++n)
      best_ = std::min(best_, cycles(CeilOfRatio(others_, n)));
  }

  const TransposedArray& array_;
  const DataMovementSpec& movement_;
  const CompilerSpec& counts_;
  const int64_t lanes_, sublanes_, budget_;
  std::vector<Inner> inner_;  // Lanes and rows of either side.
  Dims window_;
  std::vector<bool> is_inner_;
  int64_t others_ = 1;                      // Elements along all other dimensions.
  double best_ = kNone, smallest_ = kNone;  // The latter of windows that hold too much.
};

}  // namespace

double CyclesOfTransposeWindows(const TransposedArray& array, const CoreSpec& core) {
  if (absl::c_linear_search(array.dims, 0)) return 0;
  return Search(array, core).Run();
}

}  // namespace toroid
