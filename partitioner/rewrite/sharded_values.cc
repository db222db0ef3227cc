#include "partitioner/rewrite/sharded_values.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "partitioner/assign/assignment.h"
#include "partitioner/ops/op_families.h"
#include "partitioner/reshard/emit_plan.h"

namespace toroid {

ShardedValues::ShardedValues(const PreparedProgram& program, const ShardingPlan& plan,
                             const ProgramNames& names, LocalValueHook hook, ReplicationLog* log)
    : program_(program),
      graph_(*program.graph),
      plan_(plan),
      names_(names),
      hook_(std::move(hook)),
      log_(log),
      values_(program.graph->num_tensors()) {}

Sharding ShardedValues::Replicated(int tensor) const {
  Sharding sharding = Sharding::Replicated(graph_.shape(tensor).rank());
  sharding.manual = program_.annotations.manual[tensor];
  return sharding;
}

Sharding ShardedValues::Planned(int tensor) const {
  Sharding sharding = plan_[tensor];
  sharding.manual = program_.annotations.manual[tensor];
  return sharding;
}

void ShardedValues::Add(int tensor, const Sharding& sharding, Instruction* local) {
  values_[tensor].versions.push_back({sharding, local});
}

Instruction* ShardedValues::AddMade(SpmdBuilder& b, int tensor, const Sharding& sharding,
                                    Instruction* local) {
  if (hook_ != nullptr && graph_.shape(tensor).IsArray()) {
    local = hook_(b, local, graph_.shape(tensor).dims(), sharding);
  }
  Add(tensor, sharding, local);
  return local;
}

void ShardedValues::AddRematerializable(int tensor, const Instruction* producer) {
  values_[tensor].producer = producer;
}

void ShardedValues::Alias(int from, int to) { values_[to] = values_[from]; }

void ShardedValues::TakeProducer(int from, int to) {
  if (IsRematerializable(from)) values_[to].producer = values_[from].producer;
}

void ShardedValues::Forget(int tensor) { values_[tensor] = Value(); }

bool ShardedValues::IsPartial(int tensor) const {
  const auto& versions = values_[tensor].versions;
  return !versions.empty() &&
         absl::c_all_of(versions, [](const Version& v) { return v.sharding.partial != 0; });
}

Instruction* ShardedValues::Rematerialize(SpmdBuilder& b, int tensor, const Sharding& wanted,
                                          AxisSet* gathered) {
  const Instruction& producer = *values_[tensor].producer;
  const Shape& shape = producer.shape();
  const Shape local = b.ShardShape(shape, wanted);
  switch (producer.opcode()) {
    case Opcode::kConstant: {
      if (local.dims() == shape.dims()) return b.Clone(producer, shape, {});
      const absl::StatusOr<Literal> value = LiteralOf(producer);
      if (!value.ok() || !IsSplat(*value)) return nullptr;
      Literal element(Shape(shape.element_type(), {}));
      std::copy_n(value->bytes(), ByteWidth(shape.element_type()), element.mutable_bytes());
      return b.Broadcast(b.Constant(element), local.dims());
    }
    case Opcode::kBroadcast: {
      const int operand = graph_.OpOf(producer)->operands[0];
      Sharding needed = Replicated(operand);
      for (size_t d = 0; d < needed.dims.size(); ++d) needed.dims[d] = wanted.dims[producer.dimensions()[d]];
      const Fetched fetched = Fetch(b, operand, needed, producer);
      *gathered |= fetched.gathered;
      return b.Clone(producer, local, {fetched.local});
    }
    case Opcode::kIota: {
      OpContext context{&producer, graph_.OpOf(producer)->rule, {}, &b};
      context.results.push_back(wanted);
      return families::kIota.program(context)[0];
    }
    default:
      return ComputeAnew(b, *graph_.OpOf(producer), wanted, gathered);
  }
}

Instruction* ShardedValues::ComputeAnew(SpmdBuilder& b, const FlowOp& op, const Sharding& wanted,
                                        AxisSet* gathered) {
  const ShardingRule& rule = *op.rule;
  std::vector<AxisList> factor_axes(rule.factors.size());
  for (size_t d = 0; d < wanted.dims.size(); ++d) {
    const DimFactors& dim = rule.results[0][d];
    for (int i = 0; i < dim.size; ++i) {
      const int f = dim.factor[i];
      factor_axes[f] = rule.Admissible(b.mesh(), f, FactorAxes(b.mesh(), rule, dim, i, wanted.dims[d]));
      // As of a reshape of [4,7] to [7,4]: it is made whole and cut then.
      if (rule.factors[f].kind == FactorKind::kBlocked && !factor_axes[f].empty()) return nullptr;
    }
  }
  if (wanted.partial != 0 || !IsExpressible(b.mesh(), rule, factor_axes) ||
      ShardingUnder(b.mesh(), rule, rule.results[0], factor_axes).dims != wanted.dims)
    return nullptr;
  OpContext context{op.instruction, &rule, factor_axes, &b};
  for (size_t i = 0; i < op.operands.size(); ++i) {
    Sharding needed = ShardingUnder(b.mesh(), rule, rule.operands[i], factor_axes);
    needed.manual = program_.annotations.manual[op.operands[i]];
    const Fetched operand = Fetch(b, op.operands[i], needed, *op.instruction);
    *gathered |= operand.gathered;
    context.operands.push_back(operand.local);
    context.operand_shardings.push_back(std::move(needed));
  }
  context.results.push_back(wanted);
  b.SetProvenance(op.instruction);
  return LocalProgram(context)[0];
}

ShardedValues::Fetched ShardedValues::Fetch(SpmdBuilder& b, int tensor, const Sharding& wanted,
                                            const Instruction& consumer, const std::string& name) {
  const Value& value = values_[tensor];
  if (!graph_.shape(tensor).IsArray()) {
    TOROID_CHECK(!value.versions.empty(), consumer.name());
    return {value.versions[0].local};
  }
  for (const Version& version : value.versions) {
    if (version.sharding == wanted) return {version.local};
  }
  if (value.producer != nullptr) {
    AxisSet gathered = 0;
    Instruction* made = Rematerialize(b, tensor, wanted, &gathered);
    if (made != nullptr) return {AddMade(b, tensor, wanted, made), gathered};
    if (value.versions.empty()) {
      Add(tensor, Replicated(tensor), Rematerialize(b, tensor, Replicated(tensor), &gathered));
    }
  }
  return Reshard(b, tensor, wanted, consumer, name);
}

ShardedValues::Fetched ShardedValues::Reshard(SpmdBuilder& b, int tensor, const Sharding& wanted,
                                              const Instruction& consumer, const std::string& name) {
  const Shape& shape = graph_.shape(tensor);
  TOROID_CHECK(!values_[tensor].versions.empty(), consumer.name(), " uses a value that was not made");
  const ReshardPlan* best = nullptr;
  Version from;
  for (Version version : values_[tensor].versions) {
    if (wanted.partial & ~version.sharding.partial) continue;
    if (version.sharding.manual != wanted.manual) {
      // A value that is replicated over the manual axes is local to them as it is.
      const AxisSet added = wanted.manual & ~version.sharding.manual;
      if ((version.sharding.manual & ~wanted.manual) != 0 || (version.sharding.DimAxes() & added) != 0)
        continue;
      version.sharding.manual = wanted.manual;
    }
    const ReshardPlan& plan =
        program_.planner->Plan(shape.dims(), ByteWidth(shape.element_type()), version.sharding, wanted);
    if (best == nullptr || plan.time < best->time) {
      best = &plan;
      from = version;
    }
  }
  TOROID_CHECK(best != nullptr, consumer.name(), " wants ", b.mesh().ToString(wanted));
  const auto step = [&] { return absl::StrCat(names_.Text(from.sharding), " -> ", names_.Text(wanted)); };
  if (best->sent_bytes == 0) {
    b.SetProvenance(&consumer);
  } else {
    std::string needed_by = name.empty() ? names_.NameOf(consumer) : name;
    const std::string parameter = names_.ParameterBehind(tensor);
    if (!parameter.empty() && parameter != needed_by) absl::StrAppend(&needed_by, " of ", parameter);
    b.SetProvenance(&consumer, step(), std::move(needed_by));
  }
  Fetched fetched;
  Instruction* local = toroid::Reshard(b, from.local, shape.dims(), from.sharding, *best);
  if (best->exceeds_bound) {
    log_->Add(consumer, best->peak_bytes, absl::StrCat("no way within the memory of its ends: ", step()));
  }
  for (const Move& move : best->moves) {
    if (move.kind == MoveKind::kAllGather && move.result.DimAxes() == 0) fetched.gathered |= move.axes.Set();
  }
  fetched.local = AddMade(b, tensor, wanted, local);
  return fetched;
}

}  // namespace toroid
