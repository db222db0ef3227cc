#include "hlo/passes/mixed_precision.h"

#include <string>
#include <utility>
#include <vector>

#include "hlo/base/status.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/ir/edit.h"
#include "hlo/ops/constraint.h"
#include "hlo/ops/infer_shape.h"

namespace toroid {
namespace {

// Collects the float type of a shape's leaves in *type; false if two differ.
bool SameFloats(const Shape& shape, PrimitiveType* type) {
  for (const Shape& element : shape.tuple_shapes()) {
    if (!SameFloats(element, type)) return false;
  }
  if (!IsFloat(shape.element_type())) return true;
  if (*type == xla::PRIMITIVE_TYPE_INVALID) *type = shape.element_type();
  return *type == shape.element_type();
}

bool IsReducingCollective(Opcode opcode) {
  return opcode == Opcode::kAllReduce || opcode == Opcode::kReduceScatter ||
         opcode == Opcode::kAllReduceStart;
}

// True for ops that call computations of their operands' types.
bool HasCallee(Opcode opcode) {
  return opcode == Opcode::kSort || opcode == Opcode::kMap || opcode == Opcode::kReduce ||
         opcode == Opcode::kReduceWindow || opcode == Opcode::kScatter ||
         opcode == Opcode::kSelectAndScatter || IsReducingCollective(opcode);
}

// True if the operand and result types of a map are those of its computation, whatever they are.
bool TakesOperandsAsTheyAre(const Instruction& map) {
  const Computation& callee = *map.called(0);
  for (int i = 0; i < map.num_operands(); ++i) {
    if (callee.parameter(i)->shape().element_type() != map.operand(i)->shape().element_type()) return false;
  }
  return callee.root()->shape().element_type() == map.shape().element_type();
}

// True if the op has operands or results of different float types. (They may still need no converts.)
bool MeetsFloats(const Instruction& instruction) {
  const Opcode opcode = instruction.opcode();
  if (!MayRound(opcode) && opcode != Opcode::kCompare && opcode != Opcode::kAllReduceStart) return false;
  PrimitiveType type = xla::PRIMITIVE_TYPE_INVALID;
  bool same = SameFloats(instruction.shape(), &type);
  for (const Instruction* operand : instruction.operands())
    same = same && SameFloats(operand->shape(), &type);
  if (opcode == Opcode::kMap) return !TakesOperandsAsTheyAre(instruction);
  if (!same || !HasCallee(opcode)) return !same;
  if (IsReducingCollective(opcode)) {
    return instruction.called(0)->parameter(0)->shape().element_type() !=
           instruction.operand(0)->shape().element_type();
  }
  for (const Computation* callee : instruction.called()) {
    for (const Instruction* parameter : callee->parameters())
      same = same && SameFloats(parameter->shape(), &type);
    same = same && SameFloats(callee->root()->shape(), &type);
  }
  return !same;
}

bool AnyMeetsFloats(const Module& module) {
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (MeetsFloats(*instruction)) return true;
    }
  }
  return false;
}

// `shape` with the element types of `types`, which has its structure.
Shape WithTypesOf(const Shape& shape, const Shape& types) {
  if (!shape.IsTuple()) {
    Shape array = shape;
    array.set_element_type(types.element_type());
    return array;
  }
  std::vector<Shape> elements;
  for (size_t i = 0; i < shape.tuple_shapes().size(); ++i) {
    elements.push_back(WithTypesOf(shape.tuple_shape(i), types.tuple_shape(i)));
  }
  return Shape::Tuple(std::move(elements));
}

// The array converted to another float type, row-major.
Instruction* Converted(Instruction* value, PrimitiveType type) {
  if (value->shape().element_type() == type) return value;
  InstructionBuilder b(value->computation());
  b.set_metadata(value->metadata());
  Instruction* convert = b.Convert(value, type);
  TOROID_CHECK(b.status().ok(), b.status().message());
  return convert;
}

// The value converted to the types of `shape`, which has its structure.
Instruction* ConvertedTo(Instruction* value, const Shape& shape) {
  if (SameShape(value->shape(), shape)) return value;
  if (!shape.IsTuple()) return Converted(value, shape.element_type());
  InstructionBuilder b(value->computation());
  std::vector<Instruction*> elements;
  for (size_t i = 0; i < shape.tuple_shapes().size(); ++i) {
    elements.push_back(ConvertedTo(b.GetTupleElement(value, i), shape.tuple_shape(i)));
  }
  Instruction* tuple = b.Op(Opcode::kTuple, shape, elements);
  TOROID_CHECK(b.status().ok(), b.status().message());
  return tuple;
}

