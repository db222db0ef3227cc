// Computations as a whole: entry parameters and outputs, loops and branches.
//
// A value that crosses a boundary (entry, loop state, branch operand or result) does so in the sharding of its tensor:
// it is brought there before, and found there behind.
#include <functional>
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
    size_t next = 0;
    const std::function<Shape(const Shape&)> local_shape = [&](const Shape& shape) -> Shape {
      if (shape.IsTuple()) {
        std::vector<Shape> elements;
        for (const Shape& element : shape.tuple_shapes()) elements.push_back(local_shape(element));
        return Shape::Tuple(std::move(elements));
      }
      const int t = leaves[next++];
      if (!shape.IsArray()) return shape;
      return Shape(shape.element_type(), mesh_.ShardDims(shape.dims(), targets_[t]));
    };
    Instruction* value = local->AddParameter(local_shape(parameter.shape()), parameter.name());
    next = 0;
    const std::function<void(Instruction*)> take = [&](Instruction* element) {
      if (!element->shape().IsTuple()) {
        const int t = leaves[next++];
        Sharding sharding = targets_[t];
        sharding.manual = annotations_.manual[t];
        values_[t] = Value();
        Define(t, sharding, element);
        return;
      }
      for (int i = 0; i < static_cast<int>(element->shape().tuple_shapes().size()); ++i) {
        xla::HloInstructionProto* attrs;
        Instruction* inner = b_->Add(Opcode::kGetTupleElement, element->shape().tuple_shape(i), {element}, &attrs);
        attrs->set_tuple_index(i);
        take(inner);
      }
    };
    take(value);
  }
  for (const auto& instruction : computation.instructions()) {
    const absl::Status status = PartitionInstruction(*instruction);
    if (!status.ok()) return Annotate(status, absl::StrCat(computation.name(), "/", instruction->name()));
  }
  if (is_entry) RETURN_IF_ERROR(EntryOutputs(computation));
  b_ = outer;
  return local;
}

absl::Status ComputationPartitioner::EntryParameters(const Computation& computation) {
  for (const Instruction* parameter : computation.parameters()) {
    const auto leaves = graph_.Leaves(*parameter);
    if (parameter->shape().IsTuple()) {
      return absl::UnimplementedError(
          absl::StrCat(parameter->name(), ": entry parameters that are tuples; pass their elements one by one"));
    }
    const int t = leaves[0];
    if (annotations_.tensor[t] && annotations_.tensor[t]->sharding.partial != 0) {
      return absl::UnimplementedError(
          absl::StrCat(parameter->name(), ": arguments that arrive as partial sums (unreduced)"));
    }
    Sharding sharding = targets_[t];
    sharding.manual = annotations_.manual[t];
    const Shape shape = parameter->shape().IsArray()
                            ? Shape(parameter->shape().element_type(), b_->ShardDims(parameter->shape().dims(), sharding))
                            : parameter->shape();
    Instruction* local = b_->computation()->AddParameter(shape, parameter->name());
    local->set_metadata(parameter->metadata());
    local->set_frontend_attributes(parameter->frontend_attributes());
    if (annotations_.tensor[t] && annotations_.tensor[t]->foreign) {
      local = b_->FromDeviceOrder(local, annotations_.tensor[t]->foreign->order(), sharding);
    }
    if (options_.poison_padding && shape.IsArray()) local = Poison(local, parameter->shape().dims(), sharding);
    Define(t, sharding, local);
  }
  return absl::OkStatus();
}

absl::Status ComputationPartitioner::EntryOutputs(const Computation& computation) {
  const Instruction& root = *computation.root();
  const auto leaves = graph_.Leaves(root);
  size_t next = 0;
  const std::function<Instruction*(const Shape&)> assemble = [&](const Shape& shape) -> Instruction* {
    if (!shape.IsTuple()) {
      const int output = graph_.outputs()[next];
      const int t = leaves[next++];
      Sharding wanted = targets_[output];
      wanted.manual = annotations_.manual[t];
      Instruction* local = Get(t, wanted, root);
      if (annotations_.tensor[output] && annotations_.tensor[output]->foreign && !options_.replicate_outputs) {
        local = b_->ToDeviceOrder(local, annotations_.tensor[output]->foreign->order(), wanted);
      }
      return local;
    }
    std::vector<Instruction*> elements;
    std::vector<Shape> shapes;
    for (const Shape& element : shape.tuple_shapes()) {
      elements.push_back(assemble(element));
      shapes.push_back(elements.back()->shape());
    }
    b_->Serve(&root);
    return b_->Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), elements);
  };
  b_->computation()->set_root(assemble(root.shape()));
  return absl::OkStatus();
}

namespace {

// Takes a tuple-shaped value apart into its leaves.
void Leaves(SpmdBuilder& b, Instruction* value, std::vector<Instruction*>* leaves) {
  if (!value->shape().IsTuple()) {
    leaves->push_back(value);
    return;
  }
  for (int i = 0; i < static_cast<int>(value->shape().tuple_shapes().size()); ++i) {
    xla::HloInstructionProto* attrs;
    Instruction* element = b.Add(Opcode::kGetTupleElement, value->shape().tuple_shape(i), {value}, &attrs);
    attrs->set_tuple_index(i);
    Leaves(b, element, leaves);
  }
}

// Puts leaves together under the structure of `shape`.
Instruction* Assemble(SpmdBuilder& b, const Shape& shape, absl::Span<Instruction* const>& leaves) {
  if (!shape.IsTuple()) {
    Instruction* leaf = leaves[0];
    leaves.remove_prefix(1);
    return leaf;
  }
  std::vector<Instruction*> elements;
  std::vector<Shape> shapes;
  for (const Shape& element : shape.tuple_shapes()) {
    elements.push_back(Assemble(b, element, leaves));
    shapes.push_back(elements.back()->shape());
  }
  return b.Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), elements);
}

}  // namespace

