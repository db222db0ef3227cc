#include "partitioner/computation_partitioner.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "partitioner/reducer.h"
#include "partitioner/reduction_points.h"

namespace toroid {
namespace {

// True if the operand is a constant zero, perhaps broadcast: it may count as partial.
bool IsZero(const Instruction* instruction) {
  while (instruction->opcode() == Opcode::kBroadcast || instruction->opcode() == Opcode::kReshape) {
    instruction = instruction->operand(0);
  }
  if (instruction->opcode() != Opcode::kConstant || !instruction->shape().IsScalar()) return false;
  absl::StatusOr<Literal> value = Literal::FromProto(instruction->attrs().literal());
  return value.ok() && *value == Literal(instruction->shape());
}

}  // namespace

ComputationPartitioner::ComputationPartitioner(const Module& module, const FlowGraph& graph,
                                               const Annotations& annotations,
                                               const std::vector<Sharding>& targets, const Mesh& mesh,
                                               const PartitionOptions& options, ReshardPlanner* planner,
                                               Module* out)
    : module_(module),
      graph_(graph),
      annotations_(annotations),
      targets_(targets),
      mesh_(mesh),
      options_(options),
      planner_(planner),
      out_(out),
      names_(module, graph, annotations, options.device_order_seed.has_value()),
      values_(graph.num_tensors()) {
  shared_.module = out;
  shared_.mesh = &mesh_;
  shared_.cost = &planner->cost();
  shared_.name_of = [this](const Instruction& instruction) { return names_.NameOf(instruction); };
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      shared_.channel = std::max(shared_.channel, instruction->attrs().channel_id());
    }
  }
}

absl::Status ComputationPartitioner::Run() {
  ReportOverruled();
  must_reduce_ = MustReduce(graph_, targets_, mesh_);
  ASSIGN_OR_RETURN(Computation * entry, PartitionComputation(*module_.entry(), /*is_entry=*/true));
  out_->set_entry(entry);
  return shared_.status();
}

Computation* ComputationPartitioner::CopyComputation(const Computation* computation) {
  Computation*& copy = copied_[computation];
  if (copy != nullptr) return copy;
  Computation* made = out_->AddComputation(computation->name());
  std::vector<Instruction*> map(computation->size());
  for (const auto& instruction : computation->instructions()) {
    // Annotations mean nothing inside: look through them.
    if (IsShardingAnnotation(*instruction)) {
      map[instruction->index()] = map[instruction->operand(0)->index()];
      continue;
    }
    std::vector<Instruction*> operands;
    for (const Instruction* operand : instruction->operands()) operands.push_back(map[operand->index()]);
    Instruction* clone = made->AddClone(*instruction, instruction->shape(), operands);
    clone->set_name(instruction->name());
    std::vector<Computation*> called;
    for (const Computation* callee : instruction->called()) called.push_back(CopyComputation(callee));
    clone->set_called(called);
    map[instruction->index()] = clone;
  }
  made->set_root(map[computation->root()->index()]);
  TOROID_CHECK(made->CollectParameters().ok());
  return copied_[computation] = made;
}

uint32_t ComputationPartitioner::PartialToPassOn(const Instruction& instruction, const FlowOp& op,
                                                 Sharding* partial) {
  if (options_.replicate_everything || op.results.size() != 1) return 0;
  uint32_t present = 0;
  const Sharding* first = nullptr;
  for (size_t i = 0; i < op.operands.size() && i < 32; ++i) {
    if (!graph_.shape(op.operands[i]).IsArray() || !OnlyPartial(op.operands[i])) continue;
    const Sharding& sharding = values_[op.operands[i]].versions[0].sharding;
    if (first != nullptr && (first->partial != sharding.partial || first->reducer != sharding.reducer))
      return 0;
    first = &sharding;
    present |= uint32_t{1} << i;
    if (must_reduce_[op.operands[i]]) return 0;
  }
  if (present == 0) return 0;
  for (const Linearity& linearity : op.rule->linear) {
    if ((present & ~linearity.together) != 0) continue;
    if (first->reducer != Reducer::kAdd && !linearity.any_reducer) continue;
    // Zeros may stand for a missing partial of a sum.
    bool complete = true;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      if (!(linearity.together >> i & 1) || present >> i & 1) continue;
      complete &= first->reducer == Reducer::kAdd && IsZero(instruction.operand(i));
    }
    if (!complete) continue;
    if (instruction.opcode() == Opcode::kReduce && !IsZero(instruction.operand(1))) continue;
    *partial = *first;
    return present;
  }
  return 0;
}

