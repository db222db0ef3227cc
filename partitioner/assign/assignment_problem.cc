#include "partitioner/assign/assignment_problem.h"

namespace toroid {

AxisSet UsedAxes(absl::Span<const AxisList> factor_axes) {
  AxisSet used = 0;
  for (const AxisList& axes : factor_axes) used |= axes.Set();
  return used;
}

}  // namespace toroid