class Separator {
 public:
  Separator(const Module& source, Module* target) : source_(source), target_(target) {}

  absl::Status Run() {
    computations_.resize(source_.num_computations());
    for (const auto& computation : source_.computations()) RETURN_IF_ERROR(Copy(*computation));
    target_->set_entry(computations_[source_.entry()->index()]);
    return absl::OkStatus();
  }

 private:
  absl::Status Copy(const Computation& source) {
    Computation* copy = target_->AddComputation(source.name());
    copy->set_is_fusion(source.is_fusion());
    copy->set_execution_thread(source.execution_thread());
    ASSIGN_OR_RETURN(
        const std::vector<Instruction*> made,
        CloneInstructions(source,
                          [&](const Instruction& instruction,
                              std::vector<Instruction*>* operands) -> absl::StatusOr<Instruction*> {
                            ASSIGN_OR_RETURN(Instruction * value, Append(instruction, *operands, copy));
                            value->set_name(instruction.name());
                            value->TakeSharding(instruction);
                            return value;
                          }));
    CloneControlPredecessors(source, made);
    copy->set_root(made[source.root()->index()]);
    computations_[source.index()] = copy;
    return copy->CollectParameters();
  }

  absl::StatusOr<Instruction*> Append(const Instruction& source, std::vector<Instruction*> operands,
                                      Computation* to) {
    std::vector<Computation*> called;
    for (const Computation* callee : source.called()) called.push_back(computations_[callee->index()]);
    const bool mixed = MeetsFloats(source);
    if (mixed) RETURN_IF_ERROR(Unify(source, &operands, &called));
    Instruction* clone = to->AddClone(source, source.shape(), operands);
    clone->set_called(called);
    if (!mixed || !MayRound(source.opcode())) return clone;
    const absl::StatusOr<Shape> inferred = InferShape(*clone);
    if (!inferred.ok()) return Annotate(inferred.status(), source.Path());
    clone->mutable_shape() = WithTypesOf(source.shape(), *inferred);
    Instruction* value = ConvertedTo(clone, source.shape());
    if (value != clone) {
      value->set_metadata(source.metadata());
      value->set_frontend_attributes(source.frontend_attributes());
    }
    return value;
  }

  // Converts operands that must agree to their common type, and gives a reduction a computation with one type
  // for each accumulator.
  absl::Status Unify(const Instruction& source, std::vector<Instruction*>* operands,
                     std::vector<Computation*>* called) {
    const int n = static_cast<int>(operands->size());
    switch (source.opcode()) {
      case Opcode::kSelect:
        if (source.shape().IsArray()) Agree({1, 2}, operands);
        return absl::OkStatus();
      case Opcode::kPad:
      case Opcode::kDynamicUpdateSlice:
      case Opcode::kCompare:
        Agree({0, 1}, operands);
        return absl::OkStatus();
      case Opcode::kReduce:
      case Opcode::kReduceWindow: {
        const std::vector<PrimitiveType> types = AccumulatorTypes(*source.called(0), n / 2);
        for (int i = 0; i < n; ++i) (*operands)[i] = Converted((*operands)[i], types[i % (n / 2)]);
        return Retype((*called)[0], types, &(*called)[0]);
      }
      case Opcode::kScatter: {
        const std::vector<PrimitiveType> types = AccumulatorTypes(*source.called(0), n / 2);
        for (int i = 0; i < n / 2; ++i) {
          for (const int at : {i, n / 2 + 1 + i}) (*operands)[at] = Converted((*operands)[at], types[i]);
        }
        return Retype((*called)[0], types, &(*called)[0]);
      }
      case Opcode::kSelectAndScatter: {
        const std::vector<PrimitiveType> types = AccumulatorTypes(*source.called(1), 1);
        for (Instruction*& operand : *operands) operand = Converted(operand, types[0]);
        return Retype((*called)[1], types, &(*called)[1]);
      }
      case Opcode::kSort:
      case Opcode::kMap: {
        std::vector<PrimitiveType> types;
        for (const Instruction* operand : *operands) {
          types.insert(types.end(), source.opcode() == Opcode::kSort ? 2 : 1,
                       operand->shape().element_type());
        }
        return RetypeParameters((*called)[0], types, /*single=*/false, &(*called)[0]);
      }
      case Opcode::kBatchNormTraining:
      case Opcode::kBatchNormInference:
      case Opcode::kBatchNormGrad:
        Agree(All(n), operands);
        return absl::OkStatus();
      case Opcode::kAllReduce:
      case Opcode::kAllReduceStart:
      case Opcode::kReduceScatter: {
        Agree(All(n), operands);
        return Retype((*called)[0], {(*operands)[0]->shape().element_type()}, &(*called)[0]);
      }
      default:
        if (IsElementwise(source.opcode()) || source.opcode() == Opcode::kConcatenate)
          Agree(All(n), operands);
        return absl::OkStatus();
    }
  }

