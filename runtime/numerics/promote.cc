#include "runtime/numerics/promote.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "hlo/base/status.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/edit.h"
#include "hlo/passes/row_major_bitcast.h"
#include "runtime/loops/convert_loops.h"

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

bool HoldsFloats(const Shape& array) {
  return IsFloat(array.element_type()) || IsComplex(array.element_type());
}

PrimitiveType OperandType(const Instruction& instruction) {
  return instruction.operand(0)->shape().element_type();
}

// The op only rounds: its result is its operand.
bool IsIdentityWithoutRounding(const Instruction& instruction) {
  if (instruction.opcode() == Opcode::kReducePrecision) return true;
  return instruction.opcode() == Opcode::kConvert && HoldsFloats(instruction.shape()) &&
         PromotedType(OperandType(instruction)) == PromotedType(instruction.shape().element_type());
}

// The op rounds its operands to their declared types first, and its result has the declared type.
bool RunsAsDeclared(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kBitcastConvert:
    case Opcode::kStochasticConvert:
    case Opcode::kCompare:
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
    case Opcode::kRemainder:
    case Opcode::kRng:
    case Opcode::kInfeed:
    case Opcode::kOutfeed:
      return true;
    case Opcode::kBitcast:
      return OperandType(instruction) != instruction.shape().element_type();
    case Opcode::kConvert:
    case Opcode::kDot:
    case Opcode::kRaggedDot:
    case Opcode::kScaledDot:
    case Opcode::kConvolution:
      return !HoldsFloats(instruction.shape());
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
    return bitcasts_.Finish(target_);
  }

  int64_t rounding_ops() const { return rounding_ops_; }
  bool jumps() const { return jumps_; }

 private:
  absl::Status AddComputation(const Computation& source) {
    Computation* into = target_->AddComputation(source.name());
    into->set_is_fusion(source.is_fusion());
    into->set_execution_thread(source.execution_thread());
    InstructionBuilder b(into);
    ASSIGN_OR_RETURN(
        const std::vector<Instruction*> made,
        CloneInstructions(source, [&](const Instruction& instruction, std::vector<Instruction*>* operands) {
          return AddInstruction(instruction, *operands, b);
        }));
    CloneControlPredecessors(source, made);
    into->set_root(made[source.root()->index()]);
    computations_[&source] = into;
    return into->CollectParameters();
  }

  absl::StatusOr<Instruction*> AddInstruction(const Instruction& source, std::vector<Instruction*> operands,
                                              InstructionBuilder& b) {
    if (source.opcode() == Opcode::kConstant && IsPromoted(source.shape())) return AddConstant(source, b);
    const bool declared = RunsAsDeclared(source);
    bool rounds = false;
    for (size_t i = 0; declared && i < operands.size(); ++i) {
      Instruction* rounded = Converted(operands[i], source.operand(i)->shape(), b);
      rounds |= rounded != operands[i];
      operands[i] = rounded;
    }
    rounding_ops_ += rounds;
    jumps_ |= rounds || source.opcode() == Opcode::kSign;
    Instruction* clone;
    if (IsIdentityWithoutRounding(source)) {
      clone = b.Op(Opcode::kCopy, PromotedShape(source.shape()), {operands[0]});
    } else if (source.opcode() == Opcode::kBitcast) {
      // Promoted arrays are row-major, whatever their source's layout.
      clone = bitcasts_.Append(source, operands[0], b.computation());
    } else {
      clone = b.Clone(source, declared ? source.shape() : PromotedShape(source.shape()), operands);
    }
    Describe(source, clone);
    if (declared) clone = Converted(clone, PromotedShape(source.shape()), b);
    RETURN_IF_ERROR(Annotate(b.status(), source.Path()));
    return clone;
  }

  absl::StatusOr<Instruction*> AddConstant(const Instruction& source, InstructionBuilder& b) {
    const absl::StatusOr<Literal> literal = LiteralOf(source);
    if (!literal.ok()) return Annotate(literal.status(), source.Path());
    Instruction* constant = b.Constant(PromotedLiteral(*literal));
    Describe(source, constant);
    return constant;
  }

  void Describe(const Instruction& source, Instruction* clone) {
    clone->set_name(source.name());
    clone->TakeSharding(source);
    ReplaceCalled(clone, [this](const Computation* callee) { return computations_[callee]; });
  }

  // The value with the element types of `shape`.
  static Instruction* Converted(Instruction* value, const Shape& shape, InstructionBuilder& b) {
    if (value->shape().IsTuple()) {
      bool changes = false;
      std::vector<Instruction*> elements;
      for (size_t i = 0; i < shape.tuple_shapes().size(); ++i) {
        Instruction* element = b.GetTupleElement(value, i);
        elements.push_back(Converted(element, shape.tuple_shape(i), b));
        changes |= elements.back() != element;
      }
      return changes ? b.Tuple(elements) : value;
    }
    return shape.IsArray() ? b.Convert(value, shape.element_type()) : value;
  }

  const Module& source_;
  Module* const target_;
  absl::flat_hash_map<const Computation*, Computation*> computations_;
  RowMajorBitcasts bitcasts_;
  int64_t rounding_ops_ = 0;
  bool jumps_ = false;
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
      elements.push_back(DemotedLiteral(literal.element(static_cast<int>(i)), shape.tuple_shape(i)));
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

bool ComputesBelowF64(const Module& module) {
  return std::any_of(module.computations().begin(), module.computations().end(), [](const auto& computation) {
    return std::any_of(computation->instructions().begin(), computation->instructions().end(),
                       [](const auto& instruction) { return IsPromoted(instruction->shape()); });
  });
}

absl::StatusOr<PromotedModule> PromoteModule(const Module& module) {
  PromotedModule promoted;
  promoted.module = std::make_unique<Module>(module.name(), module);
  promoted.module->config() = module.config();
  *promoted.module->mutable_proto() = module.proto();
  // These spell out the old types.
  promoted.module->mutable_proto()->clear_host_program_shape();
  promoted.module->mutable_proto()->clear_input_output_alias();
  Promoter promoter(module, promoted.module.get());
  RETURN_IF_ERROR(promoter.Run());
  promoted.rounding_ops = promoter.rounding_ops();
  promoted.jumps = promoter.jumps();
  return promoted;
}

}  // namespace toroid
