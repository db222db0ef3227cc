#include "simulator/stages/simulate.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/analysis/device_groups.h"
#include "hlo/analysis/memory_spaces.h"
#include "hlo/analysis/peak_memory.h"
#include "hlo/analysis/source_frames.h"
#include "hlo/analysis/work.h"
#include "hlo/base/status.h"
#include "hlo/io/hlo_text_names.h"
#include "hlo/ir/cause_attribute.h"
#include "simulator/chip/chip_model.h"
#include "simulator/chip/matrix_work.h"
#include "simulator/chip/op_class.h"
#include "simulator/collectives/collective_simulator.h"
#include "simulator/compiler/lower.h"
#include "simulator/compiler/memory/rematerialization_pass.h"
#include "simulator/machines/router_tables.h"
#include "simulator/memory/memory_profile.h"
#include "simulator/memory/temporaries.h"
#include "simulator/program/tiling.h"
#include "simulator/stages/collective_times.h"
#include "simulator/stages/program_devices.h"

namespace toroid {
namespace {

// A timeline with more events is slow to draw and no clearer.
constexpr size_t kMostEvents = 50000;
constexpr size_t kMostValuesAtPeak = 100;

// Of the op that a group is named after, if it has any.
const xla::OpMetadata* MetadataOf(const Instruction& group) {
  const xla::OpMetadata* metadata = MainOpOf(group).metadata();
  return metadata != nullptr ? metadata : group.metadata();
}

std::string OpNameOf(const Instruction& instruction) {
  const xla::OpMetadata* metadata = MetadataOf(instruction);
  return metadata == nullptr ? "" : metadata->op_name();
}

// The array that is leaf `leaf` of a value of this shape; appends where it stands to `name`: "name{1}{0}".
const Shape& LeafOf(const Shape& shape, int64_t leaf, std::string* name) {
  const Shape* at = &shape;
  while (at->IsTuple()) {
    const Shape* element = nullptr;
    for (size_t i = 0; element == nullptr && i < at->tuple_shapes().size(); ++i) {
      const int64_t leaves = at->tuple_shape(i).NumLeaves();
      if (leaf < leaves) {
        absl::StrAppend(name, "{", i, "}");
        element = &at->tuple_shape(i);
      } else {
        leaf -= leaves;
      }
    }
    if (element == nullptr) break;
    at = element;
  }
  return *at;
}

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

class Simulator {
 public:
  Simulator(const Module& lowered, const SimulationOptions& options,
            std::unique_ptr<CollectiveSimulator> network, const DeviceCounts& counts, std::vector<bool> slots)
      : module_(lowered),
        frames_(lowered),
        slots_(std::move(slots)),
        names_(lowered),
        options_(options),
        chip_(options.machine.family.core()),
        network_(std::move(network)),
        collectives_(network_.get(), counts),
        speed_(SlowestSpeed(options.machine, network_->core_of_device())) {}

  absl::StatusOr<Prediction> Run() {
    const OpTimes times = [&](const Instruction& op) { return TimeOf(op); };
    ASSIGN_OR_RETURN(schedule_, ComputeSchedule(module_, times, options_.schedule));
    prediction_.step_ps = schedule_.step_ps;
    prediction_.overlap = options_.schedule.overlap;
    RETURN_IF_ERROR(AddRows());
    AddNetwork();
    AddMemory();
    if (options_.keep_timeline) {
      AddEvents(*module_.entry(), 0);
      std::stable_sort(
          prediction_.events.begin(), prediction_.events.end(),
          [](const PredictedEvent& a, const PredictedEvent& b) { return a.start_ps < b.start_ps; });
    }
    for (const Instruction* loop : schedule_.unknown_loops) {
      prediction_.notes.push_back(absl::StrCat("the program does not show how long the loop ", loop->Path(),
                                               " runs: ", options_.schedule.unknown_trip_count,
                                               " trips are assumed"));
    }
    AddNotesOnCustomCalls();
    const CoreSpec& core = options_.machine.family.core();
    prediction_.bytes_per_second = core.memory().bytes_per_second();
    prediction_.flops_per_second = PeakMatrixFlopsPerSecond(core);
    return std::move(prediction_);
  }

 private:
  absl::StatusOr<OpTime> TimeOf(const Instruction& op) {
    ASSIGN_OR_RETURN(const CollectiveTime* collective, collectives_.Of(op));
    if (collective != nullptr) return OpTime{collective->estimate.time, true};
    const int64_t picoseconds = chip_.TimeOf(op).picoseconds;
    // All wait for the slowest at the next collective.
    return OpTime{speed_ == 1 ? picoseconds : static_cast<int64_t>(static_cast<double>(picoseconds) / speed_),
                  false};
  }

