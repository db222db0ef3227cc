// Computations as a whole: entry parameters and outputs, loops and branches.
//
// A value that crosses a boundary (entry, loop state, branch operand or result) does so in the sharding of
// its tensor: it is brought there before, and found there behind.
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "partitioner/computation_partitioner.h"

namespace toroid {

absl::StatusOr<Computation*> ComputationPartitioner::PartitionComputation(const Computation& computation,
                                                                          bool is_entry) {
  Computation* local = out_->AddComputation(computation.name());
  SpmdBuilder builder(&shared_, local);
  SpmdBuilder* const outer = b_;
  b_ = &builder;
  if (is_entry) {
    RETURN_IF_ERROR(EntryParameters(computation));
  } else {
    // One parameter: the state of a loop or the operand of a branch, its leaves in their targets' shardings.
    const Instruction& parameter = *computation.parameter(0);
    const auto leaves = graph_.Leaves(parameter);
    Instruction* value = local->AddParameter(LocalShape(parameter.shape().WithRowMajorLayout(), leaves),
                                             parameter.name());
    const std::vector<Instruction*> locals = b_->Flatten(value);
    for (size_t i = 0; i < leaves.size(); ++i) {
      values_[leaves[i]] = Value();  // Body and condition of a loop share the tensors of its state.
      Define(leaves[i], Target(leaves[i]), locals[i]);
    }
  }
  for (const auto& instruction : computation.instructions()) {
    const absl::Status status = PartitionInstruction(*instruction);
    if (!status.ok()) return Annotate(status, absl::StrCat(computation.name(), "/", instruction->name()));
  }
  if (is_entry) RETURN_IF_ERROR(EntryOutputs(computation));
  b_ = outer;
  return local;
}

namespace {

// `shape`, of a parameter or the result of the entry, in the layouts that the module states for it: those count
// before the ones of the instruction, which may be defaults.
Shape InEntryLayout(const Shape& shape, const xla::ShapeProto* stated) {
  if (stated == nullptr) return shape;
  const absl::StatusOr<Shape> layout = Shape::FromProto(*stated);
  return layout.ok() && layout->Compatible(shape) ? WithLayoutOf(shape.WithRowMajorLayout(), *layout) : shape;
}

}  // namespace

absl::Status ComputationPartitioner::EntryParameters(const Computation& computation) {
  const xla::ProgramShapeProto& program = module_.proto().host_program_shape();
  for (const Instruction* parameter : computation.parameters()) {
    const auto leaves = graph_.Leaves(*parameter);
    const int64_t number = parameter->parameter_number();
    const Shape shape = InEntryLayout(
        parameter->shape(), number < program.parameters_size() ? &program.parameters(number) : nullptr);
    Instruction* local = b_->computation()->AddParameter(LocalShape(shape, leaves), parameter->name());
    local->set_metadata(parameter->metadata());
    local->set_frontend_attributes(parameter->frontend_attributes());
    const std::vector<Instruction*> locals = b_->Flatten(local);
    for (size_t i = 0; i < leaves.size(); ++i) {
      const int t = leaves[i];
      const Sharding sharding = Target(t);
      Instruction* leaf = locals[i];
      if (graph_.shape(t).IsArray()) leaf = b_->ToRowMajor(leaf);
      if (annotations_.tensor[t] && annotations_.tensor[t]->foreign) {
        b_->Serve(parameter, "device order");
        leaf = b_->FromDeviceOrder(leaf, annotations_.tensor[t]->foreign->order(), sharding);
      }
      if (options_.poison_padding && graph_.shape(t).IsArray()) {
        leaf = Poison(leaf, graph_.shape(t).dims(), sharding);
      }
      Define(t, sharding, leaf);
    }
  }
  return absl::OkStatus();
}

Shape ComputationPartitioner::LocalShape(const Shape& shape, absl::Span<const int> leaves) const {
  if (shape.IsTuple()) {
    std::vector<Shape> elements;
    for (const Shape& element : shape.tuple_shapes()) {
      elements.push_back(LocalShape(element, leaves));
      leaves.remove_prefix(element.NumLeaves());
    }
    return Shape::Tuple(std::move(elements));
  }
  return shape.IsArray() ? WithLayoutOf(b_->ShardShape(shape, targets_[leaves[0]]), shape) : shape;
}

namespace {

void AppendLeafShapes(const Shape& shape, std::vector<const Shape*>* leaves) {
  if (!shape.IsTuple()) leaves->push_back(&shape);
  for (const Shape& element : shape.tuple_shapes()) AppendLeafShapes(element, leaves);
}

}  // namespace

absl::Status ComputationPartitioner::EntryOutputs(const Computation& computation) {
  const Instruction& root = *computation.root();
  const auto leaves = graph_.Leaves(root);
  const xla::ProgramShapeProto& program = module_.proto().host_program_shape();
  const Shape result = InEntryLayout(root.shape(), program.has_result() ? &program.result() : nullptr);
  std::vector<const Shape*> shapes;
  AppendLeafShapes(result, &shapes);
  std::vector<Instruction*> locals;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const int output = graph_.outputs()[i];
    Sharding wanted = targets_[output];
    wanted.manual = annotations_.manual[leaves[i]];
    const std::string name = names_.OutputName(static_cast<int>(i));
    Instruction* local = Get(leaves[i], wanted, root, name);
    if (annotations_.tensor[output] && annotations_.tensor[output]->foreign && !options_.replicate_outputs) {
      b_->Serve(&root, "device order", name);
      local = b_->ToDeviceOrder(local, annotations_.tensor[output]->foreign->order(), wanted);
    }
    b_->Serve(&root);
    // The caller reads results in the layouts that the entry states.
    if (shapes[i]->IsArray()) local = b_->ToLayout(local, *shapes[i]);
    locals.push_back(local);
  }
  b_->computation()->set_root(b_->Unflatten(root.shape(), locals));
  return absl::OkStatus();
}

