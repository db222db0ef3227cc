#include "commands/simulate_command.h"

#include <cstdio>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "commands/file_names.h"
#include "commands/nothing_sharded.h"
#include "commands/partition_on_demand.h"
#include "hlo/analysis/device_groups.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "hlo/base/terminal.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ir/edit.h"
#include "hlo/ops/verify_module.h"
#include "simulator/machines/machine.h"
#include "simulator/machines/tpu_v3_core.h"
#include "simulator/report/group_text.h"
#include "simulator/report/page.h"
#include "simulator/report/prediction_json.h"
#include "simulator/report/summary.h"
#include "simulator/report/sweep.h"
#include "simulator/report/trace.h"
#include "simulator/rules/rule.h"
#include "simulator/simple/kernel_costs.h"
#include "simulator/stages/place_devices.h"
#include "simulator/stages/program_devices.h"
#include "simulator/stages/simulate.h"

namespace toroid {
namespace {

constexpr char kDefaultFamily[] = "tpu-v3-";

int64_t DevicesOf(const Module& module) { return DevicesOf(DeviceCountsOf(module)); }

// The smallest slice of the default family with a core for each device.
absl::StatusOr<Machine> DefaultMachine(int64_t devices) {
  int64_t most = 0;
  for (const std::string& name : BuiltInSlices()) {
    if (!absl::StartsWith(name, kDefaultFamily)) continue;
    ASSIGN_OR_RETURN(Machine machine, LoadMachine(name));
    if (machine.cores() >= devices) return machine;
    most = std::max(most, machine.cores());
  }
  return absl::InvalidArgumentError(absl::StrCat("the program is for ", devices,
                                                 " devices, the largest TPU v3 slice has ", most,
                                                 " cores; name another with --machine"));
}

absl::Status SetParameters(const std::vector<std::string>& parameters, MachineFamily* family) {
  for (const std::string& text : parameters) {
    const size_t equals = text.find('=');
    double value = 0;
    if (equals == std::string::npos || !absl::SimpleAtod(text.substr(equals + 1), &value)) {
      return absl::InvalidArgumentError(absl::StrCat("--set ", text, ": give NAME=NUMBER"));
    }
    RETURN_IF_ERROR(SetParameter(text.substr(0, equals), value, family));
  }
  return absl::OkStatus();
}

// One run of the simulator over a module that was read.
class Run {
 public:
  Run(const SimulateCommand& command, const Module& module) : command_(command), module_(module) {}

  absl::StatusOr<Simulation> Simulate(bool keep_timeline) {
    ASSIGN_OR_RETURN(const Module* module, Program());
    SimulationOptions options;
    ASSIGN_OR_RETURN(options.machine, command_.machine.empty() ? DefaultMachine(DevicesOf(*module))
                                                               : LoadMachine(command_.machine));
    UseRates(command_.rates, &options.machine);
    RETURN_IF_ERROR(SetParameters(command_.parameters, &options.machine.family));
    CoreSpec& core = *options.machine.family.mutable_core();
    if (!command_.without_rules.empty() && !core.has_compiler())
      *core.mutable_compiler() = TpuV3Core().compiler();
    for (const std::string& rule : command_.without_rules) core.mutable_compiler()->add_without_rule(rule);
    ASSIGN_OR_RETURN(options.core_of_device,
                     PlaceDevices(command_.device_assignment, *module, options.machine));
    for (const std::string& text : command_.kernel_costs) {
      ASSIGN_OR_RETURN(KernelCost cost, ParseKernelCost(text));
      options.kernel_costs.push_back(std::move(cost));
    }
    options.schedule = command_.schedule;
    options.keep_timeline = keep_timeline;
    return toroid::Simulate(*module, options);
  }

 private:
  absl::StatusOr<const Module*> Program() {
    if (IsPartitioned(module_) || LooksPartitioned(module_) || IsProgramOfOneDevice(module_)) {
      if (!command_.given.empty()) return IsPartitionedAlready(command_.given);
      const int64_t asked = command_.options.num_partitions;
      if (asked > 0 && asked != DevicesOf(module_)) {
        return absl::InvalidArgumentError(
            absl::StrCat("is partitioned for ", DevicesOf(module_), " devices; leave --num_partitions out"));
      }
      return &module_;
    }
    const Module* module = &module_;
    if (!command_.given.empty()) {
      given_ = CloneModule(module_);
      RETURN_IF_ERROR(GiveShardings(command_.given, given_.get()));
      module = given_.get();
    }
    ASSIGN_OR_RETURN(partitioned_, PartitionOnDemand(*module, command_.options));
    if (partitioned_ == nullptr) return module;
    if (IsNothingCut(*partitioned_)) {
      std::fprintf(stderr, "%s\n", NothingShardedText(*module, command_.options.num_partitions).c_str());
    }
    return partitioned_.get();
  }

