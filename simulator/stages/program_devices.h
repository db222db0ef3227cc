// For how many devices a program is.
#ifndef TOROID_SIMULATOR_STAGES_PROGRAM_DEVICES_H_
#define TOROID_SIMULATOR_STAGES_PROGRAM_DEVICES_H_

#include <cstdint>

#include "hlo/analysis/device_groups.h"
#include "hlo/base/math.h"

namespace toroid {

// Replicas by partitions; 1 where the program does not say. Saturates.
inline int64_t DevicesOf(const DeviceCounts& counts) {
  return SaturatingMultiply(counts.replicas.value_or(1), counts.partitions.value_or(1));
}

}  // namespace toroid

#endif  // TOROID_SIMULATOR_STAGES_PROGRAM_DEVICES_H_
