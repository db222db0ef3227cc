#include "simulator/machines/tpu_v3_core.h"

#include "hlo/base/status.h"
#include "simulator/machines/machine.h"

namespace toroid {

const CoreSpec& TpuV3Core() {
  static const auto* core = [] {
    const absl::StatusOr<Machine> machine = LoadMachine("tpu-v3-8");
    TOROID_CHECK(machine.ok(), machine.status().ToString());
    return new CoreSpec(machine->family.core());
  }();
  return *core;
}

}  // namespace toroid
