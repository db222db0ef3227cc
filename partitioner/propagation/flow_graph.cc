#include "partitioner/propagation/flow_graph.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "hlo/analysis/custom_call_targets.h"
#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

bool HasNestedTuple(const Shape& shape) {
  return absl::c_any_of(shape.tuple_shapes(), [](const Shape& element) { return element.IsTuple(); });
}

bool IsDynamic(const Shape& shape) {
  return absl::c_any_of(shape.tuple_shapes(), IsDynamic) || (shape.IsArray() && shape.IsDynamic());
}

// Whether some operand or the result has a dynamic dimension: it may have fewer elements than its shape says,
// so that a tile of it may have none.
bool MeetsDynamicSizes(const Instruction& instruction) {
  return IsDynamic(instruction.shape()) ||
         absl::c_any_of(instruction.operands(), [](const Instruction* x) { return IsDynamic(x->shape()); });
}

// Sets the directions in which shardings may cross `op`. GSPMD's ShardBarrierFrom and ShardBarrierTo close
// one direction; Shardy's PropagationBarrier states the allowed ones: 0 none, 1 forward, 2 backward, 3 both.
void SetBarrier(const Instruction& instruction, FlowOp* op) {
  op->forward = !IsCallTo(instruction, "ShardBarrierFrom");
  op->backward = !IsCallTo(instruction, "ShardBarrierTo");
  if (!IsCallTo(instruction, "xla.sdy.PropagationBarrier")) return;
  const std::string* allowed = instruction.FrontendAttribute("xla.sdy.allowed_direction");
  int direction = 0;
  if (allowed != nullptr && !absl::SimpleAtoi(allowed->substr(0, allowed->find(' ')), &direction)) return;
  op->forward = direction & 1;
  op->backward = direction & 2;
}

}  // namespace

FlowGraph::FlowGraph(const Module& module) : computation_begin_(module.num_computations(), -1) {
  Reach(*module.entry());
  int total = 0;
  for (const auto& computation : module.computations()) {
    if (computation_begin_[computation->index()] < 0) continue;
    computation_begin_[computation->index()] = total;
    total += computation->size();
  }
  leaf_begin_.assign(total, 0);
  leaf_end_.assign(total, 0);
  op_of_.assign(total, -1);
  leaves_.reserve(total);
  shapes_.reserve(total);
  ops_.reserve(total);
  AddComputation(*module.entry());
  for (const int leaf : Leaves(*module.entry()->root())) {
    outputs_.push_back(NewTensor(shape(leaf)));
    AddEdge(leaf, outputs_.back());
  }
}

void FlowGraph::Reach(const Computation& computation) {
  if (computation_begin_[computation.index()] >= 0) return;
  computation_begin_[computation.index()] = 0;
  for (const auto& instruction : computation.instructions()) {
    if (instruction->opcode() != Opcode::kWhile && instruction->opcode() != Opcode::kConditional) continue;
    for (const Computation* callee : instruction->called()) Reach(*callee);
  }
}

int FlowGraph::NewTensor(const Shape& shape) {
  shapes_.push_back(&shape);
  return num_tensors() - 1;
}

void FlowGraph::NewTensors(const Shape& shape, std::vector<int>* tensors) {
  if (!shape.IsTuple()) {
    tensors->push_back(NewTensor(shape));
    return;
  }
  for (const Shape& element : shape.tuple_shapes()) NewTensors(element, tensors);
}

void FlowGraph::SetLeaves(const Instruction& instruction, absl::Span<const int> tensors) {
  const int i = computation_begin_[instruction.computation()->index()] + instruction.index();
  // Copied first: `tensors` may be a span of leaves_.
  const absl::InlinedVector<int, 8> copy(tensors.begin(), tensors.end());
  leaf_begin_[i] = static_cast<int>(leaves_.size());
  leaves_.insert(leaves_.end(), copy.begin(), copy.end());
  leaf_end_[i] = static_cast<int>(leaves_.size());
}