  // A row for each op that takes time; costliest first.
  absl::Status AddRows() {
    std::map<std::string, double> classes;
    double roofline = 0;
    std::vector<std::pair<double, const Instruction*>> groups, collectives;
    for (const ComputationSchedule& computation : schedule_.computations) {
      for (const ScheduledOp& op : computation.ops) {
        if (op.end_ps == op.start_ps || HasBody(*op.instruction)) continue;
        const double all = computation.executions * static_cast<double>(op.end_ps - op.start_ps);
        classes[std::string(OpClassOf(*op.instruction))] += all;
        executions_[op.instruction] = computation.executions;
        (op.is_communication ? collectives : groups).push_back({all, op.instruction});
      }
    }
    const auto costlier = [](const auto& a, const auto& b) { return a.first > b.first; };
    std::stable_sort(groups.begin(), groups.end(), costlier);
    std::stable_sort(collectives.begin(), collectives.end(), costlier);
    for (const auto& [all, op] : groups) {
      row_[op] = static_cast<int>(prediction_.groups.size());
      prediction_.groups.push_back(GroupRow(*op));
      roofline += executions_[op] * static_cast<double>(prediction_.groups.back().roofline_ps);
    }
    for (const auto& [all, op] : collectives) {
      row_[op] = static_cast<int>(prediction_.collectives.size());
      ASSIGN_OR_RETURN(PredictedCollective row, CollectiveRow(*op));
      roofline += row.executions * static_cast<double>(row.roofline_ps);
      prediction_.collectives.push_back(std::move(row));
    }
    prediction_.roofline_ps = static_cast<int64_t>(std::min(roofline, 9e18));
    double compute = 0;
    for (const auto& [all, op] : groups) compute += all;
    if (schedule_.step_ps > 0) {
      prediction_.communication_share = std::max(0.0, 1 - compute / static_cast<double>(schedule_.step_ps));
    }
    for (const auto& [name, picoseconds] : classes) prediction_.breakdown.push_back({name, picoseconds});
    std::stable_sort(prediction_.breakdown.begin(), prediction_.breakdown.end(),
                     [](const auto& a, const auto& b) { return a.picoseconds > b.picoseconds; });
    return absl::OkStatus();
  }

  // What a target computes is not known here, so it takes as long as reading its operands and writing its result.
  void AddNotesOnCustomCalls() {
    std::map<std::string, int64_t> calls;
    for (const auto& [op, row] : row_) {
      const Instruction& main = MainOpOf(*op);
      if (main.opcode() == Opcode::kCustomCall) ++calls[std::string(main.custom_call_target())];
    }
    for (const auto& [target, count] : calls) {
      prediction_.notes.push_back(
          absl::StrCat("what the custom call ", target, " (", count,
                       " times in the program) computes is not known: only its bytes are counted"));
    }
  }

  // As the printed module has it: lowering makes many instructions of one name.
  std::string NameOf(const Instruction& op) const {
    return absl::StrCat(names_(*op.computation()), "/", names_(op));
  }

  static bool HasBody(const Instruction& op) {
    return HasTrait(op.opcode(), kRunsBody) && !op.called().empty();
  }

  PredictedGroup GroupRow(const Instruction& op) {
    const GroupTime& time = chip_.TimeOf(op);
    PredictedGroup row;
    row.instruction = NameOf(op);
    row.opcode = std::string(op.opcode_name());
    row.op_class = std::string(OpClassOf(op));
    row.bound = std::string(BoundName(time.bound));
    row.source = frames_.LineOf(MetadataOf(op));
    row.op_name = OpNameOf(op);
    row.picoseconds = static_cast<int64_t>(static_cast<double>(time.picoseconds) / speed_);
    row.roofline_ps = time.roofline_picoseconds;
    row.executions = executions_[&op];
    row.flops = static_cast<int64_t>(std::min(time.flops, 9e18));
    row.bytes = static_cast<int64_t>(std::min(time.bytes, 9e18));
    AddParts(op, time.product_cycles, &row);
    return row;
  }

  // Of groups with several products; what they share is divided as their own cycles are.
  static void AddParts(const Instruction& group, const std::vector<double>& product_cycles,
                       PredictedGroup* row) {
    if (product_cycles.size() < 2) return;
    const double all = std::accumulate(product_cycles.begin(), product_cycles.end(), 0.0);
    const Computation& inside = *group.called(0);
    size_t next = 0;
    for (int i = inside.size() - 1; i >= 0 && next < product_cycles.size(); --i) {
      const Instruction* product = inside.instruction(i);
      if (!IsMatrixOp(product->opcode()) || product->num_operands() < 2) continue;
      row->parts.push_back({OpNameOf(*product), static_cast<int64_t>(static_cast<double>(row->picoseconds) *
                                                                     product_cycles[next++] / all)});
    }
  }

