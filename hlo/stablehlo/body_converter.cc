#include "hlo/stablehlo/body_converter.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/io/sharding_text.h"
#include "hlo/io/text_scanner.h"

namespace toroid {
namespace {

bool IsReturn(absl::string_view name) {
  return name == "stablehlo.return" || name == "func.return" || name == "sdy.return";
}

// Attributes that hold for any operation.
absl::Status AddFrontendAttributes(const MlirAttribute& dictionary, xla::FrontendAttributes* out) {
  if (dictionary.kind != MlirAttribute::Kind::kDictionary) {
    return absl::InvalidArgumentError("mhlo.frontend_attributes is a dictionary");
  }
  for (const auto& [key, value] : dictionary.fields) {
    if (value.kind != MlirAttribute::Kind::kString) {
      return absl::InvalidArgumentError(absl::StrCat("frontend attribute ", key, " is a string"));
    }
    (*out->mutable_map())[std::string(key)] = value.string;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ConversionState::ErrorAt(const MlirOperation& op, absl::string_view what) const {
  return TextScanner(text).ErrorAt(op.position, absl::StrCat(op.name, ": ", what));
}

std::string ConversionState::Name(absl::string_view base) {
  std::string clean;
  for (const char c : base.substr(0, 200)) clean.push_back(IsNameCharacter(c) ? c : '_');
  if (clean.empty() || (!absl::ascii_isalpha(static_cast<unsigned char>(clean[0])) && clean[0] != '_')) {
    clean = absl::StrCat("_", clean);
  }
  const int number = ++used_names[clean];
  return names.Add(absl::StrCat(clean, ".", number));
}

Computation* ConversionState::AddComputation(absl::string_view name) {
  return module->AddComputation(Name(name));
}

absl::Status ConversionState::Annotate(const MlirAttribute& attributes, Instruction* instruction) const {
  xla::FrontendAttributes frontend;
  for (const auto& [key, value] : attributes.fields) {
    if (key == "mhlo.sharding" && value.kind == MlirAttribute::Kind::kString) {
      absl::StatusOr<xla::OpSharding> sharding = ParseSharding(value.string);
      if (!sharding.ok()) return toroid::Annotate(sharding.status(), "mhlo.sharding");
      instruction->set_sharding(module->New(*sharding));
    } else if (key == "mhlo.frontend_attributes") {
      RETURN_IF_ERROR(AddFrontendAttributes(value, &frontend));
    } else if (key == "sdy.sharding" || key == "sdy.sharding_rule") {
      (*frontend.mutable_map())[absl::StrCat("xla.", key)] = std::string(value.text);
    }
  }
  if (!frontend.map().empty()) instruction->set_frontend_attributes(module->New(frontend));
  return absl::OkStatus();
}

absl::StatusOr<Shape> ShapeOf(const ConversionState& state, const MlirOperation& op, const MlirType& type) {
  if (type.kind == MlirType::Kind::kNone || type.kind == MlirType::Kind::kFunction) {
    return state.ErrorAt(op, "a value of a type that HLO has no values of");
  }
  if (type.has_unknown_size) {
    return state.ErrorAt(op, "a dimension without a size or bound; export the program for given shapes");
  }
  return type.shape;
}

std::vector<const MlirValue*> CapturedValues(const MlirRegion& region) {
  std::vector<const MlirValue*> captured;
  absl::flat_hash_set<const MlirValue*> inside, seen;
  std::vector<const MlirRegion*> work = {&region};
  // First what is defined inside, at any depth.
  for (size_t i = 0; i < work.size(); ++i) {
    for (const MlirValue& argument : work[i]->arguments) inside.insert(&argument);
    for (const auto& op : work[i]->operations) {
      for (const MlirValue& result : op->results) inside.insert(&result);
      for (const auto& inner : op->regions) work.push_back(inner.get());
    }
  }
  for (const MlirRegion* part : work) {
    for (const auto& op : part->operations) {
      for (const MlirValue* operand : op->operands) {
        if (!inside.contains(operand) && seen.insert(operand).second) captured.push_back(operand);
      }
    }
  }
  return captured;
}

Instruction* BodyConverter::Add(Opcode opcode, const Shape& shape, absl::Span<Instruction* const> operands,
                                const MlirLocation* location) {
  Instruction* instruction = computation_->Add(opcode, shape, operands);
  instruction->set_metadata(state_.metadata.Of(location));
  absl::string_view base = OpcodeName(opcode);
  if (instruction->metadata() != nullptr && !instruction->metadata()->op_name().empty()) {
    base = instruction->metadata()->op_name();
    base = base.substr(0, base.find(';'));
    const size_t slash = base.rfind('/');
    if (slash != absl::string_view::npos && slash + 1 < base.size()) base.remove_prefix(slash + 1);
  }
  instruction->set_name(state_.Name(base));
  return instruction;
}

void BodyConverter::AddParameter(const MlirValue& value) {
  Instruction* parameter = computation_->AddParameter(value.type.shape);
  parameter->set_metadata(state_.metadata.Of(value.location));
  const bool named = parameter->metadata() != nullptr && !parameter->metadata()->op_name().empty();
  parameter->set_name(state_.Name(named ? parameter->metadata()->op_name()
                                        : absl::StrCat("Arg_", computation_->num_parameters() - 1)));
  Bind(&value, parameter);
}

void BodyConverter::AddTupleParameter(absl::Span<const MlirValue* const> values) {
  std::vector<Shape> shapes;
  for (const MlirValue* value : values) shapes.push_back(value->type.shape);
  Instruction* tuple = computation_->AddParameter(Shape::Tuple(std::move(shapes)), state_.Name("arg_tuple"));
  for (size_t i = 0; i < values.size(); ++i) {
    Instruction* element = Add(Opcode::kGetTupleElement, values[i]->type.shape, {tuple}, nullptr);
    element->MutableAttrs()->set_tuple_index(static_cast<int64_t>(i));
    Bind(values[i], element);
  }
}

void BodyConverter::SetRoot(absl::Span<Instruction* const> values) {
  if (values.size() == 1) {
    computation_->set_root(values[0]);
    return;
  }
  std::vector<Shape> shapes;
  for (const Instruction* value : values) shapes.push_back(value->shape());
  computation_->set_root(Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), values, nullptr));
}

bool BodyConverter::Knows(const MlirValue& value) const {
  return values_.contains(&value) || (value.owner != nullptr && tuples_.contains(value.owner));
}

absl::StatusOr<Instruction*> BodyConverter::ValueOf(const MlirOperation& user, const MlirValue& value) {
  const auto it = values_.find(&value);
  if (it != values_.end()) return it->second;
  const auto tuple = value.owner == nullptr ? tuples_.end() : tuples_.find(value.owner);
  if (tuple != tuples_.end()) {
    Instruction* element = Add(Opcode::kGetTupleElement, tuple->second->shape().tuple_shape(value.number),
                               {tuple->second}, value.location);
    element->MutableAttrs()->set_tuple_index(value.number);
    Bind(&value, element);
    return element;
  }
  // A constant outside of a region that cannot take further arguments.
  if (value.owner != nullptr && value.owner->operands.empty() && value.owner->regions.empty() &&
      value.owner->name == "stablehlo.constant") {
    RETURN_IF_ERROR(ConvertOperation(*value.owner));
    return ValueOf(user, value);
  }
  return state_.ErrorAt(user,
                        "it uses a value from outside of its region, which HLO's computations cannot do");
}

absl::StatusOr<std::vector<Instruction*>> BodyConverter::Convert(const MlirRegion& region) {
  if (region.operations.empty() || !IsReturn(region.operations.back()->name)) {
    return absl::InvalidArgumentError("a region does not end in a return");
  }
  for (const auto& op : region.operations) {
    if (op == region.operations.back()) break;
    RETURN_IF_ERROR(ConvertOperation(*op));
  }
  std::vector<Instruction*> values;
  const MlirOperation& last = *region.operations.back();
  for (const MlirValue* operand : last.operands) {
    ASSIGN_OR_RETURN(Instruction * value, ValueOf(last, *operand));
    values.push_back(value);
  }
  return values;
}

absl::Status BodyConverter::ConvertOperation(const MlirOperation& op) {
  const OpRow* row = FindOpRow(op.name);
  if (row == nullptr) return state_.ErrorAt(op, "HLO has no such operation, or it is not known here");
  for (const MlirValue& result : op.results) RETURN_IF_ERROR(ShapeOf(state_, op, result.type).status());
  for (const auto& region : op.regions) {
    for (const MlirValue& argument : region->arguments) {
      RETURN_IF_ERROR(ShapeOf(state_, op, argument.type).status());
    }
  }
  OpConversion conversion(op, row->opcode, this);
  RETURN_IF_ERROR(conversion.Start());
  const absl::Status status =
      row->convert == nullptr ? conversion.Finish(row->opcode) : row->convert(conversion);
  // Errors of helpers do not say where.
  if (status.ok() || status.message().empty() ||
      absl::ascii_isdigit(static_cast<unsigned char>(status.message()[0]))) {
    return status;
  }
  return state_.ErrorAt(op, status.message());
}

}  // namespace toroid
