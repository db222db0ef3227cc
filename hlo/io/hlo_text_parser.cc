#include "hlo/io/hlo_text_parser.h"

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hlo/io/literal_text.h"
#include "hlo/io/metadata_text.h"
#include "hlo/io/module_header_text.h"
#include "hlo/io/shape_text.h"
#include "hlo/io/sharding_text.h"
#include "hlo/ops/infer_shape.h"

namespace toroid {
namespace {

// `OP-start`, `OP-update`, `OP-done` around an opcode of the table.
std::optional<std::pair<Opcode, Opcode>> AsyncSugar(absl::string_view name) {
  static constexpr std::pair<absl::string_view, Opcode> kForms[] = {
      {"-start", Opcode::kAsyncStart}, {"-update", Opcode::kAsyncUpdate}, {"-done", Opcode::kAsyncDone}};
  for (const auto& [suffix, async] : kForms) {
    if (!absl::EndsWith(name, suffix)) continue;
    const std::optional<Opcode> wrapped = OpcodeFromName(absl::StripSuffix(name, suffix));
    if (wrapped) return std::make_pair(*wrapped, async);
  }
  return std::nullopt;
}

// True for a single value that is too large an array for a literal (kMaxSplatElements).
bool IsLargeSplat(const Shape& shape, TextScanner* scanner) {
  return shape.IsArray() && !shape.IsDynamic() && shape.NumElements() > kMaxSplatElements &&
         scanner->Peek() != '{';
}

}  // namespace

// ---- Module and computations ------------------------------------------------------------------------------

absl::StatusOr<std::unique_ptr<Module>> HloTextParser::Parse() {
  module_ = std::make_unique<Module>("module");
  RETURN_IF_ERROR(ParseHeader());
  if (scanner_.AtEnd()) return scanner_.Error("expected a computation");
  if (AtComputation()) {
    while (!scanner_.AtEnd()) RETURN_IF_ERROR(ParseTopLevelComputation());
  } else {
    RETURN_IF_ERROR(ParseLooseInstructions());
  }
  RETURN_IF_ERROR(FinishModule());
  return std::move(module_);
}

absl::Status HloTextParser::ParseHeader() {
  if (!scanner_.ConsumeWord("HloModule")) return absl::OkStatus();
  if (scanner_.Peek() != ',') {
    ASSIGN_OR_RETURN(const absl::string_view name, scanner_.Name("the name of the module"));
    module_->set_name(std::string(name));
    scanner_.Consume(":");
  }
  RETURN_IF_ERROR(ParseModuleAttributes(&scanner_, module_.get()));
  return ParseStackFrames(&scanner_, module_.get());
}

// A computation starts with ENTRY, `NAME {`, or `NAME (...) ->`; anything else is an instruction.
bool HloTextParser::AtComputation() {
  const size_t begin = scanner_.Position();
  bool computation = scanner_.PeekWord() == "ENTRY";
  if (!computation && !AtShape(&scanner_) && scanner_.Name("").ok()) {
    if (scanner_.Peek() == '{') {
      computation = true;
    } else if (scanner_.Peek() == '(') {
      const absl::string_view rest = scanner_.Rest();
      int64_t depth = 0;
      size_t end = 0;
      for (; end < rest.size(); ++end) {
        if (rest[end] == '(') ++depth;
        if (rest[end] == ')' && --depth == 0) break;
      }
      scanner_.Reset(scanner_.Position() + std::min(end + 1, rest.size()));
      computation = scanner_.Consume("->") || scanner_.Peek() == '{';
    }
  }
  scanner_.Reset(begin);
  return computation;
}

absl::Status HloTextParser::ParseTopLevelComputation() {
  const size_t begin = scanner_.Position();
  const bool entry = scanner_.ConsumeWord("ENTRY");
  std::string name;
  if (scanner_.Peek() != '{' && scanner_.Peek() != '(') {
    ASSIGN_OR_RETURN(const absl::string_view word, scanner_.Name("the name of a computation"));
    name = std::string(word);
  }
  ASSIGN_OR_RETURN(const Signature signature, ParseSignature());
  Scope scope;
  scope.computation = module_->AddComputation(name);
  RETURN_IF_ERROR(ParseBody(&scope));
  CheckSignature(signature, *scope.computation);
  if (name.empty()) {
    unnamed_.push_back(scope.computation);
  } else if (!by_name_.emplace(name, scope.computation).second) {
    return scanner_.ErrorAt(begin, absl::StrCat("there are two computations ", name));
  }
  while (scanner_.Consume(",")) {
    ASSIGN_OR_RETURN(const absl::string_view key, scanner_.Word("execution_thread="));
    RETURN_IF_ERROR(scanner_.Expect("="));
    if (key == "execution_thread") {
      ASSIGN_OR_RETURN(std::string thread, scanner_.String());
      scope.computation->set_execution_thread(std::move(thread));
    } else {
      RETURN_IF_ERROR(scanner_.SkipValue());
    }
  }
  if (!entry) return absl::OkStatus();
  if (entry_ != nullptr) return scanner_.ErrorAt(begin, "there is another ENTRY computation before this one");
  entry_ = scope.computation;
  return absl::OkStatus();
}

absl::StatusOr<HloTextParser::Signature> HloTextParser::ParseSignature() {
  Signature signature;
  signature.begin = scanner_.Position();
  if (scanner_.Peek() != '(') return signature;
  signature.given = true;
  RETURN_IF_ERROR(scanner_.List("(", ")", [&]() -> absl::Status {
    RETURN_IF_ERROR(scanner_.Name("the name of a parameter").status());
    RETURN_IF_ERROR(scanner_.Expect(":"));
    ASSIGN_OR_RETURN(Shape shape, ParseShape(&scanner_));
    signature.parameters.push_back(std::move(shape));
    return absl::OkStatus();
  }));
  RETURN_IF_ERROR(scanner_.Expect("->"));
  ASSIGN_OR_RETURN(signature.result, ParseShape(&scanner_));
  return signature;
}

void HloTextParser::CheckSignature(const Signature& signature, const Computation& computation) {
  if (!signature.given) return;
  bool fits = static_cast<int>(signature.parameters.size()) == computation.num_parameters() &&
              signature.result.Compatible(computation.root()->shape());
  for (int i = 0; fits && i < computation.num_parameters(); ++i) {
    fits = signature.parameters[i].Compatible(computation.parameter(i)->shape());
  }
  if (fits) return;
  WarnAt(signature.begin,
         absl::StrCat("the signature of ", computation.name(),
                      " differs from the parameters and the root of its body; the body counts"));
}

void HloTextParser::WarnAt(size_t position, absl::string_view what) {
  if (warnings_ == nullptr || warnings_->size() >= kMaxWarnings) return;
  warnings_->push_back(std::string(scanner_.ErrorAt(position, absl::StrCat("warning: ", what)).message()));
}

absl::Status HloTextParser::ParseBody(Scope* scope) {
  Nesting nesting(&scanner_);
  RETURN_IF_ERROR(nesting.status());
  RETURN_IF_ERROR(scanner_.Expect("{"));
  while (!scanner_.Consume("}")) {
    const size_t begin = scanner_.Position();
    if (scanner_.AtEnd()) return scanner_.Error("expected '}'");
    const bool root = scanner_.ConsumeWord("ROOT");
    ASSIGN_OR_RETURN(Instruction * instruction, ParseInstruction(scope));
    if (!root) continue;
    if (scope->computation->root() != nullptr) {
      return scanner_.ErrorAt(begin, "there is another ROOT before this one");
    }
    scope->computation->set_root(instruction);
  }
  return Finish(scope);
}

absl::Status HloTextParser::ParseLooseInstructions() {
  Scope scope;
  scope.computation = module_->AddComputation("entry");
  scope.implicit_parameters = true;
  while (!scanner_.AtEnd()) {
    const bool root = scanner_.ConsumeWord("ROOT");
    ASSIGN_OR_RETURN(Instruction * instruction, ParseInstruction(&scope));
    if (root) scope.computation->set_root(instruction);
  }
  return Finish(&scope);
}

absl::Status HloTextParser::Finish(Scope* scope) {
  Computation* computation = scope->computation;
  if (computation->size() == 0) return scanner_.Error("a computation without instructions ends before this");
  if (computation->root() == nullptr)
    computation->set_root(computation->instruction(computation->size() - 1));
  const absl::Status status = computation->CollectParameters();
  if (!status.ok())
    return scanner_.Error(absl::StrCat(status.message(), "; the computation ends before this"));
  finished_.push_back(computation);
  return absl::OkStatus();
}

absl::Status HloTextParser::FinishModule() {
  module_->ReorderComputations(finished_);
  module_->set_entry(entry_ != nullptr ? entry_ : finished_.back());
  int64_t next = 0;
  for (Computation* computation : unnamed_) {
    std::string name;
    do {
      name = absl::StrCat("computation.", ++next);
    } while (by_name_.contains(name));
    computation->set_name(std::move(name));
  }
  CheckEntryLayout();
  return absl::OkStatus();
}

void HloTextParser::CheckEntryLayout() {
  if (!module_->proto().has_host_program_shape()) return;
  xla::ProgramShapeProto* program_shape = module_->mutable_proto()->mutable_host_program_shape();
  const Computation& entry = *module_->entry();
  const auto fits = [](const xla::ShapeProto& proto, const Shape& shape) {
    const absl::StatusOr<Shape> parsed = Shape::FromProto(proto);
    return parsed.ok() && parsed->Compatible(shape);
  };
  bool all_fit = program_shape->parameters_size() == entry.num_parameters() &&
                 fits(program_shape->result(), entry.root()->shape());
  for (int i = 0; all_fit && i < entry.num_parameters(); ++i) {
    all_fit = fits(program_shape->parameters(i), entry.parameter(i)->shape());
  }
  if (!all_fit) {
    WarnAt(
        0,
        "entry_computation_layout differs from the parameters and the root of the entry; the entry counts");
    module_->mutable_proto()->clear_host_program_shape();
    return;
  }
  // The names that compilers give parameters here.
  for (int i = 0; i < entry.num_parameters(); ++i) {
    program_shape->add_parameter_names(absl::StrCat("p", i));
  }
}

// ---- Instructions -----------------------------------------------------------------------------------------

absl::StatusOr<Instruction*> HloTextParser::ParseInstruction(Scope* scope) {
  Head head;
  head.begin = scanner_.Position();
  // In loose text the name may be missing: `f32[2] add(f32[2] x, f32[2] y)`.
  const bool named = !scope->implicit_parameters || !AtShape(&scanner_);
  if (named) {
    ASSIGN_OR_RETURN(const absl::string_view name, scanner_.Name("an instruction"));
    head.name = std::string(name);
    RETURN_IF_ERROR(scanner_.Expect("="));
  }
  if (AtShape(&scanner_)) {
    ASSIGN_OR_RETURN(head.shape, ParseShape(&scanner_));
    head.has_shape = true;
  }
  const size_t opcode_begin = scanner_.Position();
  ASSIGN_OR_RETURN(head.opcode, scanner_.Word("an opcode"));
  if (scanner_.Peek() != '(') {
    return scanner_.ErrorAt(opcode_begin, head.has_shape
                                              ? "expected an opcode and its operands in parentheses"
                                              : "expected a shape, or an opcode and its operands");
  }
  Instruction* instruction;
  const std::optional<Opcode> opcode = OpcodeFromName(head.opcode);
  const auto async = opcode ? std::nullopt : AsyncSugar(head.opcode);
  if (async) {
    ASSIGN_OR_RETURN(instruction, ParseAsync(head, async->first, async->second, scope));
  } else {
    ASSIGN_OR_RETURN(instruction, ParseKnown(head, opcode.value_or(Opcode::kUnknown), scope));
  }
  if (!head.name.empty() && !scope->by_name.emplace(head.name, instruction).second) {
    return scanner_.ErrorAt(head.begin, absl::StrCat("there are two instructions ", head.name));
  }
  return instruction;
}

absl::StatusOr<Instruction*> HloTextParser::ParseKnown(const Head& head, Opcode opcode, Scope* scope) {
  auto* attrs = module_->New<xla::HloInstructionProto>();
  std::vector<Instruction*> operands;
  if (opcode == Opcode::kParameter || opcode == Opcode::kConstant) {
    ASSIGN_OR_RETURN(opcode, ParseLeaf(head, opcode, attrs, &operands, scope));
  } else {
    ASSIGN_OR_RETURN(operands, ParseOperands(scope));
    const std::optional<absl::string_view> direction = RetiredComparisonDirection(head.opcode);
    if (direction) {
      opcode = Opcode::kCompare;
      attrs->set_comparison_direction(std::string(*direction));
    } else if (opcode == Opcode::kUnknown) {
      attrs->set_opcode(std::string(head.opcode));
    }
  }
  Instruction* instruction = scope->computation->Add(opcode, head.shape, operands, head.name);
  instruction->set_attrs(attrs);
  const bool splat = opcode == Opcode::kBroadcast && head.opcode == "constant";
  AttributeParser attributes(splat ? Opcode::kConstant : opcode, &scanner_, attrs,
                             [this] { return ParseComputationReference(); });
  RETURN_IF_ERROR(ParseAttributes(&attributes, instruction, scope));
  if (!RetiredComparisonDirection(head.opcode)) RETURN_IF_ERROR(attributes.Finish());
  instruction->set_called(attributes.called());
  if (opcode == Opcode::kFusion) {
    for (Computation* computation : instruction->called()) computation->set_is_fusion(true);
  }
  // The updates and dones of asynchronous ops inherit the callees.
  const bool continues = opcode == Opcode::kAsyncUpdate || opcode == Opcode::kAsyncDone;
  if (continues && instruction->called().empty() && !operands.empty()) {
    instruction->set_called(operands[0]->called());
  }
  RETURN_IF_ERROR(InferMissingShape(head, instruction));
  return instruction;
}

absl::StatusOr<Opcode> HloTextParser::ParseLeaf(const Head& head, Opcode opcode,
                                                xla::HloInstructionProto* attrs,
                                                std::vector<Instruction*>* operands, Scope* scope) {
  if (!head.has_shape)
    return scanner_.ErrorAt(head.begin, absl::StrCat("a ", head.opcode, " needs its shape"));
  RETURN_IF_ERROR(scanner_.Expect("("));
  if (opcode == Opcode::kParameter) {
    ASSIGN_OR_RETURN(const int64_t number, scanner_.Integer());
    attrs->set_parameter_number(number);
  } else if (IsLargeSplat(head.shape, &scanner_)) {
    const Shape scalar(head.shape.element_type(), {});
    ASSIGN_OR_RETURN(const std::optional<Literal> literal, ParseLiteral(scalar, &scanner_));
    operands->push_back(scope->computation->AddConstant(*literal));
    opcode = Opcode::kBroadcast;
  } else {
    ASSIGN_OR_RETURN(const std::optional<Literal> literal, ParseLiteral(head.shape, &scanner_));
    if (literal) literal->ToProto(attrs->mutable_literal());
  }
  RETURN_IF_ERROR(scanner_.Expect(")"));
  return opcode;
}

absl::StatusOr<Instruction*> HloTextParser::ParseAsync(const Head& head, Opcode wrapped, Opcode async,
                                                       Scope* scope) {
  if (!head.has_shape) return scanner_.ErrorAt(head.begin, absl::StrCat(head.opcode, " needs its shape"));
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, ParseOperands(scope));
  auto* attrs = module_->New<xla::HloInstructionProto>();
  Instruction* instruction = scope->computation->Add(async, head.shape, operands, head.name);
  instruction->set_attrs(attrs);
  if (async != Opcode::kAsyncStart) {
    AttributeParser attributes(async, &scanner_, attrs, [this] { return ParseComputationReference(); });
    RETURN_IF_ERROR(ParseAttributes(&attributes, instruction, scope));
    if (!operands.empty()) instruction->set_called(operands[0]->called());
    return instruction;
  }
  if (!head.shape.IsTuple() || head.shape.tuple_shapes().size() < 2) {
    return scanner_.ErrorAt(head.begin,
                            absl::StrCat(head.opcode, " has the shape ((operands), result, ...)"));
  }
  // The attributes are those of the wrapped instruction.
  Computation* body = module_->AddComputation("");
  unnamed_.push_back(body);
  std::vector<Instruction*> parameters;
  for (const Instruction* operand : operands) parameters.push_back(body->AddParameter(operand->shape()));
  auto* wrapped_attrs = module_->New<xla::HloInstructionProto>();
  Instruction* root = body->Add(wrapped, head.shape.tuple_shape(1), parameters);
  root->set_attrs(wrapped_attrs);
  body->set_root(root);
  AttributeParser attributes(wrapped, &scanner_, wrapped_attrs,
                             [this] { return ParseComputationReference(); });
  RETURN_IF_ERROR(ParseAttributes(&attributes, instruction, scope));
  RETURN_IF_ERROR(attributes.Finish());
  root->set_called(attributes.called());
  attrs->set_async_execution_thread(wrapped_attrs->async_execution_thread());
  wrapped_attrs->clear_async_execution_thread();
  body->set_execution_thread(attrs->async_execution_thread());
  finished_.push_back(body);
  instruction->set_called({body});
  return instruction;
}

