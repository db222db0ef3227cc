#include "runtime/numerics/promote.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "hlo/base/status.h"
#include "hlo/passes/row_major_bitcast.h"
#include "runtime/kernels/convert.h"

namespace toroid {
namespace {

PrimitiveType PromotedType(PrimitiveType type) {
  if (IsFloat(type)) return xla::F64;
  return IsComplex(type) ? xla::C128 : type;
}

bool IsPromoted(const Shape& shape) {
  if (shape.IsTuple())
    return std::any_of(shape.tuple_shapes().begin(), shape.tuple_shapes().end(), IsPromoted);
  return PromotedType(shape.element_type()) != shape.element_type();
}

// The op looks at the representation of values, so it runs in the declared types.
bool RunsAsDeclared(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kConvert:
    case Opcode::kBitcastConvert:
    case Opcode::kBitcast:
    case Opcode::kReducePrecision:
    case Opcode::kStochasticConvert:
    case Opcode::kRng:
    case Opcode::kIota:
    case Opcode::kInfeed:
    case Opcode::kOutfeed:
      return true;
    case Opcode::kDot:
    case Opcode::kRaggedDot:
    case Opcode::kScaledDot:
    case Opcode::kConvolution:
      return !IsPromoted(instruction.shape());
    case Opcode::kCustomCall:
      return absl::StartsWith(instruction.custom_call_target(), "X64");
    default:
      return false;
  }
}

class Promoter {
 public:
  Promoter(const Module& source, Module* target) : source_(source), target_(target) {}

  absl::Status Run() {
    for (const auto& computation : source_.computations()) RETURN_IF_ERROR(AddComputation(*computation));
    target_->set_entry(computations_[source_.entry()]);
    return absl::OkStatus();
  }

 private:
  absl::Status AddComputation(const Computation& source) {
    into_ = target_->AddComputation(source.name());
    into_->set_is_fusion(source.is_fusion());
    into_->set_execution_thread(source.execution_thread());
    std::vector<Instruction*> made(source.size());
    for (const auto& instruction : source.instructions()) {
      std::vector<Instruction*> operands;
      for (const Instruction* operand : instruction->operands()) operands.push_back(made[operand->index()]);
      ASSIGN_OR_RETURN(Instruction * clone, AddInstruction(*instruction, std::move(operands)));
      for (const Instruction* before : instruction->control_predecessors()) {
        if (made[before->index()] != nullptr) clone->AddControlPredecessor(made[before->index()]);
      }
      made[instruction->index()] = clone;
    }
    into_->set_root(made[source.root()->index()]);
    computations_[&source] = into_;
    return into_->CollectParameters();
  }

  absl::StatusOr<Instruction*> AddInstruction(const Instruction& source, std::vector<Instruction*> operands) {
    if (source.opcode() == Opcode::kConstant && IsPromoted(source.shape())) return AddConstant(source);
    const bool declared = RunsAsDeclared(source);
    if (declared) {
      for (size_t i = 0; i < operands.size(); ++i)
        operands[i] = Converted(operands[i], source.operand(i)->shape());
    }
    Instruction* clone;
    if (source.opcode() == Opcode::kBitcast) {
      // Promoted arrays are row-major, whatever their source's layout.
      ASSIGN_OR_RETURN(clone, AppendRowMajorBitcast(source, operands[0], into_));
    } else {
      clone = into_->AddClone(source, declared ? source.shape() : PromotedShape(source.shape()), operands);
    }
    Describe(source, clone);
    return declared ? Converted(clone, PromotedShape(source.shape())) : clone;
  }

  absl::StatusOr<Instruction*> AddConstant(const Instruction& source) {
    auto literal = Literal::FromProto(source.attrs().literal());
    if (!literal.ok()) return Annotate(literal.status(), source.computation()->name() + "/" + source.name());
    Instruction* constant = into_->AddConstant(PromotedLiteral(*literal));
    Describe(source, constant);
    return constant;
  }

