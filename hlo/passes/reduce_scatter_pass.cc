#include "hlo/passes/reduce_scatter_pass.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/analysis/device_groups.h"
#include "hlo/base/status.h"
#include "hlo/devices/replica_groups.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/native_types.h"
#include "hlo/ir/replace_instructions.h"

namespace toroid {
namespace {

// The elements of an integer constant; empty for other types.
std::vector<int64_t> IntegersOf(const Instruction& constant) {
  const absl::StatusOr<Literal> literal = LiteralOf(constant);
  std::vector<int64_t> values;
  if (!literal.ok() || !IsInt(literal->shape().element_type())) return values;
  VisitArrayType(
      literal->shape().element_type(),
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
          for (const T value : literal->template data<T>()) values.push_back(static_cast<int64_t>(value));
        }
        return 0;
      },
      0);
  return values;
}

// Evaluates integers that are computed from the device's number, for all devices at once.
class DeviceNumbers {
 public:
  explicit DeviceNumbers(int64_t num_devices) : num_devices_(num_devices) {}

  // By device: the value of `op`; null if unknown. Values are within s32, so that no type wraps.
  const std::vector<int64_t>* ValuesOf(const Instruction& op, int depth = 0) {
    const auto found = known_.find(&op);
    if (found != known_.end()) return found->second.empty() ? nullptr : &found->second;
    std::vector<int64_t> values = depth > kDeepest ? std::vector<int64_t>() : Compute(op, depth);
    for (const int64_t value : values) {
      if (value > INT32_MAX || value < (IsUnsignedInt(op.shape().element_type()) ? 0 : INT32_MIN)) {
        values.clear();
        break;
      }
    }
    const std::vector<int64_t>& kept = known_[&op] = std::move(values);
    return kept.empty() ? nullptr : &kept;
  }

 private:
  static constexpr int kDeepest = 64;

  std::vector<int64_t> Compute(const Instruction& op, int depth) {
    if (!op.shape().IsArray() || op.shape().NumElements() != 1 || !IsInt(op.shape().element_type()))
      return {};
    if (ByteWidth(op.shape().element_type()) < 4) return {};
    switch (op.opcode()) {
      case Opcode::kPartitionId: {
        std::vector<int64_t> ids(num_devices_);
        for (int64_t d = 0; d < num_devices_; ++d) ids[d] = d;
        return ids;
      }
      case Opcode::kConstant: {
        const std::vector<int64_t> value = IntegersOf(op);
        return value.size() == 1 ? std::vector<int64_t>(num_devices_, value[0]) : std::vector<int64_t>();
      }
      case Opcode::kConvert:
      case Opcode::kReshape:
      case Opcode::kBitcast:
      case Opcode::kCopy: {
        const std::vector<int64_t>* x = ValuesOf(*op.operand(0), depth + 1);
        return x == nullptr ? std::vector<int64_t>() : *x;
      }
      case Opcode::kDynamicSlice:
        return LookUp(op, depth);
      default:
        return Binary(op, depth);
    }
  }

  std::vector<int64_t> LookUp(const Instruction& slice, int depth) {
    const Instruction& table = *slice.operand(0);
    if (table.opcode() != Opcode::kConstant || table.shape().rank() != 1) return {};
    const std::vector<int64_t>* at = ValuesOf(*slice.operand(1), depth + 1);
    const std::vector<int64_t> values = IntegersOf(table);
    if (at == nullptr || values.empty()) return {};
    std::vector<int64_t> out;
    for (const int64_t i : *at)
      out.push_back(values[std::clamp<int64_t>(i, 0, static_cast<int64_t>(values.size()) - 1)]);
    return out;
  }

  std::vector<int64_t> Binary(const Instruction& op, int depth) {
    if (op.num_operands() != 2) return {};
    const std::vector<int64_t>* a = ValuesOf(*op.operand(0), depth + 1);
    if (a == nullptr) return {};
    const std::vector<int64_t> left = *a;  // A copy, since known_ may rehash.
    const std::vector<int64_t>* b = ValuesOf(*op.operand(1), depth + 1);
    if (b == nullptr) return {};
    std::vector<int64_t> out(num_devices_);
    for (int64_t d = 0; d < num_devices_; ++d) {
      const int64_t x = left[d], y = (*b)[d];
      switch (op.opcode()) {
        case Opcode::kAdd:
          out[d] = x + y;
          break;
        case Opcode::kSubtract:
          out[d] = x - y;
          break;
        case Opcode::kMultiply:
          out[d] = x * y;
          break;
        case Opcode::kDivide:
          if (y == 0) return {};
          out[d] = x / y;
          break;
        case Opcode::kRemainder:
          if (y == 0) return {};
          out[d] = x % y;
          break;
        default:
          return {};
      }
    }
    return out;
  }

  const int64_t num_devices_;
  absl::flat_hash_map<const Instruction*, std::vector<int64_t>> known_;  // Empty: unknown.
};

// The dimension that a slice cuts; -1 if it cuts none or several.
int64_t CutDimension(const Instruction& slice) {
  int64_t cut = -1;
  for (int d = 0; d < slice.shape().rank(); ++d) {
    if (slice.shape().dim(d) == slice.operand(0)->shape().dim(d)) continue;
    if (cut >= 0) return -1;
    cut = d;
  }
  return cut;
}