  absl::StatusOr<PredictedCollective> CollectiveRow(const Instruction& op) {
    ASSIGN_OR_RETURN(const CollectiveTime* time, collectives_.Of(op));
    PredictedCollective row;
    row.instruction = NameOf(op);
    row.kind = std::string(CollectiveKindName(time->kind));
    row.algorithm = time->estimate.algorithm;
    row.source = frames_.LineOf(op.metadata());
    row.op_name = OpNameOf(op);
    if (const std::string* cause = op.FrontendAttribute(kCauseAttribute)) row.cause = *cause;
    row.picoseconds = time->estimate.time;
    row.roofline_ps = time->roofline_ps;
    row.executions = executions_[&op];
    row.bytes = time->bytes;
    if (options_.keep_timeline) row.link_load = LinkLoad(*time);
    return row;
  }

  // Collectives with the same traffic share a pattern.
  int LinkLoad(const CollectiveTime& time) {
    if (time.estimate.link_bytes_per_byte == nullptr || time.estimate.time == 0) return -1;
    const auto key = std::make_pair(time.estimate.link_bytes_per_byte.get(), time.bytes);
    const auto [found, is_new] =
        patterns_.try_emplace(key, static_cast<int>(prediction_.network.link_loads.size()));
    if (!is_new) return found->second;
    const Topology& topology = network_->topology();
    std::vector<float> loads(topology.link_ids(), -1);
    for (int64_t link = 0; link < topology.link_ids(); ++link) {
      if (!topology.Exists(link) || topology.Dead(link)) continue;
      loads[link] = static_cast<float>(time.estimate.LinkBytes(link) / topology.LinkRate(link) /
                                       (static_cast<double>(time.estimate.time) * 1e-12));
    }
    prediction_.network.link_loads.push_back(std::move(loads));
    return found->second;
  }

  void AddNetwork() {
    const Topology& topology = network_->topology();
    PredictedNetwork& network = prediction_.network;
    for (const TopologyAxis& axis : topology.axes()) {
      network.axes.push_back(axis.size);
      network.wrap.push_back(axis.wrap);
      network.far_wrap.push_back(axis.far_wrap);
    }
    network.cores_per_chip = topology.cores_per_chip();
    // Patterns of equal traffic per byte are added up first: there are few of them.
    std::map<const std::vector<double>*, double> bytes;
    for (const auto& [op, row] : row_) {
      const auto time = collectives_.Of(*op);
      if (!time.ok() || *time == nullptr) continue;
      bytes[(*time)->estimate.link_bytes_per_byte.get()] += executions_[op] * (*time)->estimate.payload;
    }
    std::vector<double> seconds(topology.link_ids(), 0);
    for (const auto& [pattern, payload] : bytes) {
      if (pattern == nullptr) continue;
      for (int64_t link = 0; link < topology.link_ids(); ++link) {
        if ((*pattern)[link] > 0) seconds[link] += (*pattern)[link] * payload / topology.LinkRate(link);
      }
    }
    const double step = static_cast<double>(schedule_.step_ps) * 1e-12;
    if (step == 0 || topology.LiveLinks() == 0) return;
    network.max_utilization = *std::max_element(seconds.begin(), seconds.end()) / step;
    network.mean_utilization = std::accumulate(seconds.begin(), seconds.end(), 0.0) / step /
                               static_cast<double>(topology.LiveLinks());
  }

  void AddMemory() {
    const Tiling tiling{options_.machine.family.core().vector().sublanes(),
                        options_.machine.family.core().vector().lanes()};
    const ArraySize size = PaddedSize(tiling);
    const MemoryProfile profile = ProfileMemory(module_, schedule_, slots_, &size);
    PredictedMemory& memory = prediction_.memory;
    memory.capacity = options_.machine.family.core().memory_bytes();
    memory.parameters = profile.bytes(MemoryClass::kParameter);
    memory.slots = profile.bytes(MemoryClass::kSlot);
    memory.state = profile.bytes(MemoryClass::kState) + memory.slots;
    memory.activations = profile.bytes(MemoryClass::kActivation);
    memory.workspace = profile.bytes(MemoryClass::kWorkspace);
    memory.peak = profile.peak_bytes;
    const MemoryNeeds needs = ComputeMemoryNeeds(module_, &size);
    memory.temporary = needs.temporary;
    memory.allocated = needs.All();
    memory.host_peak = ComputeHostPeakMemory(module_).bytes;
    const HostTraffic traffic = ComputeHostTraffic(module_, MemorySpaces(module_));
    memory.to_host = traffic.to_host;
    memory.to_device = traffic.to_device;
    AddNoteOnRematerialization();
    if (profile.peak_at != nullptr) memory.peak_at = NameOf(*profile.peak_at);
    for (size_t i = 0; i < std::min(profile.at_peak.size(), kMostValuesAtPeak); ++i) {
      const MemoryProfile::Value& value = profile.at_peak[i];
      std::string name = NameOf(*value.maker);
      const Shape& array = LeafOf(value.maker->shape(), value.leaf, &name);
      memory.largest.push_back(
          {std::move(name), array.ToString(), std::string(MemoryClassName(value.memory_class)),
           frames_.LineOf(value.maker->metadata()), OpNameOf(*value.maker), value.bytes});
    }
    for (const MemoryProfile::Sample& sample : profile.samples) {
      memory.samples.push_back({sample.start_ps, sample.by_class});
    }
  }

