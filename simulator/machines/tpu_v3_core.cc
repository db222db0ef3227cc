#include "simulator/machines/tpu_v3_core.h"

#include "hlo/base/status.h"
#include "simulator/machines/machine.h"

namespace toroid {

const CoreSpec& TpuV3Core(Rates rates) {
  const auto load = [](Rates of) {
    const absl::StatusOr<Machine> machine = LoadMachine("tpu-v3-8", of);
    TOROID_CHECK(machine.ok(), machine.status().ToString());
    return new CoreSpec(machine->family.core());
  };
  static const auto* compiler = load(Rates::kCompiler);
  static const auto* measured = load(Rates::kMeasured);
  return rates == Rates::kMeasured ? *measured : *compiler;
}

}  // namespace toroid
