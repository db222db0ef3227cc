#include "hlo/gradient/rules/collectives.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/devices/hlo_sharding.h"
#include "hlo/devices/permute_pattern.h"
#include "hlo/gradient/rules/reducers.h"

namespace toroid {
namespace {

int64_t NewChannel(const Module& module) {
  int64_t last = 0;
  for (const auto& computation : module.computations()) {
    for (const auto& op : computation->instructions()) last = std::max(last, op->attrs().channel_id());
  }
  return last + 1;
}

// Attributes with the op's groups and dimensions, and with a new channel if the op has one.
xla::HloInstructionProto* AttrsAgain(Pullback& p) {
  auto* attrs = p.b.module()->New<xla::HloInstructionProto>(p.op().attrs());
  if (attrs->channel_id() > 0) attrs->set_channel_id(NewChannel(*p.b.module()));
  return attrs;
}

absl::Status CheckAdds(Pullback& p) {
  if (OneOpReducer(*p.op().called(0)) == Opcode::kAdd) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat(p.op().opcode_name(), " by anything but addition has no gradient"));
}

// Adds to each operand the cotangent `opcode`(the cotangent of its result).
void AddEach(Pullback& p, Opcode opcode, bool adds) {
  for (int i = 0; i < p.op().num_operands(); ++i) {
    if (!p.Wants(i) || p.cotangent_or_null(i) == nullptr) continue;
    const Value t = p.cotangent(i);
    const PrimitiveType type = t->shape().element_type();
    std::vector<Computation*> called;
    if (adds) called.push_back(p.b.ReducerComputation(Opcode::kAdd, type));
    p.Add(i, p.b.Op(opcode, Shape(type, p.operand_shape(i).dims()), {t}, AttrsAgain(p), called));
  }
}

// Devices that hold the same tile; empty if each holds its own.
struct Copies {
  std::vector<std::vector<int64_t>> groups;
  int64_t number = 1;
};

absl::StatusOr<Copies> CopiesOf(const Pullback& p, const xla::OpSharding* proto) {
  if (proto == nullptr)
    return absl::UnimplementedError("a border of a manual region without a sharding has no gradient");
  ASSIGN_OR_RETURN(const HloSharding sharding, HloSharding::FromProto(*proto));
  Copies copies;
  DeviceOrder order(std::max<int64_t>(1, p.op().module()->config().num_partitions));
  if (sharding.kind() == HloSharding::Kind::kReplicated) {
    copies.number = order.size();
  } else if (sharding.IsTiled()) {
    order = sharding.order();
    for (const HloSharding::Subgroup& subgroup : sharding.subgroups()) {
      if (subgroup.type != xla::OpSharding::REPLICATED) {
        return absl::UnimplementedError("a region that is manual along some axes only has no gradient");
      }
      copies.number *= subgroup.size;
    }
  } else {
    return absl::UnimplementedError("a border of a manual region with this sharding has no gradient");
  }
  if (copies.number == 1) return copies;
  for (int64_t first = 0; first < order.size(); first += copies.number) {
    std::vector<int64_t>& group = copies.groups.emplace_back();
    for (int64_t i = 0; i < copies.number; ++i) group.push_back(order.DeviceAt(first + i));
  }
  return copies;
}

// A custom call that annotates `sharding`, or enters or leaves a region.
Value Annotated(Pullback& p, absl::string_view target, const Shape& shape, Value x,
                const xla::OpSharding* sharding) {
  const Value call = p.b.CustomCall(target, Shape(shape.element_type(), shape.dims()), {x});
  call->set_sharding(sharding);
  return call;
}

}  // namespace

absl::Status AllReduceGradient(Pullback& p) {
  RETURN_IF_ERROR(CheckAdds(p));
  AddEach(p, Opcode::kAllReduce, /*adds=*/true);
  return absl::OkStatus();
}

absl::Status AllGatherGradient(Pullback& p) {
  AddEach(p, Opcode::kReduceScatter, /*adds=*/true);
  return absl::OkStatus();
}

absl::Status ReduceScatterGradient(Pullback& p) {
  RETURN_IF_ERROR(CheckAdds(p));
  AddEach(p, Opcode::kAllGather, /*adds=*/false);
  return absl::OkStatus();
}

absl::Status AllToAllGradient(Pullback& p) {
  if (!p.op().shape().IsTuple()) {
    AddEach(p, Opcode::kAllToAll, /*adds=*/false);
    return absl::OkStatus();
  }
  // Member i's operand j becomes member j's result i.
  std::vector<Value> cotangents;
  for (int i = 0; i < p.op().num_operands(); ++i) cotangents.push_back(p.cotangent(i));
  const Value exchanged = p.b.Op(Opcode::kAllToAll, p.op().shape(), cotangents, AttrsAgain(p));
  for (int i = 0; i < p.op().num_operands(); ++i) p.Add(i, p.b.GetTupleElement(exchanged, i));
  return absl::OkStatus();
}

absl::Status CollectivePermuteGradient(Pullback& p) {
  if (p.op().num_operands() != 1) return absl::UnimplementedError("a permute of slices has no gradient");
  xla::HloInstructionProto* attrs = AttrsAgain(p);
  SpellOutPairs(attrs);
  for (xla::SourceTarget& pair : *attrs->mutable_source_target_pairs()) {
    const int64_t source = pair.source();
    pair.set_source(pair.target());
    pair.set_target(source);
  }
  p.Add(0, p.b.Op(Opcode::kCollectivePermute, p.cotangent()->shape(), {p.cotangent()}, attrs));
  return absl::OkStatus();
}

absl::Status IntoRegionGradient(Pullback& p) {
  const xla::OpSharding* sharding = p.op().operand(0)->sharding();
  ASSIGN_OR_RETURN(const Copies copies, CopiesOf(p, sharding));
  Value t = p.cotangent();
  if (copies.number > 1) {
    xla::HloInstructionProto* attrs = p.b.NewAttrs();
    for (const std::vector<int64_t>& group : copies.groups) {
      attrs->add_replica_groups()->mutable_replica_ids()->Add(group.begin(), group.end());
    }
    attrs->set_channel_id(NewChannel(*p.b.module()));
    attrs->set_use_global_device_ids(true);
    t = p.b.Op(Opcode::kAllReduce, t->shape(), {t}, attrs,
               {p.b.ReducerComputation(Opcode::kAdd, t->shape().element_type())});
  }
  const Value manual = Annotated(p, "Sharding", t->shape(), t, p.op().sharding());
  p.Add(0, Annotated(p, "SPMDShardToFullShape", p.operand_shape(0), manual, sharding));
  return absl::OkStatus();
}

absl::Status OutOfRegionGradient(Pullback& p) {
  const xla::OpSharding* sharding = p.op().sharding();
  ASSIGN_OR_RETURN(const Copies copies, CopiesOf(p, sharding));
  const Value full = Annotated(p, "Sharding", p.op().shape(), p.cotangent(), sharding);
  const Value t =
      Annotated(p, "SPMDFullToShardShape", p.operand_shape(0), full, p.op().operand(0)->sharding());
  p.Add(0, copies.number == 1 ? t : p.b.MultiplyNumber(t, 1.0 / static_cast<double>(copies.number)));
  return absl::OkStatus();
}

}  // namespace toroid
