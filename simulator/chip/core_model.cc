#include "simulator/chip/core_model.h"

namespace toroid {

absl::string_view BoundName(Bound bound) {
  switch (bound) {
    case Bound::kNothing:
      return "";
    case Bound::kMatrix:
      return "matrix";
    case Bound::kVector:
      return "vector";
    case Bound::kMemory:
      return "memory";
    case Bound::kMovement:
      return "movement";
    case Bound::kLatency:
      return "latency";
  }
  return "";
}

double PeakMatrixFlopsPerSecond(const CoreSpec& core) {
  const auto tile = static_cast<double>(core.matrix().tile());
  return 2 * tile * tile * static_cast<double>(core.matrix().units()) * core.clock_hertz();
}

double StreamBytesPerSecond(const CoreSpec& core) {
  return core.memory().bytes_per_second() * core.memory().stream_efficiency();
}

}  // namespace toroid
