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
  const auto name_of = [&](size_t leaf) {
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
  std::optional<PredictedTimes> times;
  std::vector<CostItem> sent, flops, memory;
  DiffFigures figures;
};

absl::StatusOr<Side> SideOf(const DiffInput& input, const PredictedTimesOf& times_of) {
  Side side;
  ASSIGN_OR_RETURN(side.module, InlineCalls(input.module));
  const PredictedTimes* times = nullptr;
  if (times_of) {
    ASSIGN_OR_RETURN(side.times, times_of(*side.module));
    times = &*side.times;
    side.figures.step_seconds = times->step_seconds;
    side.figures.collective_seconds = times->collective_seconds;
  }
  side.sent = CollectiveItems(*side.module, times);
  side.flops = ProductItems(*side.module);
  side.memory = PeakItems(*side.module);
  side.figures.label = input.label;
  const DeviceCounts counts = DeviceCountsOf(input.module);
  side.figures.devices = SaturatingMultiply(counts.replicas.value_or(1), counts.partitions.value_or(1));
  side.figures.instructions = side.module->NumInstructions();
  for (const CollectiveRecord& record : ListCollectives(*side.module)) {
    side.figures.collectives += record.array == 0;
    side.figures.all_trips_known &= record.executions.known;
    side.figures.all_groups_known &= record.group_size != 0;
  }
  return side;
}

}  // namespace

absl::StatusOr<ProgramDiff> DiffPrograms(const DiffInput& a, const DiffInput& b,
                                         const PredictedTimesOf& times_of) {
  absl::StatusOr<Side> read_a = SideOf(a, times_of), read_b = SideOf(b, times_of);
  if (!read_a.ok()) return Annotate(read_a.status(), a.label);
  if (!read_b.ok()) return Annotate(read_b.status(), b.label);
  const int64_t devices_a = read_a->figures.devices, devices_b = read_b->figures.devices;
  if (devices_a != devices_b) {
    return absl::InvalidArgumentError(
        absl::StrCat(a.label, " is for ", devices_a, devices_a == 1 ? " device, " : " devices, ", b.label,
                     " for ", devices_b, "; compare programs for one number of devices"));
  }
  const Module &module_a = *read_a->module, &module_b = *read_b->module;
  const ModuleMatch match(module_a, module_b);
  const LineMap lines(module_a, module_b, match);
  ProgramDiff diff;
  diff.sent = DiffCosts(read_a->sent, read_b->sent, match, lines, Elsewhere::kYes);
  diff.flops = DiffCosts(read_a->flops, read_b->flops, match, lines, Elsewhere::kNo);
  diff.memory = DiffCosts(read_a->memory, read_b->memory, match, lines, Elsewhere::kNo);
  diff.a = std::move(read_a->figures);
  diff.b = std::move(read_b->figures);
  diff.a.sent_bytes = diff.sent.total_a;
  diff.b.sent_bytes = diff.sent.total_b;
  diff.a.flops = diff.flops.total_a;
  diff.b.flops = diff.flops.total_b;
  diff.a.peak_bytes = diff.memory.total_a;
  diff.b.peak_bytes = diff.memory.total_b;
  if (read_a->times) diff.machine = read_a->times->machine;
  diff.instructions = match.Count();
  diff.opcodes = OpcodeChanges(match);
  diff.shardings = ShardingChanges(a.module, b.module);
  diff.same = match.IsSameProgram() && diff.shardings.empty() &&
              DonatedParameters(a.module) == DonatedParameters(b.module);
  // The order of the instructions, which is free, may change the peak a little.
  if (diff.same)
    diff.memory =
        DiffCosts(read_a->memory, read_a->memory, ModuleMatch(module_a, module_a), LineMap(), Elsewhere::kNo);
  return diff;
}

}  // namespace toroid