void FlowGraph::AddEdge(int from, int to) {
  if (!shape(from).IsArray()) return;
  rules_.push_back(PointwiseRule(shape(to).dims(), 1));
  ops_.push_back({nullptr, &rules_.back(), {from}, {to}});
}

void FlowGraph::NoteGroup(const Instruction& instruction) {
  std::string id;
  absl::Span<const int> members;
  if (IsCallTo(instruction, "xla.sdy.ShardingGroup") && instruction.num_operands() > 0) {
    const std::string* text = instruction.FrontendAttribute("xla.sdy.sharding_group_id");
    if (text == nullptr) return;
    id = absl::StrCat("sdy ", *text);
    members = Leaves(*instruction.operand(0));
  } else if (instruction.sharding() != nullptr && instruction.sharding()->is_shard_group()) {
    id = absl::StrCat(instruction.sharding()->shard_group_id());
    members = Leaves(instruction);
  }
  if (members.size() != 1 || !shape(members[0]).IsArray()) return;
  const auto [it, is_new] = group_of_id_.try_emplace(id, static_cast<int>(groups_.size()));
  if (is_new) groups_.emplace_back();
  // A member whose dimensions differ from the group's cannot have the same tiles; it is left out.
  std::vector<int>& group = groups_[it->second];
  if (group.empty() || shape(group[0]).SameDims(shape(members[0]))) group.push_back(members[0]);
}

bool FlowGraph::AddLeafOps(const Instruction& instruction, absl::Span<const int> tensors) {
  if (!instruction.shape().IsTuple() || !HandsLeavesOn(instruction)) return false;
  const std::vector<int> from = OperandLeaves(instruction);
  const int begin = static_cast<int>(ops_.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!shape(tensors[i]).IsArray()) continue;
    rules_.push_back(MovedRule(shape(tensors[i]).dims()));
    ops_.push_back({&instruction, &rules_.back(), {from[i]}, {tensors[i]}});
  }
  leaf_ops_.emplace(&instruction, std::make_pair(begin, static_cast<int>(ops_.size()) - begin));
  return true;
}

std::vector<int> FlowGraph::OperandLeaves(const Instruction& instruction) const {
  std::vector<int> tensors;
  for (const Instruction* operand : instruction.operands()) {
    const auto leaves = Leaves(*operand);
    tensors.insert(tensors.end(), leaves.begin(), leaves.end());
  }
  return tensors;
}

std::vector<const Instruction*> FlowGraph::ReachedInstructions(const Module& module) const {
  std::vector<const Instruction*> reached;
  for (const auto& computation : module.computations()) {
    if (!Reached(*computation)) continue;
    for (const auto& instruction : computation->instructions()) reached.push_back(instruction.get());
  }
  return reached;
}

void FlowGraph::AddComputation(const Computation& computation) {
  for (const auto& instruction : computation.instructions()) AddInstruction(*instruction);
}