absl::Status ComputationPartitioner::PartitionWhile(const Instruction& instruction) {
  const Computation* body = instruction.called(0);
  const Computation* condition = instruction.called(1);
  const auto state = graph_.Leaves(instruction);
  const auto target = [&](int t) {
    Sharding sharding = targets_[t];
    sharding.manual = annotations_.manual[t];
    return sharding;
  };
  std::vector<Instruction*> init;
  const auto init_leaves = graph_.Leaves(*instruction.operand(0));
  for (size_t i = 0; i < state.size(); ++i) init.push_back(Get(init_leaves[i], target(state[i]), instruction));
  b_->Serve(&instruction);
  absl::Span<Instruction* const> rest = init;
  Instruction* operand = Assemble(*b_, instruction.shape(), rest);

  Computation*& local_body = partitioned_[body];
  if (local_body == nullptr) {
    SpmdBuilder* const outer = b_;
    ASSIGN_OR_RETURN(Computation * made, PartitionComputation(*body, /*is_entry=*/false));
    {
      // The state goes back in the shardings it came in.
      SpmdBuilder builder(&shared_, made);
      b_ = &builder;
      const auto leaves = graph_.Leaves(*body->root());
      std::vector<Instruction*> next;
      for (size_t i = 0; i < state.size(); ++i) next.push_back(Get(leaves[i], target(state[i]), *body->root()));
      b_->Serve(body->root());
      absl::Span<Instruction* const> all = next;
      made->set_root(Assemble(builder, body->root()->shape(), all));
    }
    b_ = outer;
    partitioned_[body] = made;
  }
  if (partitioned_[condition] == nullptr) {
    SpmdBuilder* const outer = b_;
    ASSIGN_OR_RETURN(Computation * made, PartitionComputation(*condition, /*is_entry=*/false));
    {
      SpmdBuilder builder(&shared_, made);
      b_ = &builder;
      const int t = graph_.Leaves(*condition->root())[0];
      made->set_root(Get(t, Whole(t), *condition->root()));
    }
    b_ = outer;
    partitioned_[condition] = made;
  }
  b_->Serve(&instruction);
  Instruction* loop = b_->Clone(instruction, operand->shape(), {operand});
  Computation* called[] = {partitioned_[body], partitioned_[condition]};
  loop->set_called(called);
  std::vector<Instruction*> results;
  Leaves(*b_, loop, &results);
  for (size_t i = 0; i < state.size(); ++i) {
    values_[state[i]] = Value();
    Define(state[i], target(state[i]), results[i]);
  }
  return absl::OkStatus();
}

absl::Status ComputationPartitioner::PartitionConditional(const Instruction& instruction) {
  const auto results = graph_.Leaves(instruction);
  const auto target = [&](int t) {
    Sharding sharding = targets_[t];
    sharding.manual = annotations_.manual[t];
    return sharding;
  };
  const int index = graph_.Leaves(*instruction.operand(0))[0];
  std::vector<Instruction*> operands = {Get(index, Whole(index), instruction)};
  std::vector<Computation*> branches;
  Shape shape;
  for (size_t i = 0; i < instruction.called().size(); ++i) {
    const Computation* branch = instruction.called(static_cast<int>(i));
    const Instruction* operand = instruction.operand(static_cast<int>(i) + 1);
    const auto from = graph_.Leaves(*operand);
    const auto to = graph_.Leaves(*branch->parameter(0));
    std::vector<Instruction*> leaves;
    for (size_t k = 0; k < from.size(); ++k) leaves.push_back(Get(from[k], target(to[k]), instruction));
    b_->Serve(&instruction);
    absl::Span<Instruction* const> rest = leaves;
    operands.push_back(Assemble(*b_, operand->shape(), rest));
    if (partitioned_[branch] == nullptr) {
      SpmdBuilder* const outer = b_;
      ASSIGN_OR_RETURN(Computation * made, PartitionComputation(*branch, /*is_entry=*/false));
      SpmdBuilder builder(&shared_, made);
      b_ = &builder;
      const auto root = graph_.Leaves(*branch->root());
      std::vector<Instruction*> out;
      for (size_t k = 0; k < results.size(); ++k) out.push_back(Get(root[k], target(results[k]), *branch->root()));
      b_->Serve(branch->root());
      absl::Span<Instruction* const> all = out;
      made->set_root(Assemble(builder, branch->root()->shape(), all));
      b_ = outer;
      partitioned_[branch] = made;
    }
    branches.push_back(partitioned_[branch]);
    shape = branches.back()->root()->shape();
  }
  b_->Serve(&instruction);
  Instruction* conditional = b_->Clone(instruction, shape, operands);
  conditional->set_called(branches);
  std::vector<Instruction*> leaves;
  Leaves(*b_, conditional, &leaves);
  for (size_t i = 0; i < results.size(); ++i) {
    values_[results[i]] = Value();
    Define(results[i], target(results[i]), leaves[i]);
  }
  return absl::OkStatus();
}

}  // namespace toroid
