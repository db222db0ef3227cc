// The core of TPU v3 as built in.
#pragma once

#include "simulator/machines/core.pb.h"
#include "simulator/machines/machine.h"

namespace toroid {

// That of every slice of tpu_v3.textproto, where each value has its source.
const CoreSpec& TpuV3Core(Rates rates = Rates::kCompiler);

}  // namespace toroid