absl::StatusOr<Computation*> ComputationPartitioner::PartitionCallee(const Computation& callee,
                                                                     absl::Span<const Sharding> results) {
  SpmdBuilder* const outer = b_;
  ASSIGN_OR_RETURN(Computation * local, PartitionComputation(callee, /*is_entry=*/false));
  SpmdBuilder builder(&shared_, local);
  b_ = &builder;
  const Instruction& root = *callee.root();
  const auto leaves = graph_.Leaves(root);
  std::vector<Instruction*> locals;
  for (size_t i = 0; i < leaves.size(); ++i) locals.push_back(Get(leaves[i], results[i], root));
  b_->Serve(&root);
  local->set_root(b_->Unflatten(root.shape(), locals));
  b_ = outer;
  return local;
}

absl::Status ComputationPartitioner::PartitionWhile(const Instruction& instruction) {
  const Computation& body = *instruction.called(0);
  const Computation& condition = *instruction.called(1);
  const auto state = graph_.Leaves(instruction);
  std::vector<Sharding> shardings;
  for (const int t : state) shardings.push_back(Target(t));
  std::vector<Instruction*> init;
  const auto init_leaves = graph_.Leaves(*instruction.operand(0));
  for (size_t i = 0; i < state.size(); ++i) init.push_back(Get(init_leaves[i], shardings[i], instruction));
  b_->Serve(&instruction);
  Instruction* operand = b_->Unflatten(instruction.shape(), init);
  // The state goes back in the shardings it came in.
  ASSIGN_OR_RETURN(Computation * local_body, PartitionCallee(body, shardings));
  ASSIGN_OR_RETURN(Computation * local_condition,
                   PartitionCallee(condition, {Whole(graph_.Leaves(*condition.root())[0])}));
  b_->Serve(&instruction);
  Instruction* loop = b_->Clone(instruction, operand->shape(), {operand});
  Computation* called[] = {local_body, local_condition};
  loop->set_called(called);
  const std::vector<Instruction*> results = b_->Flatten(loop);
  for (size_t i = 0; i < state.size(); ++i) {
    values_[state[i]] = Value();  // Inside, they were those of the body.
    Define(state[i], shardings[i], results[i]);
  }
  return absl::OkStatus();
}

absl::Status ComputationPartitioner::PartitionConditional(const Instruction& instruction) {
  const auto results = graph_.Leaves(instruction);
  std::vector<Sharding> shardings;
  for (const int t : results) shardings.push_back(Target(t));
  const int index = graph_.Leaves(*instruction.operand(0))[0];
  std::vector<Instruction*> operands = {Get(index, Whole(index), instruction)};
  std::vector<Computation*> branches;
  for (size_t i = 0; i < instruction.called().size(); ++i) {
    const Computation& branch = *instruction.called(i);
    const Instruction* operand = instruction.operand(i + 1);
    const auto from = graph_.Leaves(*operand);
    const auto to = graph_.Leaves(*branch.parameter(0));
    std::vector<Instruction*> leaves;
    for (size_t k = 0; k < from.size(); ++k) leaves.push_back(Get(from[k], Target(to[k]), instruction));
    b_->Serve(&instruction);
    operands.push_back(b_->Unflatten(operand->shape(), leaves));
    ASSIGN_OR_RETURN(Computation * local, PartitionCallee(branch, shardings));
    branches.push_back(local);
  }
  b_->Serve(&instruction);
  Instruction* conditional = b_->Clone(instruction, branches.back()->root()->shape(), operands);
  conditional->set_called(branches);
  const std::vector<Instruction*> locals = b_->Flatten(conditional);
  for (size_t i = 0; i < results.size(); ++i) Define(results[i], shardings[i], locals[i]);
  return absl::OkStatus();
}

}  // namespace toroid