Assignment ComputationPartitioner::Assign(const Instruction& instruction, const FlowOp& op,
                                          uint32_t passed_on, const Sharding& partial) {
  AssignmentProblem problem;
  problem.op = &instruction;
  problem.rule = op.rule;
  AxisSet manual = 0;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const int t = op.operands[i];
    TensorView view;
    view.dims = graph_.shape(t).dims();
    view.width = std::max<int64_t>(1, ByteWidth(graph_.shape(t).element_type()));
    view.free = IsFree(t);
    manual |= annotations_.manual[t];
    for (const Version& version : values_[t].versions) {
      Sharding place = version.sharding;
      if (passed_on >> i & 1) {
        place.partial = 0;
        place.reducer = Reducer::kAdd;
      }
      view.places.push_back(std::move(place));
    }
    problem.operands.push_back(std::move(view));
  }
  for (const int t : op.results) {
    TensorView view;
    view.dims = graph_.shape(t).dims();
    view.width = std::max<int64_t>(1, ByteWidth(graph_.shape(t).element_type()));
    manual |= annotations_.manual[t];
    view.places.push_back(targets_[t]);
    problem.results.push_back(std::move(view));
  }
  problem.reserved = manual | (passed_on != 0 ? partial.partial : 0);
  if (options_.replicate_everything) {
    Assignment whole;
    whole.factor_axes.resize(op.rule->factors.size());
    return whole;
  }
  return ChooseAssignment(problem, planner_, mesh_);
}

ComputationPartitioner::Decision ComputationPartitioner::Decide(const Instruction& instruction,
                                                              const FlowOp& op) {
  Decision decision;
  decision.passed_on = PartialToPassOn(instruction, op, &decision.partial);
  decision.assignment = Assign(instruction, op, decision.passed_on, decision.partial);
  if (decision.passed_on == 0) return decision;
  const Sharding& partial = decision.partial;
  Assignment reduced = Assign(instruction, op, 0, partial);
  const AxisSet own_partial = PartialAxes(instruction, *op.rule, decision.assignment.factor_axes);
  // One value has one reducer: what comes in as a maximum cannot go out as a sum over other axes.
  bool reduce_first = own_partial != 0 && partial.reducer != op.rule->reducer;
  if (!reduce_first) {
    // Reducing first may be cheaper: the reduced value may be wanted cut over the very axes it is partial
    // over.
    const Dims dims = mesh_.ShardDims(graph_.shape(op.results[0]).dims(), targets_[op.results[0]]);
    int64_t bytes = ByteWidth(graph_.shape(op.results[0]).element_type());
    for (const int64_t size : dims) bytes *= size;
    const double later = decision.assignment.time +
                         planner_->cost().CollectiveTime(CollectiveKind::kAllReduce, bytes,
                                                         mesh_.Product(partial.partial));
    reduce_first = reduced.time < later;
  }
  if (reduce_first) {
    decision.passed_on = 0;
    decision.assignment = std::move(reduced);
  }
  return decision;
}

Sharding ComputationPartitioner::OperandSharding(const FlowOp& op, size_t operand,
                                                 const Decision& decision) const {
  Sharding needed = ShardingUnder(mesh_, *op.rule, op.rule->operands[operand], decision.assignment.factor_axes);
  needed.manual = annotations_.manual[op.operands[operand]];
  if (decision.passed_on >> operand & 1) {
    needed.partial = decision.partial.partial;
    needed.reducer = decision.partial.reducer;
  }
  return needed;
}

absl::Status ComputationPartitioner::PartitionOp(const Instruction& instruction, const FlowOp& op) {
  const Opcode opcode = instruction.opcode();
  if (opcode == Opcode::kConstant && !instruction.shape().IsArray()) return PartitionWhole(instruction);
  if (opcode == Opcode::kConstant || opcode == Opcode::kIota ||
      (opcode == Opcode::kBroadcast && !options_.replicate_everything &&
       (IsFree(op.operands[0]) || values_[op.operands[0]].versions[0].sharding.IsReplicated()))) {
    values_[op.results[0]].producer = &instruction;
    return absl::OkStatus();
  }
  return Emit(instruction, op, Decide(instruction, op));
}

