#include "partitioner/plan/greedy_plan.h"

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "partitioner/plan/op_decider.h"

namespace toroid {
namespace {

// By leaf of the result: whether it shares memory with an argument.
std::vector<bool> AliasedLeaves(const Module& module, const Shape& result) {
  std::vector<bool> aliased(result.NumLeaves(), false);
  for (const auto& entry : module.proto().input_output_alias().entries()) {
    const Shape* shape = &result;
    int64_t leaf = 0;
    bool inside = true;
    for (const int64_t index : entry.output_shape_index()) {
      inside = index >= 0 && index < static_cast<int64_t>(shape->tuple_shapes().size());
      if (!inside) break;
      for (int64_t i = 0; i < index; ++i) leaf += shape->tuple_shapes()[i].NumLeaves();
      shape = &shape->tuple_shapes()[index];
    }
    for (int64_t i = 0; inside && i < shape->NumLeaves(); ++i) aliased[leaf + i] = true;
  }
  return aliased;
}

// By output: whether it is an array without an annotation that shares no memory with an argument. A free output may keep the
// sharding it was computed in.
std::vector<bool> FreeOutputs(const PreparedProgram& program) {
  std::vector<bool> free = AliasedLeaves(*program.flat, program.flat->entry()->root()->shape());
  for (size_t i = 0; i < free.size(); ++i) {
    const int output = program.graph->outputs()[i];
    free[i] =
        !free[i] && !program.annotations.tensor[output].has_value() && program.graph->shape(output).IsArray();
  }
  return free;
}

// The sharding in which an output is returned whose value is `tensor` of the graph: `planned`, unless the output is free and
// bringing its value there would send something. The value then stays as it was made, if it is cut into equal parts.
Sharding OutputSharding(const PreparedProgram& program, int tensor, bool is_free, const Sharding& planned,
                        const ValuePlaces& values) {
  Sharding wanted = planned;
  wanted.manual = program.annotations.manual[tensor];
  if (!is_free || wanted.manual != 0 || values.IsFree(tensor)) return wanted;
  const Shape& shape = program.graph->shape(tensor);
  const Sharding* made = nullptr;
  for (const Sharding* place : values.PlacesOf(tensor)) {
    const ReshardPlan& plan =
        program.planner->Plan(shape.dims(), ByteWidth(shape.element_type()), *place, wanted);
    if (plan.sent_bytes == 0) return wanted;
    // Callers cannot always take tiles of unequal size.
    bool even = true;
    for (int d = 0; d < shape.rank(); ++d) {
      even &= shape.dim(d) % program.annotations.mesh.Product(place->dims[d]) == 0;
    }
    if (made == nullptr && even && place->partial == 0) made = place;
  }
  return made == nullptr ? wanted : *made;
}

class Walk {
 public:
  Walk(Plan plan, const AssignmentPolicy& policy, bool fixed_outputs, PlanMemo* memo)
      : memo_(*memo),
        program_(memo->program()),
        graph_(*program_.graph),
        plan_(std::move(plan)),
        versions_(memo->versions()),
        steps_(plan_, memo),
        costs_(steps_, memo),
        places_(steps_, versions_),
        decider_(plan_, policy, places_, memo) {
    if (fixed_outputs) return;
    const std::vector<bool> free = FreeOutputs(program_);
    for (size_t i = 0; i < free.size(); ++i) {
      if (free[i]) free_outputs_.insert(graph_.outputs()[i]);
    }
  }

  std::optional<PricedPlan> Run() {
    decided_.resize(graph_.ops().size());
    for (const Instruction* parameter : program_.flat->entry()->parameters()) {
      if (!MakeEarlyVersions(graph_.Leaves(*parameter))) return std::nullopt;
    }
    for (int i = 0; i < steps_.size(); ++i) {
      if (!Take(i)) return std::nullopt;
      // Results of loops and branches have no early versions: the rewriter makes them behind an op.
      const FlowOp& op = *steps_.step(i).op;
      if (op.instruction != nullptr && !MakeEarlyVersions(op.results)) return std::nullopt;
    }
    PricedPlan priced;
    priced.plan = std::move(plan_);
    priced.plan.ops = std::move(decided_);
    priced.price = price_;
    return priced;
  }

