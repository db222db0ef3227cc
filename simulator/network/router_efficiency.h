// What waiting behind blocked packets leaves of a pattern's rate, looked up in a table computed at the packet level.
//
// A row is kept by pattern, shape of the slice and bytes per core. Between rows of one shape the logarithm of bytes
// interpolates; beyond the largest the last row holds; below the smallest the pattern takes as long as there, since
// packets and set-ups no longer shrink. A shape without rows uses those of the shape most like it: the number of chips,
// the ratio of longest to shortest axis, and whether messages wrap, in factors of two. Axes on switches are left out: a switch
// has room for all that links carry.
// Example: rows 0.70 at 8 MiB and 0.60 at 32 MiB: 0.65 at 16 MiB, 0.60 at 64 MiB, and at 4 MiB 0.35.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "simulator/machines/network.pb.h"

namespace toroid {

// Lengths and wraps of the axes of a box of chips, those of length 1 left out.
struct BoxShape {
  std::vector<int64_t> chips;
  std::vector<bool> far_wrap;

  int64_t total() const;
};

class RouterEfficiency {
 public:
  // Errors: kInvalidArgument for a row without chips, with sizes or bytes below 1, or an efficiency outside (0, 1].
  static absl::StatusOr<RouterEfficiency> Create(const RouterEfficiencyTable& table);

  // In (0, 1]; 1 if no row has the pattern, or the shape has no axis.
  double Find(absl::string_view pattern, const BoxShape& shape, int64_t bytes_per_core) const;

 private:
  struct Point {
    int64_t bytes;
    double efficiency;
  };
  struct Curve {
    std::string pattern;
    BoxShape shape;
    std::vector<Point> points;  // By bytes.
  };
  std::vector<Curve> curves_;
};

}  // namespace toroid
