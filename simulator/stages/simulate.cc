#include "simulator/stages/simulate.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "hlo/analysis/device_groups.h"
#include "hlo/analysis/memory_spaces.h"
#include "hlo/base/status.h"
#include "hlo/base/units.h"
#include "simulator/chip/chip_model.h"
#include "simulator/collectives/collective_simulator.h"
#include "simulator/compiler/lower.h"
#include "simulator/machines/router_tables.h"
#include "simulator/memory/memory_profile.h"
#include "simulator/prediction/build_prediction.h"
#include "simulator/prediction/collective_times.h"
#include "simulator/simple/lower_simply.h"
#include "simulator/simple/simple_core.h"
#include "simulator/stages/as_written.h"
#include "simulator/stages/program_devices.h"

namespace toroid {
namespace {

double SlowestSpeed(const Machine& machine, absl::Span<const int64_t> core_of_device) {
  const int64_t chips = machine.chips() / std::max<int64_t>(1, machine.slice.copies());
  double slowest = 1;
  for (const SlowChip& chip : machine.slice.slow_chips()) {
    const bool runs = std::any_of(core_of_device.begin(), core_of_device.end(), [&](int64_t core) {
      return core / machine.family.cores_per_chip() % chips == chip.chip();
    });
    if (runs) slowest = std::min(slowest, chip.speed());
  }
  return slowest;
}

// Copies between host and device, and how long they take.
class HostCopies {
 public:
  HostCopies(const Module& module, const Machine& machine)
      : spaces_(module), bytes_per_second_(machine.family.host().bytes_per_second()) {}

  // Errors: kInvalidArgument if the program has copies and the machine no rate for them.
  absl::Status Check(const Module& module, const Machine& machine) const {
    if (!spaces_.any_on_host() || bytes_per_second_ > 0) return absl::OkStatus();
    const HostTraffic traffic = ComputeHostTraffic(module, spaces_);
    if (traffic.to_host == 0 && traffic.to_device == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("the program copies ", traffic.to_host, " bytes to the host's memory and ",
                     traffic.to_device, " from it, and ", machine.family.name(),
                     " has no rate for them; take a machine whose file has host.bytes_per_second"));
  }

  // Nothing if `op` neither copies nor works on arrays of the host.
  std::optional<OpTime> TimeOf(const Instruction& op) const {
    if (!spaces_.any_on_host()) return std::nullopt;
    const HostTraffic traffic = spaces_.TrafficOf(op);
    const int64_t bytes = std::max(traffic.to_host, traffic.to_device);
    OpTime time;
    if (bytes == 0) {
      // A part of an array on the host is named, or written by the copy that brings it.
      const bool stays = spaces_.LeafBytesOn(true, op) > 0 && spaces_.LeafBytesOn(false, op) == 0;
      return stays ? std::optional<OpTime>(time) : std::nullopt;
    }
    time.picoseconds = PicosecondsOf(static_cast<double>(bytes) / bytes_per_second_);
    time.host_copy = traffic.to_host == bytes ? HostCopy::kToHost : HostCopy::kToDevice;
    return time;
  }

 private:
  const MemorySpaces spaces_;
  const double bytes_per_second_;
};

std::unique_ptr<CoreModel> MakeCoreModel(const CoreSpec& core) {
  if (core.has_simple()) return std::make_unique<SimpleCore>(core);
  return std::make_unique<ChipModel>(core);
}

}  // namespace

absl::StatusOr<Simulation> Simulate(const Module& module, const SimulationOptions& options) {
  const DeviceCounts counts = DeviceCountsOf(module);
  const int64_t devices = DevicesOf(counts);
  const Machine& machine = options.machine;
  RETURN_IF_ERROR(CheckHasCores(machine, devices));
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
  const CoreSpec& spec = machine.family.core();
  const bool is_as_written = IsWrittenByTpuCompiler(module);
  if (is_as_written) {
    ASSIGN_OR_RETURN(simulation.lowered, AsWritten(module));
  } else {
    ASSIGN_OR_RETURN(simulation.lowered,
                     spec.has_simple() ? LowerSimply(module, spec) : Lower(module, spec, {}, &decisions));
  }
  ASSIGN_OR_RETURN(
      std::unique_ptr<CollectiveSimulator> network,
      CollectiveSimulator::Create(machine.family.network(), machine.slice, machine.family.cores_per_chip(),
                                  RouterTableOf(machine.family.network()), std::move(core_of_device)));
  RETURN_IF_ERROR(CheckKernelCosts(options.kernel_costs, module));
  const auto core = std::make_unique<KernelCosts>(MakeCoreModel(spec), spec, options.kernel_costs);
  CollectiveTimes collectives(network.get(), counts);
  const double speed = SlowestSpeed(machine, network->core_of_device());
  const HostCopies host(*simulation.lowered, machine);
  RETURN_IF_ERROR(host.Check(*simulation.lowered, machine));
  const auto time_of = [&](const Instruction& op) -> absl::StatusOr<OpTime> {
    ASSIGN_OR_RETURN(const CollectiveTime* collective, collectives.Of(op));
    if (collective != nullptr) {
      const bool is_asynchronous = is_as_written
                                       ? StartsExchange(op)
                                       : absl::c_linear_search(machine.family.network().asynchronous(),
                                                               CollectiveKindName(collective->kind));
      return OpTime{collective->estimate.time, true, is_asynchronous};
    }
    if (const std::optional<OpTime> copy = host.TimeOf(op); copy.has_value()) return *copy;
    if (is_as_written) {
      if (const std::optional<OpTime> copy = OnChipCopyTime(op, spec); copy.has_value()) return *copy;
    }
    const int64_t picoseconds = core->TimeOf(op).picoseconds;
    // All wait for the slowest at the next collective.
    return OpTime{speed == 1 ? picoseconds : static_cast<int64_t>(static_cast<double>(picoseconds) / speed),
                  false};
  };
  ASSIGN_OR_RETURN(const Schedule schedule, ComputeSchedule(*simulation.lowered, time_of, options.schedule));
  // What the host costs is what the step is longer by than without its copies.
  const auto without_host = [&](const Instruction& op) -> absl::StatusOr<OpTime> {
    ASSIGN_OR_RETURN(const OpTime time, time_of(op));
    const bool is_host = time.host_copy == HostCopy::kToHost || time.host_copy == HostCopy::kToDevice;
    return is_host ? OpTime() : time;
  };
  ASSIGN_OR_RETURN(const Schedule in_device,
                   ComputeSchedule(*simulation.lowered, without_host, options.schedule));
  ASSIGN_OR_RETURN(
      simulation.prediction,
      BuildPrediction({*simulation.lowered, machine, options.schedule, schedule, *core, collectives,
                       network->topology(), speed, FindSlots(module), decisions, options.keep_timeline,
                       std::max<int64_t>(0, schedule.step_ps - in_device.step_ps)}));
  simulation.prediction.module = module.name();
  simulation.prediction.machine = machine.slice.name();
  simulation.prediction.rates = std::string(RatesName(machine.rates));
  simulation.prediction.devices = devices;
  return simulation;
}

}  // namespace toroid