// The groups, each reordered so that member k reads part k; nullopt if the members do not read all parts.
std::optional<DeviceGroups> GroupsInOrder(const DeviceGroups& groups, absl::Span<const int64_t> starts,
                                          int64_t part, int64_t parts) {
  DeviceGroups ordered;
  for (int64_t g = 0; g < groups.size(); ++g) {
    const auto group = groups.group(g);
    if (static_cast<int64_t>(group.size()) != parts) return std::nullopt;
    std::vector<int64_t> members(parts, -1);
    for (const int64_t device : group) {
      const int64_t start = starts[device];
      if (start < 0 || start % part != 0 || start / part >= parts || members[start / part] >= 0)
        return std::nullopt;
      members[start / part] = device;
    }
    ordered.Append(members);
  }
  return ordered;
}

// The reduce-scatter that replaces a slice of an all-reduce; null if the slice stays.
Instruction* ScatterFor(const Instruction& slice, int64_t num_devices, const std::vector<int>& uses,
                        DeviceNumbers* numbers, Computation* computation) {
  const Instruction& all = *slice.operand(0);
  if (slice.opcode() != Opcode::kDynamicSlice || all.opcode() != Opcode::kAllReduce ||
      all.num_operands() != 1 || uses[all.index()] != 1 || !all.control_predecessors().empty() ||
      !slice.control_predecessors().empty() || slice.shape().NumElements() == 0) {
    return nullptr;
  }
  const int64_t d = CutDimension(slice);
  if (d < 0 || all.shape().dim(d) % slice.shape().dim(d) != 0) return nullptr;
  const int64_t part = slice.shape().dim(d), parts = all.shape().dim(d) / part;
  const absl::StatusOr<GroupMode> mode = GroupModeOf(all);
  if (!mode.ok() || *mode != GroupMode::kFlattened) return nullptr;
  const absl::StatusOr<int64_t> size = DeviceGroupSize(all, 1, num_devices);
  if (!size.ok() || *size != parts || slice.num_operands() != slice.shape().rank() + 1) return nullptr;
  const std::vector<int64_t>* starts = numbers->ValuesOf(*slice.operand(1 + d));
  if (starts == nullptr) return nullptr;
  const absl::StatusOr<DeviceGroups> groups = ExpandDeviceGroups(all, 1, num_devices);
  if (!groups.ok() || static_cast<int64_t>(groups->members().size()) != num_devices) return nullptr;
  const std::optional<DeviceGroups> ordered = GroupsInOrder(*groups, *starts, part, parts);
  if (!ordered) return nullptr;
  Instruction* scatter = computation->Add(Opcode::kReduceScatter, slice.shape(), {all.operand(0)});
  scatter->set_attrs(&all.attrs());
  xla::HloInstructionProto* attrs = scatter->MutableAttrs();
  attrs->clear_dimensions();
  attrs->add_dimensions(d);
  const auto same = [](absl::Span<const int64_t> a, absl::Span<const int64_t> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  };
  if (!same(ordered->members(), groups->members())) {
    attrs->clear_replica_groups();
    attrs->clear_iota_collective_device_list();
    attrs->clear_mesh_axes_replica_group_list();
    attrs->clear_collective_device_list();
    for (int64_t g = 0; g < ordered->size(); ++g) {
      auto* group = attrs->mutable_collective_device_list()->add_replica_groups();
      for (const int64_t device : ordered->group(g)) group->add_replica_ids(device);
    }
  }
  scatter->set_called(all.called());
  scatter->set_metadata(all.metadata());
  scatter->set_frontend_attributes(all.frontend_attributes());
  scatter->set_cause(all.cause());
  return scatter;
}

absl::StatusOr<bool> ScatterIn(Computation* computation, int64_t num_devices) {
  const int n = computation->size();
  std::vector<int> uses(n, 0);
  bool any = false;
  for (const auto& op : computation->instructions()) {
    for (const Instruction* operand : op->operands()) ++uses[operand->index()];
    any |= op->opcode() == Opcode::kDynamicSlice && op->operand(0)->opcode() == Opcode::kAllReduce;
  }
  if (!any) return false;
  ++uses[computation->root()->index()];
  DeviceNumbers numbers(num_devices);
  std::vector<Instruction*> now(n, nullptr);
  bool changed = false;
  for (int i = 0; i < n; ++i) {
    const Instruction& op = *computation->instruction(i);
    if (op.num_operands() == 0) continue;
    now[i] = ScatterFor(op, num_devices, uses, &numbers, computation);
    changed |= now[i] != nullptr;
  }
  if (changed) RETURN_IF_ERROR(ReplaceInstructions(computation, now));
  return changed;
}

}  // namespace

absl::StatusOr<bool> ReduceScatterPass::Run(std::unique_ptr<Module>* module) {
  const DeviceCounts counts = DeviceCountsOf(**module);
  if (!counts.partitions || counts.replicas.value_or(1) != 1) return false;
  bool changed = false;
  for (const auto& computation : (*module)->computations()) {
    if (computation->root() == nullptr) continue;
    ASSIGN_OR_RETURN(const bool here, ScatterIn(computation.get(), *counts.partitions));
    changed |= here;
  }
  return changed;
}

}  // namespace toroid