  void AddNoteOnRematerialization() {
    int64_t again = 0;
    double picoseconds = 0;
    for (const ScheduledOp& op : schedule_.computations[module_.entry()->index()].ops) {
      if (!absl::EndsWith(op.instruction->name(), kRematerializedSuffix)) continue;
      ++again;
      picoseconds += static_cast<double>(op.end_ps - op.start_ps);
    }
    if (again == 0) return;
    prediction_.notes.push_back(absl::StrCat(again, " values are made a second time (",
                                             absl::SixDigits(picoseconds * 1e-9),
                                             " ms), for the program does not fit into memory otherwise"));
  }

  // Events of one run of a computation that begins at `start`.
  void AddEvents(const Computation& computation, int64_t start) {
    for (const ScheduledOp& op : schedule_.computations[computation.index()].ops) {
      if (prediction_.events.size() >= kMostEvents) {
        prediction_.events_truncated = true;
        return;
      }
      if (!HasBody(*op.instruction)) {
        if (op.end_ps == op.start_ps) continue;
        prediction_.events.push_back({start + op.start_ps, op.end_ps - op.start_ps,
                                      op.is_communication ? Stream::kCommunication : Stream::kCompute,
                                      row_.at(op.instruction)});
      } else {
        AddBodies(op, start + op.start_ps);
      }
    }
  }

  void AddBodies(const ScheduledOp& op, int64_t start) {
    const auto called = op.instruction->called();
    if (op.instruction->opcode() == Opcode::kConditional) {
      const auto costliest = std::max_element(
          called.begin(), called.end(),
          [&](const Computation* a, const Computation* b) { return DurationOf(*a) < DurationOf(*b); });
      AddEvents(**costliest, start);
      return;
    }
    int64_t iteration = 0;
    for (const Computation* callee : called) iteration += DurationOf(*callee);
    for (int64_t trip = 0; trip < op.trips && iteration > 0; ++trip) {
      if (prediction_.events.size() >= kMostEvents) {
        prediction_.events_truncated = true;
        return;
      }
      int64_t at = start + trip * iteration;
      // The condition of a loop is its second computation, and runs first.
      for (size_t i = called.size(); i-- > 0;) {
        AddEvents(*called[i], at);
        at += DurationOf(*called[i]);
      }
    }
  }

  int64_t DurationOf(const Computation& computation) const {
    return schedule_.computations[computation.index()].duration_ps;
  }

  const Module& module_;
  SourceFrames frames_;
  const std::vector<bool> slots_;  // Of module_'s parameters.
  const TextNames names_;
  const SimulationOptions& options_;
  ChipModel chip_;
  std::unique_ptr<CollectiveSimulator> network_;
  CollectiveTimes collectives_;
  const double speed_;  // Of the slowest chip that runs the program.
  Schedule schedule_;
  std::map<const Instruction*, double> executions_;
  std::map<const Instruction*, int> row_;
  std::map<std::pair<const std::vector<double>*, int64_t>, int> patterns_;
  Prediction prediction_;
};

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
  ASSIGN_OR_RETURN(simulation.lowered, Lower(module, machine.family.core()));
  ASSIGN_OR_RETURN(
      std::unique_ptr<CollectiveSimulator> network,
      CollectiveSimulator::Create(machine.family.network(), machine.slice, machine.family.cores_per_chip(),
                                  RouterTableOf(machine.family.network()), std::move(core_of_device)));
  ASSIGN_OR_RETURN(
      simulation.prediction,
      Simulator(*simulation.lowered, options, std::move(network), counts, FindSlots(module)).Run());
  simulation.prediction.module = module.name();
  simulation.prediction.machine = machine.slice.name();
  simulation.prediction.rates = std::string(RatesName(machine.rates));
  simulation.prediction.devices = devices;
  return simulation;
}

}  // namespace toroid
