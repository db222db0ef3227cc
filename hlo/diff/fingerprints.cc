#include "hlo/diff/fingerprints.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "hlo/analysis/device_groups.h"
#include "hlo/devices/replica_groups.h"
#include "hlo/io/attribute_text.h"
#include "hlo/ir/attribute_views.h"

namespace toroid {
namespace {

size_t HashOfLiteral(const Literal& literal) {
  if (literal.bytes() == nullptr) {
    size_t hash = 0;
    for (const Literal& element : literal.elements()) hash = absl::HashOf(hash, HashOfLiteral(element));
    return hash;
  }
  return absl::HashOf(absl::string_view(literal.bytes(), static_cast<size_t>(literal.shape().ByteSize())));
}

size_t HashOfConstant(const Instruction& constant) {
  const absl::StatusOr<Literal> literal = LiteralOf(constant);
  return literal.ok() ? HashOfLiteral(*literal)
                      : absl::HashOf(constant.attrs().literal().SerializeAsString());
}

// The members of groups of devices, each different list read once.
class GroupHashes {
 public:
  explicit GroupHashes(const Module& module) {
    const DeviceCounts counts = DeviceCountsOf(module);
    replicas_ = counts.replicas.value_or(1);
    partitions_ = counts.partitions.value_or(1);
  }

  // `text`: the groups or pairs of `collective` as HLO text has them.
  size_t Of(const Instruction& collective, absl::string_view key, const std::string& text) {
    const xla::HloInstructionProto& attrs = collective.attrs();
    const auto [it, is_new] = known_.try_emplace(
        absl::StrCat(key, attrs.channel_id() == 0 ? " " : " channel ", attrs.use_global_device_ids(), text),
        0);
    if (is_new) it->second = key == "replica_groups" ? OfGroups(collective, text) : OfPairs(collective, text);
    return it->second;
  }

 private:
  // Neither the order of groups nor that of pairs has a meaning; the order of members has one.
  size_t OfGroups(const Instruction& collective, const std::string& text) const {
    const absl::StatusOr<DeviceGroups> groups = ExpandDeviceGroups(collective, replicas_, partitions_);
    if (!groups.ok()) return absl::HashOf(text);
    size_t sum = 0;
    for (int64_t i = 0; i < groups->size(); ++i) sum += absl::HashOf(groups->group(i));
    return sum;
  }
  size_t OfPairs(const Instruction& collective, const std::string& text) const {
    const auto pairs = ExpandSourceTargetPairs(collective, replicas_, partitions_);
    if (!pairs.ok()) return absl::HashOf(text);
    size_t sum = 0;
    for (const auto& pair : *pairs) sum += absl::HashOf(pair);
    return sum;
  }

  int64_t replicas_ = 1, partitions_ = 1;
  absl::flat_hash_map<std::string, size_t> known_;
};

// `computations`: by index, of all computations before this one.
size_t OwnHash(const Instruction& op, const std::vector<size_t>& computations, GroupHashes* groups) {
  size_t hash = absl::HashOf(op.opcode_name(), op.shape().ToString(), op.num_operands());
  const bool calls_parts = CallsParts(op.opcode());
  const auto name_of = [&](const Computation& callee) {
    return calls_parts ? "" : absl::StrCat(computations[callee.index()]);
  };
  VisitAttributes(op, name_of, [&](absl::string_view key, const std::string& value) {
    if (key == "channel_id" || key == "use_global_device_ids") return;  // Part of what groups mean.
    const bool has_devices = key == "replica_groups" || key == "source_target_pairs";
    hash = absl::HashOf(hash, key, has_devices ? groups->Of(op, key, value) : absl::HashOf(value));
  });
  if (op.opcode() == Opcode::kUnknown) {  // Its attributes do not name what it calls.
    for (const Computation* callee : op.called()) hash = absl::HashOf(hash, computations[callee->index()]);
  }
  if (op.opcode() == Opcode::kParameter) hash = absl::HashOf(hash, op.parameter_number());
  if (op.opcode() == Opcode::kConstant) hash = absl::HashOf(hash, HashOfConstant(op));
  if (op.opcode() == Opcode::kCustomCall) hash = absl::HashOf(hash, op.backend_config());
  return hash;
}

}  // namespace

bool CallsParts(Opcode opcode) { return HasTrait(opcode, kRunsBody) || opcode == Opcode::kFusion; }

Fingerprints::Fingerprints(const Module& module)
    : own_(module.num_computations()),
      whole_(module.num_computations()),
      computations_(module.num_computations()) {
  GroupHashes groups(module);
  for (const auto& computation : module.computations()) {  // Callees come before their callers.
    const int c = computation->index();
    own_[c].reserve(computation->size());
    whole_[c].reserve(computation->size());
    size_t sum = 0;
    for (const auto& op : computation->instructions()) {
      own_[c].push_back(OwnHash(*op, computations_, &groups));
      size_t hash = own_[c].back();
      for (const Instruction* operand : op->operands())
        hash = absl::HashOf(hash, whole_[c][operand->index()]);
      if (CallsParts(op->opcode())) {
        for (const Computation* part : op->called()) hash = absl::HashOf(hash, computations_[part->index()]);
      }
      whole_[c].push_back(hash);
      sum += absl::HashOf(hash);
    }
    const Instruction* root = computation->root();
    computations_[c] = absl::HashOf(root == nullptr ? 0 : whole_[c][root->index()], sum);
  }
}

}  // namespace toroid