void FlowGraph::AddInstruction(const Instruction& instruction) {
  const auto flow = [this](absl::Span<const int> from, absl::Span<const int> to) {
    for (size_t i = 0; i < from.size() && i < to.size(); ++i) AddEdge(from[i], to[i]);
  };
  const auto copy = [](absl::Span<const int> span) { return std::vector<int>(span.begin(), span.end()); };
  std::vector<int> tensors;
  switch (instruction.opcode()) {
    case Opcode::kTuple:
      SetLeaves(instruction, OperandLeaves(instruction));
      return;
    case Opcode::kGetTupleElement: {
      const Instruction* tuple = instruction.operand(0);
      int64_t begin = 0;
      for (int i = 0; i < instruction.tuple_index(); ++i) begin += tuple->shape().tuple_shape(i).NumLeaves();
      SetLeaves(instruction, Leaves(*tuple).subspan(begin, instruction.shape().NumLeaves()));
      return;
    }
    case Opcode::kWhile: {
      const Computation* body = instruction.called(0);
      const Computation* condition = instruction.called(1);
      NewTensors(instruction.shape(), &tensors);
      SetLeaves(*body->parameter(0), tensors);
      SetLeaves(*condition->parameter(0), tensors);
      AddComputation(*body);
      AddComputation(*condition);
      flow(copy(Leaves(*body->root())), tensors);
      flow(copy(Leaves(*instruction.operand(0))), tensors);
      SetLeaves(instruction, tensors);
      return;
    }
    case Opcode::kConditional: {
      NewTensors(instruction.shape(), &tensors);
      for (size_t b = 0; b < instruction.called().size(); ++b) {
        const Computation* branch = instruction.called(b);
        if (branch->num_parameters() > 0) {
          std::vector<int> parameter;
          NewTensors(branch->parameter(0)->shape(), &parameter);
          SetLeaves(*branch->parameter(0), parameter);
          AddComputation(*branch);
          flow(copy(Leaves(*instruction.operand(b + 1))), parameter);
        }
        flow(copy(Leaves(*branch->root())), tensors);
      }
      SetLeaves(instruction, tensors);
      return;
    }
    case Opcode::kParameter:
      if (!Leaves(instruction).empty()) return;
      break;
    default:
      break;
  }
  NewTensors(instruction.shape(), &tensors);
  SetLeaves(instruction, tensors);
  NoteGroup(instruction);
  if (instruction.opcode() == Opcode::kParameter || AddLeafOps(instruction, tensors)) return;

  FlowOp op;
  op.instruction = &instruction;
  SetBarrier(instruction, &op);
  bool arrays = true;
  for (int k = 0; k < instruction.num_operands(); ++k) {
    const Instruction& operand = SourceOf(instruction, k);
    const auto leaves = Leaves(operand);
    arrays &= leaves.size() == 1 && !operand.shape().IsTuple();
    if (leaves.size() == 1) op.operands.push_back(leaves[0]);
  }
  op.results.assign(tensors.begin(), tensors.end());
  rules_.push_back(ShardingRuleOf(instruction));
  op.rule = &rules_.back();
  arrays &= op.rule->operands.size() == op.operands.size() && op.rule->results.size() == op.results.size();
  // No sharding flows through ops with tuple operands, nested tuples or dynamic sizes: they get no flow op.
  if (!arrays || HasNestedTuple(instruction.shape()) || MeetsDynamicSizes(instruction)) return;
  op_of_[computation_begin_[instruction.computation()->index()] + instruction.index()] =
      static_cast<int>(ops_.size());
  ops_.push_back(std::move(op));
}

AssignmentProblem ProblemOf(const FlowGraph& graph, const FlowOp& op,
                            absl::FunctionRef<void(int tensor, bool is_result, TensorView* view)> describe) {
  AssignmentProblem problem;
  problem.op = op.instruction;
  problem.rule = op.rule;
  const auto view_of = [&](int tensor, bool is_result) {
    TensorView view;
    view.dims = graph.shape(tensor).dims();
    view.width = std::max<int64_t>(1, ByteWidth(graph.shape(tensor).element_type()));
    describe(tensor, is_result, &view);
    return view;
  };
  for (const int t : op.operands) problem.operands.push_back(view_of(t, false));
  for (const int t : op.results) problem.results.push_back(view_of(t, true));
  return problem;
}

bool IsMadeAnywhere(const FlowGraph& graph, const FlowOp& op, absl::FunctionRef<bool(int tensor)> is_free,
                    absl::FunctionRef<bool(int tensor)> is_whole) {
  if (op.instruction == nullptr || op.results.size() != 1) return false;
  const Opcode opcode = op.instruction->opcode();
  switch (opcode) {
    case Opcode::kConstant:
    case Opcode::kIota:
      return true;
    case Opcode::kBroadcast:
      return is_free(op.operands[0]) || is_whole(op.operands[0]);
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kReduce:
      break;
    default:
      if (!IsElementwise(opcode) || !op.instruction->called().empty()) return false;
  }
  // A scalar result has no dimension to cut.
  if (graph.shape(op.results[0]).rank() == 0) return false;
  for (const int operand : op.operands) {
    if (!is_free(operand) && !(graph.shape(operand).rank() == 0 && is_whole(operand))) return false;
  }
  return !op.operands.empty();
}

}  // namespace toroid