absl::Status HloTextParser::ParseAttributes(AttributeParser* attributes, Instruction* instruction,
                                            Scope* scope) {
  while (scanner_.Consume(",")) {
    const size_t begin = scanner_.Position();
    ASSIGN_OR_RETURN(const absl::string_view key, scanner_.Word("an attribute"));
    RETURN_IF_ERROR(scanner_.Expect("="));
    ASSIGN_OR_RETURN(bool known, attributes->Parse(key));
    if (!known && key == "async_execution_thread") {
      ASSIGN_OR_RETURN(*attributes->attrs()->mutable_async_execution_thread(), scanner_.String());
      known = true;
    }
    if (!known) {
      ASSIGN_OR_RETURN(known, ParseCommonAttribute(key, attributes->attrs(), instruction, scope));
    }
    if (!known) {
      return scanner_.ErrorAt(begin, absl::StrCat(instruction->opcode_name(), " has no attribute ", key));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> HloTextParser::ParseCommonAttribute(absl::string_view key,
                                                         xla::HloInstructionProto* attrs,
                                                         Instruction* instruction, Scope* scope) {
  if (key == "sharding") {
    ASSIGN_OR_RETURN(const xla::OpSharding sharding, ParseSharding(&scanner_));
    instruction->set_sharding(module_->New(sharding));
  } else if (key == "frontend_attributes") {
    auto* attributes = module_->New<xla::FrontendAttributes>();
    RETURN_IF_ERROR(ParseFrontendAttributes(&scanner_, attributes));
    instruction->set_frontend_attributes(attributes);
  } else if (key == "metadata") {
    auto* metadata = module_->New<xla::OpMetadata>();
    RETURN_IF_ERROR(ParseMetadata(&scanner_, metadata));
    instruction->set_metadata(metadata);
  } else if (key == "backend_config") {
    ASSIGN_OR_RETURN(*attrs->mutable_backend_config(), ParseRawOrQuoted(&scanner_));
  } else if (key == "control-predecessors") {
    RETURN_IF_ERROR(scanner_.List("{", "}", [&]() -> absl::Status {
      const size_t begin = scanner_.Position();
      ASSIGN_OR_RETURN(const absl::string_view name, scanner_.Name("an instruction"));
      const auto it = scope->by_name.find(name);
      if (it == scope->by_name.end())
        return scanner_.ErrorAt(begin, absl::StrCat("unknown instruction ", name));
      instruction->AddControlPredecessor(it->second);
      return absl::OkStatus();
    }));
  } else if (key == "statistics") {
    RETURN_IF_ERROR(ParseStatistics(&scanner_, attrs->mutable_statistics_viz()));
  } else if (key == "origin") {
    RETURN_IF_ERROR(scanner_.SkipValue());
  } else {
    return false;
  }
  return true;
}

absl::Status HloTextParser::InferMissingShape(const Head& head, Instruction* instruction) {
  if (head.has_shape) return absl::OkStatus();
  absl::StatusOr<Shape> shape = InferShape(*instruction);
  if (!shape.ok()) return scanner_.ErrorAt(head.begin, shape.status().message());
  instruction->mutable_shape() = *std::move(shape);
  return absl::OkStatus();
}

// ---- Operands ---------------------------------------------------------------------------------------------

absl::StatusOr<std::vector<Instruction*>> HloTextParser::ParseOperands(Scope* scope) {
  std::vector<Instruction*> operands;
  RETURN_IF_ERROR(scanner_.List("(", ")", [&]() -> absl::Status {
    ASSIGN_OR_RETURN(Instruction * operand, ParseOperand(scope));
    operands.push_back(operand);
    return absl::OkStatus();
  }));
  return operands;
}

absl::StatusOr<Instruction*> HloTextParser::ParseOperand(Scope* scope) {
  Head head;
  head.begin = scanner_.Position();
  if (AtShape(&scanner_)) {
    ASSIGN_OR_RETURN(head.shape, ParseShape(&scanner_));
    head.has_shape = true;
  }
  const size_t begin = scanner_.Position();
  ASSIGN_OR_RETURN(const absl::string_view name, scanner_.Name("an operand"));
  if (scanner_.Peek() == '(') {
    head.opcode = name;
    return ParseNestedInstruction(head, scope);
  }
  const auto it = scope->by_name.find(name);
  Instruction* operand = it == scope->by_name.end() ? nullptr : it->second;
  if (operand == nullptr) {
    if (!scope->implicit_parameters || !head.has_shape) {
      return scanner_.ErrorAt(begin,
                              absl::StrCat("unknown operand ", name, "; operands stand before their users"));
    }
    operand = scope->computation->AddParameter(head.shape, std::string(name));
    scope->by_name.emplace(name, operand);
  }
  while (scanner_.Consume("#")) {
    ASSIGN_OR_RETURN(operand, TupleElement(operand, scope));
  }
  if (head.has_shape && !head.shape.Compatible(operand->shape())) {
    return scanner_.ErrorAt(head.begin, absl::StrCat("operand ", name, " is ", operand->shape().ToString(),
                                                     ", not ", head.shape.ToString()));
  }
  return operand;
}

absl::StatusOr<Instruction*> HloTextParser::ParseNestedInstruction(const Head& head, Scope* scope) {
  Nesting nesting(&scanner_);
  RETURN_IF_ERROR(nesting.status());
  const std::optional<Opcode> opcode = OpcodeFromName(head.opcode);
  if (!opcode) return scanner_.ErrorAt(head.begin, absl::StrCat("unknown opcode ", head.opcode));
  if (*opcode == Opcode::kParameter || *opcode == Opcode::kConstant) {
    auto* attrs = module_->New<xla::HloInstructionProto>();
    std::vector<Instruction*> scalars;
    ASSIGN_OR_RETURN(const Opcode made, ParseLeaf(head, *opcode, attrs, &scalars, scope));
    Instruction* leaf = scope->computation->Add(made, head.shape, scalars);
    leaf->set_attrs(attrs);
    return leaf;
  }
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, ParseOperands(scope));
  Instruction* instruction = scope->computation->Add(*opcode, head.shape, operands);
  RETURN_IF_ERROR(InferMissingShape(head, instruction));
  return instruction;
}

// Reads the index after `#`.
absl::StatusOr<Instruction*> HloTextParser::TupleElement(Instruction* tuple, Scope* scope) {
  const size_t begin = scanner_.Position();
  ASSIGN_OR_RETURN(const int64_t index, scanner_.Integer());
  if (!tuple->shape().IsTuple() || index < 0 ||
      index >= static_cast<int64_t>(tuple->shape().tuple_shapes().size())) {
    return scanner_.ErrorAt(begin, absl::StrCat(tuple->shape().ToString(), " has no element ", index));
  }
  xla::HloInstructionProto* attrs;
  Instruction* element =
      scope->computation->Add(Opcode::kGetTupleElement, tuple->shape().tuple_shape(index), {tuple}, &attrs);
  attrs->set_tuple_index(index);
  return element;
}

absl::StatusOr<Computation*> HloTextParser::ParseComputationReference() {
  if (scanner_.Peek() == '{') {
    Scope scope;
    scope.computation = module_->AddComputation("");
    unnamed_.push_back(scope.computation);
    RETURN_IF_ERROR(ParseBody(&scope));
    return scope.computation;
  }
  const size_t begin = scanner_.Position();
  ASSIGN_OR_RETURN(const absl::string_view name, scanner_.Name("a computation"));
  const auto it = by_name_.find(name);
  if (it == by_name_.end()) {
    return scanner_.ErrorAt(
        begin, absl::StrCat("unknown computation ", name, "; computations stand before their callers"));
  }
  return it->second;
}

}  // namespace toroid
