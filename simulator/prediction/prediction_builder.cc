#include "simulator/prediction/prediction_builder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "hlo/analysis/work.h"
#include "hlo/base/status.h"
#include "hlo/ir/cause_attribute.h"
#include "simulator/chip/op_class.h"
#include "simulator/simple/kernel_body.h"
#include "simulator/simple/kernel_costs.h"

namespace toroid {
namespace {

// Of the op that a group is named after, if it has any.
const xla::OpMetadata* MetadataOf(const Instruction& group) {
  const xla::OpMetadata* metadata = MainOpOf(group).metadata();
  return metadata != nullptr ? metadata : group.metadata();
}

}  // namespace

std::string OpNameOf(const Instruction& instruction) {
  const xla::OpMetadata* metadata = MetadataOf(instruction);
  return metadata == nullptr ? "" : metadata->op_name();
}

bool HasBody(const Instruction& op) {
  return HasTrait(op.opcode(), kRunsBody) && op.opcode() != Opcode::kAsyncStart && !op.called().empty();
}

absl::StatusOr<Prediction> PredictionBuilder::Build() {
  prediction_.step_ps = schedule_.step_ps;
  prediction_.overlap = inputs_.options.overlap;
  RETURN_IF_ERROR(AddRows());
  AddNetwork();
  AddMemory();
  if (inputs_.keep_timeline) {
    AddEvents(*module_.entry(), 0);
    std::stable_sort(
        prediction_.events.begin(), prediction_.events.end(),
        [](const PredictedEvent& a, const PredictedEvent& b) { return a.start_ps < b.start_ps; });
  }
  AddNotes();
  const CoreSpec& core = inputs_.machine.family.core();
  prediction_.bytes_per_second = core.memory().bytes_per_second();
  prediction_.flops_per_second = PeakMatrixFlopsPerSecond(core);
  return std::move(prediction_);
}

absl::Status PredictionBuilder::AddRows() {
  std::map<std::string, double> classes;
  std::map<HostCopy, double> of_copies;
  double roofline = 0, communication = 0, host = 0;
  std::vector<std::pair<double, const Instruction*>> groups, collectives;
  for (const ComputationSchedule& computation : schedule_.computations) {
    for (const ScheduledOp& op : computation.ops) {
      if (op.end_ps == op.start_ps || HasBody(*op.instruction)) continue;
      const double all = computation.executions * static_cast<double>(op.end_ps - op.start_ps);
      classes[op.host_copy == HostCopy::kNone ? std::string(OpClassOf(*op.instruction))
                                              : NameOf(op.host_copy)] += all;
      executions_[op.instruction] = computation.executions;
      if (op.host_copy != HostCopy::kNone) {
        host_copies_[op.instruction] = op.host_copy;
        copy_ps_[op.instruction] = op.end_ps - op.start_ps;
        if (op.host_copy != HostCopy::kToChip) host += all;
      }
      if (op.is_communication) communication += all;
      const bool computes = !op.is_communication && op.host_copy == HostCopy::kNone;
      (computes ? groups : collectives).push_back({all, op.instruction});
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
    // Copies to and from memory of the host or on the chip run beside all else, each kind on its own.
    const auto copy = host_copies_.find(op);
    double& stream = copy == host_copies_.end() ? roofline : of_copies[copy->second];
    stream += row.executions * static_cast<double>(row.roofline_ps);
    prediction_.collectives.push_back(std::move(row));
  }
  for (const auto& [kind, picoseconds] : of_copies) roofline = std::max(roofline, picoseconds);
  prediction_.roofline_ps = static_cast<int64_t>(std::min(roofline, 9e18));
  double compute = 0;
  for (const auto& [all, op] : groups) compute += all;
  const auto in_step = [](double picoseconds) { return static_cast<int64_t>(std::min(picoseconds, 9e18)); };
  prediction_.communication_ps = in_step(communication);
  prediction_.host_ps = in_step(host);
  prediction_.exposed_host_ps = inputs_.exposed_host_ps;
  const double in_device = static_cast<double>(schedule_.step_ps - inputs_.exposed_host_ps);
  // The core may also wait for copies to the chip.
  const double exposed = std::min(communication, std::max(0.0, in_device - compute));
  prediction_.exposed_communication_ps = in_step(exposed);
  if (schedule_.step_ps > 0) {
    prediction_.communication_share = exposed / static_cast<double>(schedule_.step_ps);
  }
  for (const auto& [name, picoseconds] : classes) prediction_.breakdown.push_back({name, picoseconds});
  std::stable_sort(prediction_.breakdown.begin(), prediction_.breakdown.end(),
                   [](const auto& a, const auto& b) { return a.picoseconds > b.picoseconds; });
  return absl::OkStatus();
}

void PredictionBuilder::AddNotes() {
  AddNoteOnRematerialization();
  for (const Instruction* loop : schedule_.unknown_loops) {
    prediction_.notes.push_back(absl::StrCat("the program does not show how long the loop ", loop->Path(),
                                             " runs: ", inputs_.options.unknown_trip_count,
                                             " trips are assumed"));
  }
  AddNotesOnCustomCalls();
  for (const auto& [name, times] : inputs_.decisions.limits) {
    prediction_.notes.push_back(
        absl::StrCat("the search of ", name, " was cut short ", times, times == 1 ? " time" : " times"));
  }
}

void PredictionBuilder::AddNotesOnCustomCalls() {
  std::map<std::string, int64_t> by_bytes;
  std::map<std::pair<std::string, std::string>, int64_t> by_estimate;
  for (const auto& [op, row] : row_) {
    if (host_copies_.contains(op)) continue;
    const Instruction& main = MainOpOf(*op);
    if (main.opcode() != Opcode::kCustomCall) continue;
    const GroupTime& time = inputs_.core.TimeOf(*op);
    const std::string name = KernelNameOf(main);
    if (time.kernel_cost == KernelCostSource::kEstimate) {
      ++by_estimate[{name, absl::StrCat(time.flops, " flops and ", time.bytes, " bytes")}];
    } else if (time.kernel_cost == KernelCostSource::kBytes) {
      const bool has_no_body = IsTpuKernel(main) && !ReadKernelBody(main).has_value();
      ++by_bytes[absl::StrCat(name, has_no_body ? ", whose kernel is not in the module," : "")];
    }
  }
  for (const auto& [call, count] : by_estimate) {
    prediction_.notes.push_back(
        absl::StrCat("the time of the custom call ", call.first, " (", count,
                     " times in the program) is by the estimate in the call: ", call.second));
  }
  for (const auto& [name, count] : by_bytes) {
    prediction_.notes.push_back(
        absl::StrCat("what the custom call ", name, " (", count,
                     " times in the program) computes is not known: only its bytes are "
                     "counted; --kernel_cost=NAME=TIME gives its time"));
  }
}

std::string PredictionBuilder::NameOf(HostCopy copy) {
  if (copy == HostCopy::kToChip) return kToChipKind;
  return copy == HostCopy::kToHost ? kToHostKind : kToDeviceKind;
}

std::string PredictionBuilder::NameOf(const Instruction& op) const {
  return absl::StrCat(names_(*op.computation()), "/", names_(op));
}

PredictedGroup PredictionBuilder::GroupRow(const Instruction& op) {
  const GroupTime& time = inputs_.core.TimeOf(op);
  PredictedGroup row;
  row.instruction = NameOf(op);
  row.opcode = std::string(op.opcode_name());
  row.op_class = std::string(OpClassOf(op));
  row.bound = std::string(BoundName(time.bound));
  row.source = frames_.LineOf(MetadataOf(op));
  row.op_name = OpNameOf(op);
  const auto at_speed = [&](int64_t ps) {
    return static_cast<int64_t>(static_cast<double>(ps) / inputs_.speed);
  };
  row.picoseconds = at_speed(time.picoseconds);
  for (size_t u = 0; u < kUnits.size(); ++u) row.unit_ps[u] = at_speed(time.unit_picoseconds[u]);
  row.windows = time.windows;
  row.roofline_ps = time.roofline_picoseconds;
  row.executions = executions_[&op];
  row.flops = static_cast<int64_t>(std::min(time.flops, 9e18));
  row.bytes = static_cast<int64_t>(std::min(time.bytes, 9e18));
  const RuleSet rules = RulesMarkedOn(op) | inputs_.core.RulesOf(op);
  for (int i = 0; i < kRules; ++i) {
    if (rules[i]) row.rules.emplace_back(RowOf(static_cast<Rule>(i)).name);
  }
  AddParts(op, time.product_cycles, &row);
  return row;
}

void PredictionBuilder::AddParts(const Instruction& group, const std::vector<double>& product_cycles,
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

absl::StatusOr<PredictedCollective> PredictionBuilder::CollectiveRow(const Instruction& op) {
  if (const auto copy = host_copies_.find(&op); copy != host_copies_.end()) return HostRow(op, copy->second);
  ASSIGN_OR_RETURN(const CollectiveTime* time, inputs_.collectives.Of(op));
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
  if (inputs_.keep_timeline) row.link_load = LinkLoad(*time);
  return row;
}

PredictedCollective PredictionBuilder::HostRow(const Instruction& op, HostCopy copy) {
  PredictedCollective row;
  row.instruction = NameOf(op);
  row.kind = NameOf(copy);
  const bool is_on_chip = copy == HostCopy::kToChip;
  const MachineFamily& family = inputs_.machine.family;
  const double rate = is_on_chip ? StreamBytesPerSecond(family.core()) : family.host().bytes_per_second();
  row.algorithm = is_on_chip ? "memory" : "host link";
  row.source = frames_.LineOf(MetadataOf(op));
  row.op_name = OpNameOf(op);
  row.picoseconds = row.roofline_ps = copy_ps_.at(&op);
  row.executions = executions_.at(&op);
  row.bytes = static_cast<int64_t>(std::llround(static_cast<double>(row.picoseconds) * 1e-12 * rate));
  return row;
}

int PredictionBuilder::LinkLoad(const CollectiveTime& time) {
  if (time.estimate.link_bytes_per_byte == nullptr || time.estimate.time == 0) return -1;
  const auto key = std::make_pair(time.estimate.link_bytes_per_byte.get(), time.bytes);
  const auto [found, is_new] =
      patterns_.try_emplace(key, static_cast<int>(prediction_.network.link_loads.size()));
  if (!is_new) return found->second;
  const Topology& topology = inputs_.topology;
  std::vector<float> loads(topology.link_ids(), -1);
  for (int64_t link = 0; link < topology.link_ids(); ++link) {
    if (!topology.Exists(link) || topology.Dead(link)) continue;
    loads[link] = static_cast<float>(time.estimate.LinkBytes(link) / topology.LinkRate(link) /
                                     (static_cast<double>(time.estimate.time) * 1e-12));
  }
  prediction_.network.link_loads.push_back(std::move(loads));
  return found->second;
}

void PredictionBuilder::AddNetwork() {
  const Topology& topology = inputs_.topology;
  PredictedNetwork& network = prediction_.network;
  for (const TopologyAxis& axis : topology.axes()) {
    network.axes.push_back(axis.size);
    network.wrap.push_back(axis.wrap);
    network.far_wrap.push_back(axis.far_wrap);
  }
  network.cores_per_chip = topology.cores_per_chip();
  // Patterns of equal traffic per byte are added up first: there are few of them.
  std::vector<std::pair<const std::vector<double>*, double>> bytes;
  for (const auto& computation : module_.computations()) {
    for (const auto& op : computation->instructions()) {
      if (!row_.contains(op.get())) continue;
      const auto time = inputs_.collectives.Of(*op);
      if (!time.ok() || *time == nullptr) continue;
      const auto* pattern = (*time)->estimate.link_bytes_per_byte.get();
      auto known =
          std::find_if(bytes.begin(), bytes.end(), [&](const auto& b) { return b.first == pattern; });
      if (known == bytes.end()) known = bytes.insert(bytes.end(), {pattern, 0});
      known->second += executions_[op.get()] * (*time)->estimate.payload;
    }
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
  network.mean_utilization =
      std::accumulate(seconds.begin(), seconds.end(), 0.0) / step / static_cast<double>(topology.LiveLinks());
}

}  // namespace toroid
