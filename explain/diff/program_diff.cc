#include "explain/diff/program_diff.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "explain/diff/line_map.h"
#include "explain/diff/shape_leaves.h"
#include "hlo/analysis/buffers.h"
#include "hlo/analysis/collective_records.h"
#include "hlo/analysis/device_groups.h"
#include "hlo/analysis/output_names.h"
#include "hlo/analysis/source_frames.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/devices/hlo_sharding.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/ir/parameter_name.h"
#include "hlo/passes/inline_calls_pass.h"

namespace toroid {
namespace {

// True if every device holds the same part of an array of `rank` dimensions.
bool CutAlike(const HloSharding& a, const HloSharding& b, int rank) {
  if (a.kind() == b.kind() && a.ToString() == b.ToString()) return true;
  const int64_t devices = std::max(a.NumDevices(), b.NumDevices());
  if (devices == 0 || (a.IsTiled() && b.IsTiled() && a.NumDevices() != b.NumDevices()))
    return a.kind() == b.kind();
  const auto is_plain = [](const HloSharding& sharding) {
    const auto& groups = sharding.subgroups();
    return sharding.kind() == HloSharding::Kind::kReplicated ||
           (sharding.IsTiled() &&
            std::all_of(groups.begin(), groups.end(), [](const HloSharding::Subgroup& group) {
              return group.type == xla::OpSharding::REPLICATED;
            }));
  };
  if (!is_plain(a) || !is_plain(b)) return false;
  const auto tile = [rank](const HloSharding& sharding, int d) {
    return sharding.IsTiled() && d < static_cast<int>(sharding.tiles().size()) ? sharding.tiles()[d] : 1;
  };
  for (int d = 0; d < rank; ++d) {
    if (tile(a, d) != tile(b, d)) return false;
  }
  for (int64_t device = 0; device < devices; ++device) {
    if (a.TileIndex(device, rank) != b.TileIndex(device, rank)) return false;
  }
  return true;
}

using Shardings = absl::StatusOr<std::vector<HloSharding>>;

// Compares the leaves of one argument or of the result. `name_of`: by leaf.
void AppendShardingChanges(const Shape& shape_a, const Shape& shape_b, const Shardings& a, const Shardings& b,
                           const std::function<std::string(size_t)>& name_of,
                           std::vector<ShardingChange>* changes) {
  if (!a.ok() || !b.ok()) return;
  const std::vector<const Shape*> leaves_a = LeavesOf(shape_a), leaves_b = LeavesOf(shape_b);
  const size_t n = std::min({a->size(), b->size(), leaves_a.size(), leaves_b.size()});
  for (size_t i = 0; i < n; ++i) {
    const int rank = static_cast<int>(leaves_a[i]->dims().size());
    if (leaves_b[i]->dims().size() == leaves_a[i]->dims().size() && CutAlike((*a)[i], (*b)[i], rank))
      continue;
    changes->push_back({name_of(i), leaves_a[i]->ToString(), leaves_b[i]->ToString(), (*a)[i].ToString(),
                        (*b)[i].ToString()});
  }
}

// Empty if one of the modules does not record how it was cut.
std::vector<ShardingChange> ShardingChanges(const Module& a, const Module& b) {
  std::vector<ShardingChange> changes;
  if (!IsPartitioned(a) || !IsPartitioned(b)) return changes;
  const int parameters = std::min(a.entry()->num_parameters(), b.entry()->num_parameters());
  for (int i = 0; i < parameters; ++i) {
    const Instruction &of_a = *a.entry()->parameter(i), &of_b = *b.entry()->parameter(i);
    const auto name_of = [&](size_t leaf) {
      return of_a.shape().IsTuple() ? absl::StrCat(ParameterName(of_a), "{", leaf, "}") : ParameterName(of_a);
    };
    AppendShardingChanges(of_a.shape(), of_b.shape(), ParameterShardings(a, i), ParameterShardings(b, i),
                          name_of, &changes);
  }
  const Shape &result_a = a.entry()->root()->shape(), &result_b = b.entry()->root()->shape();
  const std::vector<std::string> outputs = OutputNames(a);
  const auto name_of = [&](size_t leaf) {
    // Leaves and elements of the tuple are the same, unless one of these is a tuple.
    if (static_cast<size_t>(result_a.NumLeaves()) == outputs.size() && leaf < outputs.size() &&
        !outputs[leaf].empty())
      return outputs[leaf];
    return result_a.IsTuple() ? absl::StrCat("output{", leaf, "}") : "output";
  };
  AppendShardingChanges(result_a, result_b, OutputShardings(a), OutputShardings(b), name_of, &changes);
  return changes;
}

std::vector<OpcodeChange> OpcodeChanges(const ModuleMatch& match) {
  std::map<std::string, OpcodeChange> changes;
  for (const Instruction* op : match.OnlyInA()) ++changes[std::string(op->opcode_name())].only_a;
  for (const Instruction* op : match.OnlyInB()) ++changes[std::string(op->opcode_name())].only_b;
  std::vector<OpcodeChange> out;
  for (auto& [opcode, change] : changes) {
    change.opcode = opcode;
    out.push_back(change);
  }
  std::stable_sort(out.begin(), out.end(), [](const OpcodeChange& x, const OpcodeChange& y) {
    return x.only_a + x.only_b > y.only_a + y.only_b;
  });
  return out;
}

// A program without calls, and what it costs.
struct Side {
  std::unique_ptr<Module> module;
  std::unique_ptr<SourceFrames> frames;
  std::vector<CostItem> sent, flops, memory;
  DiffFigures figures;
};

absl::StatusOr<Side> SideOf(const DiffInput& input) {
  Side side;
  ASSIGN_OR_RETURN(side.module, InlineCalls(input.module));
  side.frames = std::make_unique<SourceFrames>(*side.module);
  const DeviceCounts counts = DeviceCountsOf(input.module);
  side.figures.label = input.label;
  side.figures.devices = SaturatingMultiply(counts.replicas.value_or(1), counts.partitions.value_or(1));
  side.figures.instructions = side.module->NumInstructions();
  return side;
}

// Requires: the frames of both sides share helpers.
absl::Status FindCosts(const PredictedTimesOf& times_of, Side* side, std::string* machine) {
  std::optional<PredictedTimes> times;
  if (times_of) {
    ASSIGN_OR_RETURN(times, times_of(*side->module));
    side->figures.step_seconds = times->step_seconds;
    side->figures.collective_seconds = times->collective_seconds;
    *machine = times->machine;
  }
  side->sent = CollectiveItems(*side->module, times ? &*times : nullptr, side->frames.get());
  side->flops = ProductItems(*side->module, side->frames.get());
  side->memory = PeakItems(*side->module, side->frames.get());
  for (const CollectiveRecord& record : ListCollectives(*side->module)) {
    side->figures.collectives += record.array == 0;
    side->figures.all_trips_known &= record.executions.known;
    side->figures.all_groups_known &= record.group_size != 0;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ProgramDiff> DiffPrograms(const DiffInput& a, const DiffInput& b,
                                         const PredictedTimesOf& times_of) {
  absl::StatusOr<Side> side_a = SideOf(a), side_b = SideOf(b);
  if (!side_a.ok()) return Annotate(side_a.status(), a.label);
  if (!side_b.ok()) return Annotate(side_b.status(), b.label);
  const int64_t devices_a = side_a->figures.devices, devices_b = side_b->figures.devices;
  if (devices_a != devices_b) {
    return absl::InvalidArgumentError(
        absl::StrCat(a.label, " is for ", devices_a, devices_a == 1 ? " device, " : " devices, ", b.label,
                     " for ", devices_b, "; compare programs for one number of devices"));
  }
  ProgramDiff diff;
  side_a->frames->ShareHelpers(side_b->frames.get());
  RETURN_IF_ERROR(Annotate(FindCosts(times_of, &*side_a, &diff.machine), a.label));
  RETURN_IF_ERROR(Annotate(FindCosts(times_of, &*side_b, &diff.machine), b.label));
  const ModuleMatch match(*side_a->module, *side_b->module, side_a->frames.get(), side_b->frames.get());
  const LineMap lines(*side_a->module, match, side_a->frames.get(), side_b->frames.get());
  diff.sent = DiffCosts(side_a->sent, side_b->sent, match, lines, Elsewhere::kYes);
  diff.flops = DiffCosts(side_a->flops, side_b->flops, match, lines, Elsewhere::kNo);
  diff.memory = DiffCosts(side_a->memory, side_b->memory, match, lines, Elsewhere::kNo);
  diff.a = std::move(side_a->figures);
  diff.b = std::move(side_b->figures);
  diff.a.sent_bytes = diff.sent.total_a;
  diff.b.sent_bytes = diff.sent.total_b;
  diff.a.flops = diff.flops.total_a;
  diff.b.flops = diff.flops.total_b;
  diff.a.peak_bytes = diff.memory.total_a;
  diff.b.peak_bytes = diff.memory.total_b;
  diff.instructions = match.Count();
  diff.opcodes = OpcodeChanges(match);
  diff.shardings = ShardingChanges(a.module, b.module);
  // The costs of equal programs differ only where a loop states its own trip count.
  diff.same = match.IsSameProgram() && diff.shardings.empty() &&
              DonatedParameters(a.module) == DonatedParameters(b.module) &&
              diff.sent.total_a == diff.sent.total_b && diff.flops.total_a == diff.flops.total_b;
  // The order of the instructions, which is free, may change the peak a little.
  if (diff.same) {
    const ModuleMatch itself(*side_a->module, *side_a->module, side_a->frames.get(), side_a->frames.get());
    diff.memory = DiffCosts(side_a->memory, side_a->memory, itself, LineMap(), Elsewhere::kNo);
  }
  return diff;
}

}  // namespace toroid
