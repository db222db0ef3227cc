#include "simulator/stages/simulate.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "hlo/analysis/device_groups.h"
#include "hlo/base/status.h"
#include "simulator/chip/chip_model.h"
#include "simulator/collectives/collective_simulator.h"
#include "simulator/compiler/lower.h"
#include "simulator/machines/router_tables.h"
#include "simulator/memory/memory_profile.h"
#include "simulator/prediction/build_prediction.h"
#include "simulator/prediction/collective_times.h"
#include "simulator/simple/lower_simply.h"
#include "simulator/simple/simple_core.h"
#include "simulator/stages/program_devices.h"

namespace toroid {
namespace {

double SlowestSpeed(const Machine& machine, absl::Span<const int64_t> core_of_device) {
  double slowest = 1;
  for (const SlowChip& chip : machine.slice.slow_chips()) {
    const bool runs = std::any_of(core_of_device.begin(), core_of_device.end(), [&](int64_t core) {
      return core / machine.family.cores_per_chip() == chip.chip();
    });
    if (runs) slowest = std::min(slowest, chip.speed());
  }
  return slowest;
}

std::unique_ptr<CoreModel> MakeCoreModel(const CoreSpec& core) {
  if (core.has_simple()) return std::make_unique<SimpleCore>(core);
  return std::make_unique<ChipModel>(core);
}

}  // namespace

absl::StatusOr<Simulation> Simulate(const Module& module, const SimulationOptions& options) {
  const DeviceCounts counts = DeviceCountsOf(module);
  const int64_t devices = DevicesOf(counts);
  const Machine& machine = options.machine;
  if (devices > machine.cores()) {
    return absl::InvalidArgumentError(absl::StrCat("the program is for ", devices, " devices, and ",
                                                   machine.slice.name(), " has ", machine.cores(), " cores"));
  }
  std::vector<int64_t> core_of_device = options.core_of_device;
  if (core_of_device.empty()) {
    core_of_device.resize(devices);
    std::iota(core_of_device.begin(), core_of_device.end(), int64_t{0});
  }
  if (static_cast<int64_t>(core_of_device.size()) != devices) {
    return absl::InvalidArgumentError(absl::StrCat("the device assignment names ", core_of_device.size(),
                                                   " cores, and the program is for ", devices, " devices"));
  }
  Simulation simulation;
  Decisions decisions;
  ASSIGN_OR_RETURN(simulation.lowered, machine.family.core().has_simple()
                                           ? LowerSimply(module, machine.family.core())
                                           : Lower(module, machine.family.core(), {}, &decisions));
  ASSIGN_OR_RETURN(
      std::unique_ptr<CollectiveSimulator> network,
      CollectiveSimulator::Create(machine.family.network(), machine.slice, machine.family.cores_per_chip(),
                                  RouterTableOf(machine.family.network()), std::move(core_of_device)));
  const std::unique_ptr<CoreModel> core = MakeCoreModel(machine.family.core());
  CollectiveTimes collectives(network.get(), counts);
  const double speed = SlowestSpeed(machine, network->core_of_device());
  const auto time_of = [&](const Instruction& op) -> absl::StatusOr<OpTime> {
    ASSIGN_OR_RETURN(const CollectiveTime* collective, collectives.Of(op));
    if (collective != nullptr) {
      const bool is_asynchronous = absl::c_linear_search(machine.family.network().asynchronous(),
                                                         CollectiveKindName(collective->kind));
      return OpTime{collective->estimate.time, true, is_asynchronous};
    }
    const int64_t picoseconds = core->TimeOf(op).picoseconds;
    // All wait for the slowest at the next collective.
    return OpTime{speed == 1 ? picoseconds : static_cast<int64_t>(static_cast<double>(picoseconds) / speed),
                  false};
  };
  ASSIGN_OR_RETURN(const Schedule schedule, ComputeSchedule(*simulation.lowered, time_of, options.schedule));
  ASSIGN_OR_RETURN(
      simulation.prediction,
      BuildPrediction({*simulation.lowered, machine, options.schedule, schedule, *core, collectives,
                       network->topology(), speed, FindSlots(module), decisions, options.keep_timeline}));
  simulation.prediction.module = module.name();
  simulation.prediction.machine = machine.slice.name();
  simulation.prediction.rates = std::string(RatesName(machine.rates));
  simulation.prediction.devices = devices;
  return simulation;
}

}  // namespace toroid