absl::Status ComputationPartitioner::PartitionLeaves(const Instruction& instruction) {
  const auto from = graph_.Leaves(*instruction.operand(0)), to = graph_.Leaves(instruction);
  const FlowOp* op = graph_.LeafOps(instruction).data();
  std::vector<Instruction*> operands;
  std::vector<Sharding> shardings;
  for (size_t i = 0; i < to.size(); ++i) {
    Sharding sharding = Whole(to[i]);
    if (graph_.shape(to[i]).IsArray()) {
      sharding = OperandSharding(*op, 0, Decide(instruction, *op));
      ++op;
    }
    operands.push_back(Get(from[i], sharding, instruction));
    shardings.push_back(std::move(sharding));
  }
  b_->Serve(&instruction);
  Instruction* operand = b_->Unflatten(instruction.shape(), operands);
  const std::vector<Instruction*> locals =
      b_->Flatten(b_->Clone(instruction, operand->shape(), {operand}));
  for (size_t i = 0; i < to.size(); ++i) {
    shardings[i].manual = annotations_.manual[to[i]];
    Define(to[i], shardings[i], locals[i]);
  }
  return absl::OkStatus();
}

absl::Status ComputationPartitioner::Emit(const Instruction& instruction, const FlowOp& op,
                                          const Decision& decision) {
  const ShardingRule& rule = *op.rule;
  const Assignment& assignment = decision.assignment;
  OpContext context;
  context.op = &instruction;
  context.rule = &rule;
  context.factor_axes = assignment.factor_axes;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    Sharding needed = OperandSharding(op, i, decision);
    gathered_whole_ = 0;
    context.operands.push_back(Get(op.operands[i], needed, instruction));
    if (gathered_whole_ != 0) ReportGather(instruction, op, static_cast<int>(i), assignment);
    context.operand_shardings.push_back(std::move(needed));
  }
  const AxisSet partial_axes = PartialAxes(instruction, rule, assignment.factor_axes);
  const AxisSet passed_axes = decision.passed_on != 0 ? decision.partial.partial : 0;
  TOROID_CHECK(partial_axes == 0 || passed_axes == 0 || decision.partial.reducer == rule.reducer,
               instruction.name());
  for (size_t i = 0; i < op.results.size(); ++i) {
    Sharding natural = ShardingUnder(mesh_, rule, rule.results[i], assignment.factor_axes);
    natural.manual = annotations_.manual[op.results[i]];
    natural.partial = partial_axes | passed_axes;
    if (natural.partial != 0) natural.reducer = partial_axes != 0 ? rule.reducer : decision.partial.reducer;
    context.results.push_back(std::move(natural));
  }
  context.b = b_;
  context.copy_computation = [this](const Computation* computation) { return CopyComputation(computation); };
  b_->Serve(&instruction);
  ASSIGN_OR_RETURN(const std::vector<Instruction*> locals, LocalProgram(context));
  for (size_t i = 0; i < op.results.size(); ++i) {
    Instruction* local = locals[i];
    if (options_.poison_padding && graph_.shape(op.results[i]).IsArray()) {
      local = Poison(local, graph_.shape(op.results[i]).dims(), context.results[i]);
    }
    Define(op.results[i], context.results[i], local);
  }
  ReportReplication(instruction, op, assignment);
  return absl::OkStatus();
}

// Ops without a rule: operands whole, results whole.
absl::Status ComputationPartitioner::PartitionWhole(const Instruction& instruction) {
  std::vector<Instruction*> operands;
  bool cut = false;
  for (const Instruction* operand : instruction.operands()) {
    std::vector<Instruction*> leaves;
    for (const int t : graph_.Leaves(*operand)) {
      cut |= graph_.shape(t).IsArray() && !IsFree(t) && values_[t].versions[0].sharding.DimAxes() != 0;
      leaves.push_back(Get(t, Whole(t), instruction));
    }
    operands.push_back(b_->Unflatten(operand->shape(), leaves));
  }
  if (cut) {
    full_replications_.push_back({instruction.name(), SourceLine(module_, instruction.metadata()),
                                  instruction.shape().ByteSize(),
                                  absl::StrCat(instruction.opcode_name(), " has no partitioned form")});
  }
  b_->Serve(&instruction);
  const std::vector<Instruction*> locals = CloneWhole(instruction, operands);
  const auto leaves = graph_.Leaves(instruction);
  for (size_t i = 0; i < leaves.size(); ++i) Define(leaves[i], Whole(leaves[i]), locals[i]);
  return absl::OkStatus();
}