  const SimulateCommand& command_;
  const Module& module_;
  std::unique_ptr<Module> given_;  // module_ with what the command line gives; null if it gives nothing.
  std::shared_ptr<const Module> partitioned_;
};

absl::Status WriteReports(const SimulateCommand& command, const Simulation& simulation) {
  const Prediction& prediction = simulation.prediction;
  if (!command.json.empty()) {
    RETURN_IF_ERROR(WriteOutput(command.json, JsonText(PredictionJson(prediction), 1) + "\n"));
  }
  if (!command.trace.empty()) RETURN_IF_ERROR(WriteOutput(command.trace, TraceText(prediction)));
  if (!command.report.empty()) RETURN_IF_ERROR(WriteOutput(command.report, PageText(prediction)));
  if (!command.dump_lowered.empty()) {
    RETURN_IF_ERROR(WriteOutput(command.dump_lowered, PrintModule(*simulation.lowered)));
  }
  return absl::OkStatus();
}

// The command with the values of a sweep's point.
absl::StatusOr<SimulateCommand> AtPoint(const SimulateCommand& command, const std::vector<SweepAxis>& axes,
                                        const std::vector<std::string>& values) {
  SimulateCommand point = command;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].name == "machine") {
      point.machine = values[i];
    } else if (axes[i].name == "shard") {
      point.given.lines.push_back({values[i], ""});
    } else if (axes[i].name == "mesh") {
      ASSIGN_OR_RETURN(point.given.mesh, ParseAxisSizes(values[i]));
    } else if (axes[i].name == "num_partitions") {
      if (!absl::SimpleAtoi(values[i], &point.options.num_partitions) || point.options.num_partitions < 1) {
        return absl::InvalidArgumentError(
            absl::StrCat("num_partitions=", values[i], ": give a number of devices"));
      }
    } else if (axes[i].name == "device_assignment") {
      point.device_assignment = values[i];
    } else {
      point.parameters.push_back(absl::StrCat(axes[i].name, "=", values[i]));
    }
  }
  return point;
}

absl::Status RunSweepCommand(const SimulateCommand& command, const Module& module) {
  std::vector<SweepAxis> axes;
  for (const std::string& text : command.sweep) {
    absl::StatusOr<SweepAxis> axis = ParseSweepAxis(text);
    if (!axis.ok()) return Annotate(axis.status(), "--sweep");
    axes.push_back(*std::move(axis));
  }
  ASSIGN_OR_RETURN(const Sweep sweep,
                   RunSweep(axes, [&](const std::vector<std::string>& values) -> absl::StatusOr<Prediction> {
                     ASSIGN_OR_RETURN(const SimulateCommand point, AtPoint(command, axes, values));
                     ASSIGN_OR_RETURN(Simulation simulation,
                                      Run(point, module).Simulate(/*keep_timeline=*/false));
                     return std::move(simulation.prediction);
                   }));
  const std::string csv = SweepCsv(sweep);
  if (command.sweep_output.empty()) {
    std::fputs(csv.c_str(), stdout);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(WriteOutput(command.sweep_output + ".csv", csv));
  return WriteOutput(command.sweep_output + ".html", SweepPage(sweep));
}

bool PrintsToStandardOutput(const SimulateCommand& command) {
  return command.json == "-" || command.trace == "-" || command.report == "-" || command.dump_lowered == "-";
}

absl::Status RunOnFile(const SimulateCommand& command, HloFile& file) {
  RETURN_IF_ERROR(VerifyModule(*file.module));
  if (!command.sweep.empty()) return RunSweepCommand(command, *file.module);
  ASSIGN_OR_RETURN(const Simulation simulation,
                   Run(command, *file.module).Simulate(!command.trace.empty() || !command.report.empty()));
  RETURN_IF_ERROR(WriteReports(command, simulation));
  std::string text = SummaryText(simulation.prediction, OutputWidth());
  if (command.explain.has_value()) {
    ASSIGN_OR_RETURN(text, GroupsText(simulation.prediction, *command.explain));
  }
  if (!PrintsToStandardOutput(command)) std::fputs(text.c_str(), stdout);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunSimulateCommand(const SimulateCommand& command) {
  if (command.list_rules) return WriteOutput("-", RulesPage());
  ASSIGN_OR_RETURN(HloFile file, ReadHloFile(command.input));
  RETURN_IF_ERROR(Annotate(RunOnFile(command, file), NameOfInput(command.input)));
  PrintWarnings(file);
  return absl::OkStatus();
}

}  // namespace toroid
