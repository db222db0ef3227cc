// For how many devices a program is.
#pragma once

#include <cstdint>

#include "hlo/analysis/device_groups.h"
#include "hlo/base/math.h"

namespace toroid {

// Replicas by partitions; 1 where the program does not say. Saturates.
inline int64_t DevicesOf(const DeviceCounts& counts) {
  return SaturatingMultiply(counts.replicas.value_or(1), counts.partitions.value_or(1));
}

}  // namespace toroid