std::vector<Instruction*> ComputationPartitioner::CloneWhole(const Instruction& instruction,
                                                             absl::Span<Instruction* const> operands) {
  const auto copy = [this](const Computation* computation) { return CopyComputation(computation); };
  if (instruction.opcode() == Opcode::kCustomCall) {
    return EmitCustomCall(*b_, instruction, operands, instruction.shape(), copy);
  }
  Instruction* clone = b_->Clone(instruction, instruction.shape(), operands);
  if (!instruction.called().empty()) {
    std::vector<Computation*> called;
    for (const Computation* computation : instruction.called()) called.push_back(copy(computation));
    clone->set_called(called);
  }
  return b_->Flatten(clone);
}

bool ComputationPartitioner::PassThroughAnnotation(const Instruction& instruction) {
  if (!IsShardingAnnotation(instruction)) return false;
  const auto operands = graph_.Leaves(*instruction.operand(0)), results = graph_.Leaves(instruction);
  for (size_t i = 0; i < results.size(); ++i) {
    const int from = operands[i], to = results[i];
    const bool asked = annotations_.tensor[to].has_value() && annotations_.tensor[to]->closed != 0;
    if (!asked || options_.replicate_everything) {
      values_[to] = values_[from];
      continue;
    }
    const Sharding wanted = Target(to);
    Instruction* local = Get(from, wanted, instruction);
    if (IsFree(from)) values_[to].producer = values_[from].producer;
    Define(to, wanted, local);
  }
  return true;
}

absl::Status ComputationPartitioner::PartitionBoundary(const Instruction& instruction,
                                                       const ManualBoundary& boundary) {
  std::vector<int> operands;
  for (const Instruction* operand : instruction.operands()) {
    for (const int leaf : graph_.Leaves(*operand)) operands.push_back(leaf);
  }
  const auto results = graph_.Leaves(instruction);
  for (size_t i = 0; i < results.size(); ++i) {
    const int local_tensor = boundary.enters ? results[i] : operands[i];
    const int global_tensor = boundary.enters ? operands[i] : results[i];
    // The buffer is the same on both sides: manual axes are the major ones of each dimension, then the free
    // axes that cut the local value.
    Sharding local = targets_[local_tensor];
    if (options_.replicate_everything) local = Sharding::Replicated(static_cast<int>(local.dims.size()));
    Sharding global = Sharding::Replicated(static_cast<int>(local.dims.size()));
    for (size_t d = 0; d < local.dims.size(); ++d) {
      global.dims[d] = boundary.global[i].dims[d].Only(boundary.manual);
      global.dims[d].Append(local.dims[d]);
    }
    global.manual = annotations_.manual[global_tensor];
    local.manual = annotations_.manual[local_tensor];
    Instruction* value =
        boundary.enters ? Get(operands[i], global, instruction) : Get(operands[i], local, instruction);
    Define(results[i], boundary.enters ? local : global, value);
  }
  return absl::OkStatus();
}

absl::Status ComputationPartitioner::PartitionInstruction(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kParameter:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
      return absl::OkStatus();
    case Opcode::kWhile:
      return PartitionWhile(instruction);
    case Opcode::kConditional:
      return PartitionConditional(instruction);
    default:
      break;
  }
  const auto boundary = annotations_.boundaries.find(&instruction);
  if (boundary != annotations_.boundaries.end()) return PartitionBoundary(instruction, boundary->second);
  if (IsCallTo(instruction, "xla.sdy.ShardingGroup")) return absl::OkStatus();
  const auto device = annotations_.device.find(&instruction);
  if (device != annotations_.device.end() && mesh_.num_devices() > 1) {
    return PartitionOnDevice(instruction, device->second);
  }
  const auto fed = annotations_.fed.find(&instruction);
  if (fed != annotations_.fed.end()) return PartitionOutfeed(instruction, fed->second);
  if (PassThroughAnnotation(instruction)) return absl::OkStatus();
  if (!graph_.LeafOps(instruction).empty()) return PartitionLeaves(instruction);
  const FlowOp* op = graph_.OpOf(instruction);
  return op == nullptr ? PartitionWhole(instruction) : PartitionOp(instruction, *op);
}

}  // namespace toroid
