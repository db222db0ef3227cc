#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/stablehlo/op_rows.h"

namespace toroid {
namespace {

// Groups, channel, and whether the ids are those of all devices.
absl::StatusOr<xla::HloInstructionProto*> WithGroups(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  ASSIGN_OR_RETURN(const std::vector<std::vector<int64_t>> groups, op.Rows("replica_groups"));
  for (const std::vector<int64_t>& group : groups) {
    auto* out = attrs->mutable_collective_device_list()->add_replica_groups();
    for (const int64_t id : group) {
      if (id >= 0) out->add_replica_ids(id);  // -1 fills up groups of fewer members.
    }
  }
  if (op.Has("channel_handle")) {
    ASSIGN_OR_RETURN(const MlirAttribute channel, op.Struct("channel_handle"));
    ASSIGN_OR_RETURN(const int64_t id, op.IntegerOfField(channel, "handle", 0));
    attrs->set_channel_id(id);
  }
  attrs->set_use_global_device_ids(op.Flag("use_global_device_ids"));
  return attrs;
}

absl::Status ConvertAllReduce(OpConversion& op) {
  ASSIGN_OR_RETURN(auto* attrs, WithGroups(op));
  if (op.opcode() == Opcode::kReduceScatter) {
    RETURN_IF_ERROR(op.Integers("scatter_dimension", attrs->mutable_dimensions()));
  }
  ASSIGN_OR_RETURN(Computation * reducer, op.Region(0, "region"));
  return op.Finish(op.opcode(), attrs, {reducer});
}

absl::Status ConvertAllGather(OpConversion& op) {
  ASSIGN_OR_RETURN(auto* attrs, WithGroups(op));
  RETURN_IF_ERROR(op.Integers("all_gather_dim", attrs->mutable_dimensions()));
  return op.Finish(Opcode::kAllGather, attrs);
}

absl::Status ConvertBroadcast(OpConversion& op) {
  ASSIGN_OR_RETURN(auto* attrs, WithGroups(op));
  return op.Finish(Opcode::kCollectiveBroadcast, attrs);
}

absl::Status ConvertPermute(OpConversion& op) {
  ASSIGN_OR_RETURN(auto* attrs, WithGroups(op));
  attrs->clear_use_global_device_ids();
  ASSIGN_OR_RETURN(const std::vector<std::vector<int64_t>> pairs, op.Rows("source_target_pairs"));
  for (const std::vector<int64_t>& pair : pairs) {
    if (pair.size() != 2) return op.Error("source_target_pairs has two numbers a row");
    auto* out = attrs->add_source_target_pairs();
    out->set_source(pair[0]);
    out->set_target(pair[1]);
  }
  return op.Finish(Opcode::kCollectivePermute, attrs);
}

// HLO's all-to-all puts the parts together along the dimension that it cuts; for another one they are moved there:
// [.., split, ..] -> [.., count, split / count, ..] -> count in front of the other dimension -> merged with it.
absl::Status ConvertAllToAll(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckOperands(1));
  RETURN_IF_ERROR(op.CheckArrays());
  ASSIGN_OR_RETURN(auto* attrs, WithGroups(op));
  ASSIGN_OR_RETURN(const int64_t split, op.Integer("split_dimension"));
  ASSIGN_OR_RETURN(const int64_t concat, op.Integer("concat_dimension"));
  ASSIGN_OR_RETURN(const int64_t count, op.Integer("split_count"));
  ASSIGN_OR_RETURN(const Shape result, op.ResultShape());
  const Shape& shape = op.operand(0)->shape();
  if (split < 0 || split >= shape.rank() || concat < 0 || concat >= shape.rank() || count < 1 ||
      shape.dim(split) % count != 0) {
    return op.Error("its dimensions are out of range, or the parts unequal");
  }
  attrs->add_dimensions(split);
  Instruction* parts = op.Add(Opcode::kAllToAll, shape, op.operands(), attrs);
  if (split == concat) return op.Finish(parts);
  std::vector<int64_t> sizes, permutation, moved;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (d == split) sizes.push_back(count);
    sizes.push_back(d == split ? shape.dim(d) / count : shape.dim(d));
    if (d == concat) permutation.push_back(split);
    permutation.push_back(d >= split ? d + 1 : d);
  }
  xla::HloInstructionProto* transpose = op.NewAttrs();
  transpose->mutable_dimensions()->Add(permutation.begin(), permutation.end());
  for (const int64_t d : permutation) moved.push_back(sizes[d]);
  Instruction* cut = op.Add(Opcode::kReshape, Shape(shape.element_type(), sizes), {parts});
  Instruction* turned = op.Add(Opcode::kTranspose, Shape(shape.element_type(), moved), {cut}, transpose);
  return op.Finish(op.Add(Opcode::kReshape, result, {turned}));
}

constexpr OpRow kRows[] = {
    {"stablehlo.all_gather", Opcode::kAllGather, ConvertAllGather},
    {"stablehlo.all_reduce", Opcode::kAllReduce, ConvertAllReduce},
    {"stablehlo.all_to_all", Opcode::kAllToAll, ConvertAllToAll},
    {"stablehlo.collective_broadcast", Opcode::kCollectiveBroadcast, ConvertBroadcast},
    {"stablehlo.collective_permute", Opcode::kCollectivePermute, ConvertPermute},
    {"stablehlo.reduce_scatter", Opcode::kReduceScatter, ConvertAllReduce},
};

}  // namespace

absl::Span<const OpRow> CollectiveRows() { return kRows; }

}  // namespace toroid
