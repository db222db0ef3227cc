// The versions of a value: where it lies, bringing it elsewhere, and making it anew where that costs nothing.
#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "partitioner/computation_partitioner.h"
#include "partitioner/reshard/emit_plan.h"

namespace toroid {

Sharding ComputationPartitioner::Whole(int tensor) const {
  Sharding sharding = Sharding::Replicated(graph_.shape(tensor).rank());
  sharding.manual = annotations_.manual[tensor];
  return sharding;
}

Sharding ComputationPartitioner::Target(int tensor) const {
  Sharding sharding = targets_[tensor];
  sharding.manual = annotations_.manual[tensor];
  return sharding;
}

void ComputationPartitioner::Define(int tensor, const Sharding& sharding, Instruction* local) {
  values_[tensor].versions.push_back({sharding, local});
}

bool ComputationPartitioner::OnlyPartial(int tensor) const {
  const Value& value = values_[tensor];
  if (value.versions.empty()) return false;
  for (const Version& version : value.versions) {
    if (version.sharding.partial == 0) return false;
  }
  return true;
}

bool ComputationPartitioner::IsFree(int tensor) const { return values_[tensor].producer != nullptr; }

Instruction* ComputationPartitioner::Materialize(int tensor, const Sharding& wanted) {
  const Instruction& producer = *values_[tensor].producer;
  const Shape& shape = producer.shape();
  const Shape local = b_->ShardShape(shape, wanted);
  switch (producer.opcode()) {
    case Opcode::kConstant:
      if (local.dims() == shape.dims()) {
        Instruction* constant = b_->Clone(producer, shape, {});
        return constant;
      } else {
        absl::StatusOr<Literal> value = Literal::FromProto(producer.attrs().literal());
        if (!value.ok() || !IsSplat(*value)) return nullptr;
        Literal element(Shape(shape.element_type(), {}));
        std::copy_n(value->bytes(), ByteWidth(shape.element_type()), element.mutable_bytes());
        return b_->Broadcast(b_->Constant(element), local.dims());
      }
    case Opcode::kBroadcast: {
      const FlowOp* op = graph_.OpOf(producer);
      Sharding operand = Sharding::Replicated(producer.operand(0)->shape().rank());
      operand.manual = annotations_.manual[op->operands[0]];
      for (int i = 0; i < producer.operand(0)->shape().rank(); ++i)
        operand.dims[i] = wanted.dims[producer.dimensions()[i]];
      return b_->Clone(producer, local, {Get(op->operands[0], operand, producer)});
    }
    case Opcode::kIota: {
      OpContext context;
      context.op = &producer;
      context.rule = graph_.OpOf(producer)->rule;
      context.results.push_back(wanted);
      context.b = b_;
      absl::StatusOr<std::vector<Instruction*>> result = PartitionIota(context);
      return result.ok() ? (*result)[0] : nullptr;
    }
    default:
      return nullptr;
  }
}

Instruction* ComputationPartitioner::Get(int tensor, const Sharding& wanted, const Instruction& consumer,
                                         const std::string& name) {
  Value& value = values_[tensor];
  const Shape& shape = graph_.shape(tensor);
  if (!shape.IsArray()) {
    TOROID_CHECK(!value.versions.empty(), consumer.name());
    return value.versions[0].local;
  }
  for (const Version& version : value.versions) {
    if (version.sharding == wanted) return version.local;
  }
  if (value.producer != nullptr) {
    Instruction* made = Materialize(tensor, wanted);
    if (made != nullptr) {
      if (options_.poison_padding) made = Poison(made, shape.dims(), wanted);
      values_[tensor].versions.push_back({wanted, made});
      return made;
    }
    if (value.versions.empty()) Define(tensor, Whole(tensor), Materialize(tensor, Whole(tensor)));
  }
  TOROID_CHECK(!values_[tensor].versions.empty(), consumer.name(), " uses a value that was not made");
  const int64_t width = ByteWidth(shape.element_type());
  const ReshardPlan* best = nullptr;
  Version from;
  for (Version version : values_[tensor].versions) {
    if (wanted.partial & ~version.sharding.partial) continue;
    if (version.sharding.manual != wanted.manual) {
      // What is alike on all devices of the manual axes is a local value as it stands.
      const AxisSet added = wanted.manual & ~version.sharding.manual;
      if ((version.sharding.manual & ~wanted.manual) != 0 || (version.sharding.DimAxes() & added) != 0)
        continue;
      version.sharding.manual = wanted.manual;
    }
    const ReshardPlan& plan = planner_->Plan(shape.dims(), width, version.sharding, wanted);
    if (best == nullptr || plan.time < best->time) {
      best = &plan;
      from = version;
    }
  }
  TOROID_CHECK(best != nullptr, consumer.name(), " wants ", mesh_.ToString(wanted));
  if (best->sent_bytes == 0) {
    b_->Serve(&consumer);
  } else {
    std::string served = name.empty() ? names_.NameOf(consumer) : name;
    const std::string parameter = names_.ParameterBehind(tensor);
    if (!parameter.empty() && parameter != served) absl::StrAppend(&served, " of ", parameter);
    b_->Serve(&consumer, StepText(from.sharding, wanted), std::move(served));
  }
  Instruction* local = Reshard(*b_, from.local, shape.dims(), from.sharding, *best);
  if (best->exceeds_bound) {
    full_replications_.push_back(
        {consumer.name(), SourceLine(module_, consumer.metadata()), best->peak_bytes,
         absl::StrCat("no way within the memory of its ends: ", StepText(from.sharding, wanted))});
  }
  for (const Move& move : best->moves) {
    if (move.kind == MoveKind::kAllGather && move.result.DimAxes() == 0) gathered_whole_ |= move.axes.Set();
  }
  if (options_.poison_padding) local = Poison(local, shape.dims(), wanted);
  values_[tensor].versions.push_back({wanted, local});
  return local;
}

Instruction* ComputationPartitioner::Poison(Instruction* x, absl::Span<const int64_t> dims,
                                            const Sharding& sharding) {
  const PrimitiveType type = x->shape().element_type();
  Literal garbage = VisitArrayType(
      type,
      [&](auto tag) -> Literal {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_same_v<T, bool>) {
          return Literal::Scalar<T>(true);
        } else if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
          using R = typename T::value_type;
          return Literal::Scalar<T>(
              T(std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()));
        } else if constexpr (IsSmallFloat<T>::value) {
          return Literal::Scalar<T>(T::QuietNan());
        } else if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, half> ||
                             std::is_same_v<T, bfloat16>) {
          return Literal::Scalar<T>(T(std::numeric_limits<float>::quiet_NaN()));
        } else if constexpr (std::is_integral_v<T>) {
          return Literal::Scalar<T>(std::numeric_limits<T>::max());
        } else {
          return Literal::Scalar<T>(T(-1));
        }
      },
      Literal());
  Instruction* fill = nullptr;
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t tiles = mesh_.Product(sharding.dims[d]);
    if (tiles == 1 || dims[d] % tiles == 0) continue;
    if (fill == nullptr) fill = b_->Constant(garbage);
    x = b_->MaskPadding(x, static_cast<int>(d), dims[d], sharding.dims[d], fill);
  }
  return x;
}

std::string ComputationPartitioner::StepText(const Sharding& from, const Sharding& to) const {
  return absl::StrCat(names_.Text(from), " -> ", names_.Text(to));
}

}  // namespace toroid
