// The core of TPU v3 as built in.
#ifndef TOROID_SIMULATOR_MACHINES_TPU_V3_CORE_H_
#define TOROID_SIMULATOR_MACHINES_TPU_V3_CORE_H_

#include "simulator/machines/core.pb.h"
#include "simulator/machines/machine.h"

namespace toroid {

// That of every slice of tpu_v3.textproto, where each value has its source.
const CoreSpec& TpuV3Core(Rates rates = Rates::kCompiler);

}  // namespace toroid

#endif  // TOROID_SIMULATOR_MACHINES_TPU_V3_CORE_H_