 private:
  // Takes one step: delivers its values, or decides its op and computes it.
  bool Take(int i) {
    const ProgramStep& step = steps_.step(i);
    const auto set_of = [&](int t) { return places_.set(t); };
    StepCosts::Taken taken;
    if (!step.is_decided) {
      if (step.op->instruction == nullptr && free_outputs_.contains(step.op->results[0]))
        return Return(*step.op);
      if (!costs_.Deliver(i, set_of, &taken)) return false;
      Add(taken);
      return true;
    }
    const FlowOp& op = *step.op;
    const bool is_free = !step.hands_on && IsMadeAnywhere(
                                               graph_, op, [&](int t) { return places_.IsFree(t); },
                                               [&](int t) { return versions_.HasWhole(places_.set(t)); });
    if (!is_free) {
      OpDecision decision = decider_.Decide(*op.instruction, op);
      steps_.SetDecision(i, {&memo_.Choice(op, decision.factor_axes), decision.passed_on});
      decided_[step.op - graph_.ops().data()] = std::move(decision);
    }
    const bool takes_parts = absl::c_any_of(op.operands, [&](int t) { return IsCut(t); });
    if (!costs_.Compute(i, *step.choice, step.passed_on, set_of, &taken)) return false;
    Add(taken);
    if (op.results.empty() || places_.set(op.results[0]) != VersionSets::kAnywhere) {
      price_.flops += step.times * step.choice->flops;
      price_.written_bytes += step.times * step.choice->written_bytes;
      if (step.choice->sent_bytes > 0) Share(i);
      const bool wants_parts =
          absl::c_any_of(op.results, [&](int t) { return plan_.shardings[t].DimAxes() != 0; });
      if (step.choice->used == 0 && step.passed_on.none() && (takes_parts || wants_parts))
        ++price_.replicated;
    }
    return true;
  }

  // Returns the value of a free output.
  bool Return(const FlowOp& edge) {
    const int from = edge.operands[0], output = edge.results[0];
    const Sharding wanted =
        OutputSharding(program_, from, /*is_free=*/true, plan_.shardings[output], places_);
    const AxisSet manual = plan_.shardings[output].manual;
    plan_.shardings[output] = wanted;
    plan_.shardings[output].manual = manual;
    return places_.IsFree(from) || Fetch(from, wanted);
  }

  bool Fetch(int t, const Sharding& wanted) {
    const VersionSets::Fetched fetched = versions_.Fetch(t, places_.set(t), versions_.Number(wanted));
    if (fetched.set < 0) return false;
    price_.time += fetched.moves.time;
    price_.sent_bytes += fetched.moves.sent_bytes;
    price_.collectives += fetched.moves.collectives;
    places_.Put(t, fetched.set);
    return true;
  }

  // Takes the exchanges of step `i` off the price that an earlier op has made with the same operands.
  void Share(int i) {
    const ProgramStep& step = steps_.step(i);
    const OpChoice& choice = *step.choice;
    for (const ExchangePrices::Exchanges::Part& part : choice.exchanges->parts) {
      if (exchanged_.emplace(step.op->operands[part.operand], choice.operands[part.operand], part.hash)
              .second)
        continue;
      price_.time -= step.times * part.time;
      price_.sent_bytes -= step.times * part.sent_bytes;
      price_.collectives -= step.times;
    }
  }

  // Whether a tensor exists in parts, and nowhere whole.
  bool IsCut(int t) const {
    const auto places = places_.PlacesOf(t);
    return graph_.shape(t).IsArray() && !places.empty() &&
           absl::c_all_of(places, [](const Sharding* place) { return place->DimAxes() != 0; });
  }

  void Add(const StepCosts::Taken& taken) {
    price_.time += taken.cost;
    price_.sent_bytes += taken.sent_bytes;
    price_.collectives += taken.collectives;
    for (const auto& [t, set] : taken.after) places_.Put(t, set);
  }

  // Makes the plan's second versions of tensors that were just computed.
  bool MakeEarlyVersions(absl::Span<const int> tensors) {
    for (const int t : tensors) {
      const auto early = plan_.early.find(t);
      if (early == plan_.early.end() || places_.IsFree(t)) continue;
      Sharding sharding = early->second;
      sharding.manual = program_.annotations.manual[t];
      if (!Fetch(t, sharding)) return false;
    }
    return true;
  }

  PlanMemo& memo_;
  const PreparedProgram& program_;
  const FlowGraph& graph_;
  Plan plan_;
  VersionSets& versions_;
  ProgramSteps steps_;
  StepCosts costs_;
  ValuePlaces places_;
  OpDecider decider_;
  std::vector<std::optional<OpDecision>> decided_;
  absl::flat_hash_set<int> free_outputs_;
  absl::flat_hash_set<std::tuple<int, int, size_t>>
      exchanged_;  // Tensor, its sharding, what was done with it.
  Price price_;
};

}  // namespace

std::optional<PricedPlan> DecideGreedily(Plan plan, const AssignmentPolicy& policy, bool fixed_outputs,
                                         PlanMemo* memo) {
  std::optional<PricedPlan> priced = Walk(std::move(plan), policy, fixed_outputs, memo).Run();
  if (priced) priced->policy = &policy;
  return priced;
}

}  // namespace toroid