  void Describe(const Instruction& source, Instruction* clone) {
    clone->set_name(source.name());
    clone->set_sharding(source.sharding());
    std::vector<Computation*> called;
    for (const Computation* callee : source.called()) called.push_back(computations_[callee]);
    clone->set_called(called);
  }

  // The value with the element types of `shape`.
  Instruction* Converted(Instruction* value, const Shape& shape) {
    if (value->shape().IsTuple()) {
      bool changes = false;
      std::vector<Instruction*> elements;
      for (int i = 0; i < static_cast<int>(shape.tuple_shapes().size()); ++i) {
        xla::HloInstructionProto* attrs;
        Instruction* element =
            into_->Add(Opcode::kGetTupleElement, value->shape().tuple_shape(i), {value}, &attrs);
        attrs->set_tuple_index(i);
        elements.push_back(Converted(element, shape.tuple_shape(i)));
        changes |= elements.back() != element;
      }
      if (!changes) return value;
      std::vector<Shape> shapes;
      for (const Instruction* element : elements) shapes.push_back(element->shape());
      return into_->Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), elements);
    }
    if (!shape.IsArray() || value->shape().element_type() == shape.element_type()) return value;
    Shape result = value->shape().WithRowMajorLayout();
    result.set_element_type(shape.element_type());
    return into_->Add(Opcode::kConvert, result, {value});
  }

  const Module& source_;
  Module* const target_;
  Computation* into_ = nullptr;
  absl::flat_hash_map<const Computation*, Computation*> computations_;
};

}  // namespace

Shape PromotedShape(const Shape& shape) {
  if (!IsPromoted(shape)) return shape;
  if (!shape.IsTuple()) {
    Shape promoted = shape.WithRowMajorLayout();
    promoted.set_element_type(PromotedType(shape.element_type()));
    return promoted;
  }
  std::vector<Shape> elements;
  for (const Shape& element : shape.tuple_shapes()) elements.push_back(PromotedShape(element));
  return Shape::Tuple(std::move(elements));
}

Literal PromotedLiteral(const Literal& literal) {
  if (!IsPromoted(literal.shape())) return literal;
  if (literal.shape().IsTuple()) {
    std::vector<Literal> elements;
    for (const Literal& element : literal.elements()) elements.push_back(PromotedLiteral(element));
    return Literal::Tuple(std::move(elements));
  }
  Literal promoted(PromotedShape(literal.shape()));
  FindConvertLoop(literal.shape().element_type(), promoted.shape().element_type())(
      literal.bytes(), promoted.mutable_bytes(), literal.shape().NumElements());
  return promoted;
}

Literal DemotedLiteral(const Literal& literal, const Shape& shape) {
  if (!IsPromoted(shape)) return literal;
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (size_t i = 0; i < literal.elements().size(); ++i) {
      elements.push_back(
          DemotedLiteral(literal.element(static_cast<int>(i)), shape.tuple_shape(i)));
    }
    return Literal::Tuple(std::move(elements));
  }
  // The sizes are those of the value: a partitioned module does not know its own.
  Shape narrow = literal.shape();
  narrow.set_element_type(shape.element_type());
  Literal demoted(narrow);
  FindConvertLoop(literal.shape().element_type(), shape.element_type())(
      literal.bytes(), demoted.mutable_bytes(), narrow.NumElements());
  return demoted;
}

absl::StatusOr<std::unique_ptr<Module>> PromoteModule(const Module& module) {
  auto promoted = std::make_unique<Module>(module.name(), module);
  promoted->config() = module.config();
  *promoted->mutable_proto() = module.proto();
  // These spell out the old types.
  promoted->mutable_proto()->clear_host_program_shape();
  promoted->mutable_proto()->clear_input_output_alias();
  RETURN_IF_ERROR(Promoter(module, promoted.get()).Run());
  return promoted;
}

}  // namespace toroid
