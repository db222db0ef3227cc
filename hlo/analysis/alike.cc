#include "hlo/analysis/alike.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"

namespace toroid {
namespace {

constexpr int kFew = 4;  // Entries of a list that enter a hash.

size_t Combine(size_t hash, int64_t value) { return absl::HashOf(hash, value); }

template <typename List, typename ValueOf>
size_t CombineFew(size_t hash, const List& list, ValueOf value_of) {
  hash = Combine(hash, list.size());
  for (int i = 0; i < std::min<int>(kFew, list.size()); ++i) hash = Combine(hash, value_of(list[i]));
  return hash;
}

size_t CombineNumbers(size_t hash, const google::protobuf::RepeatedField<int64_t>& list) {
  return CombineFew(hash, list, [](int64_t value) { return value; });
}

// Hashes a small constant's bytes, and only the size of a large one.
size_t HashOfLiteral(const xla::LiteralProto& literal) {
  constexpr size_t kSmall = 64;
  const size_t size = literal.ByteSizeLong();
  return size > kSmall ? size : absl::HashOf(literal.SerializeAsString());
}

bool EqualMessages(const xla::HloInstructionProto& a, const xla::HloInstructionProto& b) {
  return a.ByteSizeLong() == b.ByteSizeLong() && a.SerializeAsString() == b.SerializeAsString();
}

template <typename List, typename Same>
bool AllOf(const List& a, const List& b, Same same) {
  if (a.size() != b.size()) return false;
  for (int i = 0; i < a.size(); ++i) {
    if (!same(a[i], b[i])) return false;
  }
  return true;
}

template <typename Message>
bool EqualParts(const Message& a, const Message& b) {
  return a.SerializeAsString() == b.SerializeAsString();
}

// Lists of devices may be long: they are compared last and in place, without a copy.
bool EqualButForChannels(const xla::HloInstructionProto& a, const xla::HloInstructionProto& b) {
  const auto same_number = [](int64_t x, int64_t y) { return x == y; };
  const auto same_pair = [](const auto& x, const auto& y) {
    return x.source() == y.source() && x.target() == y.target();
  };
  const auto same_group = [&](const auto& x, const auto& y) {
    return AllOf(x.replica_ids(), y.replica_ids(), same_number);
  };
  return (a.channel_id() == 0) == (b.channel_id() == 0) &&
         a.use_global_device_ids() == b.use_global_device_ids() &&
         a.constrain_layout() == b.constrain_layout() && a.backend_config() == b.backend_config() &&
         AllOf(a.dimensions(), b.dimensions(), same_number) &&
         AllOf(a.dynamic_slice_sizes(), b.dynamic_slice_sizes(), same_number) &&
         EqualParts(a.iota_collective_device_list(), b.iota_collective_device_list()) &&
         EqualParts(a.mesh_axes_replica_group_list(), b.mesh_axes_replica_group_list()) &&
         EqualParts(a.permute_pattern(), b.permute_pattern()) &&
         AllOf(a.source_target_pairs(), b.source_target_pairs(), same_pair) &&
         AllOf(a.replica_groups(), b.replica_groups(), same_group) &&
         AllOf(a.collective_device_list().replica_groups(), b.collective_device_list().replica_groups(),
               same_group);
}

bool EqualNotes(const Instruction& a, const Instruction& b) {
  return a.frontend_attributes() == b.frontend_attributes() ||
         (a.frontend_attributes() != nullptr && b.frontend_attributes() != nullptr &&
          a.frontend_attributes()->SerializeAsString() == b.frontend_attributes()->SerializeAsString());
}

bool EqualComputations(const Computation& a, const Computation& b,
                       const std::vector<const Computation*>& first) {
  if (a.size() != b.size() || a.root()->index() != b.root()->index() || a.is_fusion() != b.is_fusion() ||
      a.execution_thread() != b.execution_thread()) {
    return false;
  }
  for (int i = 0; i < a.size(); ++i) {
    const Instruction& x = *a.instruction(i);
    const Instruction& y = *b.instruction(i);
    if (x.opcode() != y.opcode() || x.opcode() == Opcode::kUnknown || x.num_operands() != y.num_operands() ||
        x.called().size() != y.called().size() || x.shape() != y.shape() || x.sharding() != y.sharding() ||
        !x.control_predecessors().empty() || !y.control_predecessors().empty()) {
      return false;
    }
    for (int k = 0; k < x.num_operands(); ++k) {
      if (x.operand(k)->index() != y.operand(k)->index()) return false;
    }
    for (size_t c = 0; c < x.called().size(); ++c) {
      if (first[x.called(c)->index()] != first[y.called(c)->index()]) return false;
    }
    if (!HaveEqualAttributes(x, y) || !EqualNotes(x, y)) return false;
  }
  return true;
}

size_t HashOf(const Computation& computation, const std::vector<const Computation*>& first) {
  size_t hash = Combine(computation.root()->index(), computation.size());
  for (const auto& op : computation.instructions()) {
    hash = Combine(hash, static_cast<int64_t>(op->opcode()));
    hash = Combine(hash, op->shape().element_type());
    for (const Instruction* operand : op->operands()) hash = Combine(hash, operand->index());
    for (const Computation* callee : op->called()) hash = Combine(hash, first[callee->index()]->index());
    hash = Combine(hash, static_cast<int64_t>(HashOfAttributes(*op)));
  }
  return hash;
}

}  // namespace

size_t HashOfAttributes(const Instruction& instruction) {
  const xla::HloInstructionProto& attrs = instruction.attrs();
  size_t hash = 0;
  switch (instruction.opcode()) {
    case Opcode::kConstant:
      return HashOfLiteral(attrs.literal());
    case Opcode::kParameter:
      return Combine(hash, attrs.parameter_number());
    case Opcode::kGetTupleElement:
      return Combine(hash, attrs.tuple_index());
    case Opcode::kSlice:
      return CombineFew(hash, attrs.slice_dimensions(), [](const auto& slice) {
        return slice.start() * 31 + slice.limit() + slice.stride();
      });
    case Opcode::kPad:
      return CombineFew(hash, attrs.padding_config().dimensions(), [](const auto& d) {
        return d.edge_padding_low() * 31 + d.edge_padding_high() + d.interior_padding();
      });
    case Opcode::kCompare:
      return absl::HashOf(attrs.comparison_direction());
    case Opcode::kCustomCall:
      return absl::HashOf(attrs.custom_call_target());
    case Opcode::kCollectivePermute:
      hash = CombineFew(hash, attrs.permute_pattern().lines(), [](const auto& line) {
        return (line.source() * 31 + line.target()) * 31 + line.count();
      });
      return CombineFew(hash, attrs.source_target_pairs(),
                        [](const auto& pair) { return pair.source() * 31 + pair.target(); });
    default:
      break;
  }
  hash = CombineNumbers(hash, attrs.dimensions());
  if (!IsCollective(instruction.opcode())) return hash;
  const auto& iota = attrs.iota_collective_device_list();
  hash = CombineNumbers(hash, iota.iota_reshape_dims());
  hash = CombineFew(hash, iota.iota_transpose_perm(), [](int32_t p) { return p; });
  return Combine(hash, iota.num_replica_groups() + attrs.collective_device_list().replica_groups_size() +
                           attrs.replica_groups_size());
}

bool HaveEqualAttributes(const Instruction& a, const Instruction& b) {
  if (&a.attrs() == &b.attrs()) return true;
  return IsCollective(a.opcode()) ? EqualButForChannels(a.attrs(), b.attrs())
                                  : EqualMessages(a.attrs(), b.attrs());
}

std::vector<const Computation*> FirstsAlike(const Module& module) {
  std::vector<const Computation*> first(module.num_computations());
  absl::flat_hash_map<size_t, std::vector<const Computation*>> by_hash;
  // Callees precede their callers.
  for (const auto& computation : module.computations()) {
    const Computation*& own = first[computation->index()];
    own = computation.get();
    if (computation->root() == nullptr) continue;
    std::vector<const Computation*>& before = by_hash[HashOf(*computation, first)];
    for (const Computation* other : before) {
      if (!EqualComputations(*computation, *other, first)) continue;
      own = other;
      break;
    }
    if (own == computation.get()) before.push_back(own);
  }
  return first;
}

}  // namespace toroid