  static std::vector<int> All(int n) {
    std::vector<int> all;
    for (int i = 0; i < n; ++i) all.push_back(i);
    return all;
  }

  static void Agree(const std::vector<int>& which, std::vector<Instruction*>* operands) {
    PrimitiveType type = (*operands)[which[0]]->shape().element_type();
    if (!IsFloat(type)) return;
    for (const int i : which) type = CommonFloat(type, (*operands)[i]->shape().element_type());
    for (const int i : which) (*operands)[i] = Converted((*operands)[i], type);
  }

  // Sets *out to a version of the target's `reducer` with accumulators of these types: `reducer` itself, or a
  // copy that converts its parameters and results. A reducer of a single op computes in the accumulators'
  // type.
  absl::Status Retype(Computation* reducer, const std::vector<PrimitiveType>& types, Computation** out) {
    const int n = static_cast<int>(types.size());
    std::vector<PrimitiveType> parameters = types;
    parameters.insert(parameters.end(), types.begin(), types.end());
    RETURN_IF_ERROR(RetypeParameters(reducer, parameters, n == 1 && IsSimpleReducer(*reducer), out));
    std::vector<Shape> results;
    for (const PrimitiveType type : types) results.push_back(Shape(type, {}));
    const Shape result = n == 1 ? results[0] : Shape::Tuple(results);
    if (SameShape((*out)->root()->shape(), result)) return absl::OkStatus();
    if (*out == reducer) RETURN_IF_ERROR(CopyWith(reducer, parameters, /*single=*/false, out));
    (*out)->set_root(ConvertedTo((*out)->root(), result));
    return absl::OkStatus();
  }

  // Like Retype, but for the parameters only.
  absl::Status RetypeParameters(Computation* callee, const std::vector<PrimitiveType>& types, bool single,
                                Computation** out) {
    *out = callee;
    for (size_t i = 0; i < types.size(); ++i) {
      if (callee->parameter(i)->shape().element_type() == types[i]) continue;
      return CopyWith(callee, types, single, out);
    }
    return absl::OkStatus();
  }

  absl::Status CopyWith(Computation* callee, const std::vector<PrimitiveType>& types, bool single,
                        Computation** out) {
    Computation* copy = target_->AddComputation(callee->name());
    for (const PrimitiveType type : types) copy->AddParameter(Shape(type, {}));
    std::vector<Instruction*> arguments;
    for (int i = 0; i < callee->num_parameters(); ++i) {
      const PrimitiveType type = callee->parameter(i)->shape().element_type();
      arguments.push_back(single ? copy->parameter(i) : Converted(copy->parameter(i), type));
    }
    ASSIGN_OR_RETURN(
        const std::vector<Instruction*> made,
        CloneInstructions(*callee, [&](const Instruction& instruction, std::vector<Instruction*>* operands) {
          if (instruction.opcode() == Opcode::kParameter) return arguments[instruction.parameter_number()];
          const Shape shape = single ? Shape(types[0], {}) : instruction.shape();
          return copy->AddClone(instruction, shape, *operands);
        }));
    copy->set_root(made[callee->root()->index()]);
    *out = copy;
    return absl::OkStatus();
  }

  const Module& source_;
  Module* target_;
  std::vector<Computation*> computations_;  // By computation of the source.
};

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> SeparatePrecisions(const Module& module) {
  if (!AnyMeetsFloats(module)) return std::unique_ptr<Module>();
  auto target = std::make_unique<Module>(module.name(), module);
  *target->mutable_proto() = module.proto();
  target->mutable_proto()->clear_schedule();
  target->config() = module.config();
  Separator separator(module, target.get());
  RETURN_IF_ERROR(separator.Run());
  target->RemoveUnreachableComputations();  // Sorts the new reducers before their callers.
  return target;
}

}  // namespace toroid
