#include "hlo/stablehlo/op_conversion.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "hlo/base/status.h"
#include "hlo/stablehlo/body_converter.h"
#include "hlo/stablehlo/dense_literal.h"
#include "hlo/stablehlo/mlir_parser.h"

namespace toroid {

Module* OpConversion::module() const { return body_.state().module; }

absl::Status OpConversion::Error(absl::string_view what) const { return body_.state().ErrorAt(op_, what); }

absl::Status OpConversion::Start() {
  for (const MlirValue* value : op_.operands) {
    ASSIGN_OR_RETURN(Instruction * operand, body_.ValueOf(op_, *value));
    operands_.push_back(operand);
  }
  return absl::OkStatus();
}

absl::Status OpConversion::CheckOperands(int count) const {
  if (num_operands() == count) return absl::OkStatus();
  return Error(absl::StrCat("it has ", num_operands(), " operands, not ", count));
}

absl::Status OpConversion::CheckArrays() const {
  for (const Instruction* operand : operands_) {
    if (!operand->shape().IsArray()) return Error("its operands are tensors");
  }
  for (const MlirValue& result : op_.results) {
    if (!result.type.shape.IsArray()) return Error("its results are tensors");
  }
  return absl::OkStatus();
}

// ---- Attributes

bool OpConversion::Flag(absl::string_view key) const {
  const MlirAttribute* attribute = Find(key);
  if (attribute == nullptr) return false;
  return attribute->kind != MlirAttribute::Kind::kBool || attribute->integer != 0;
}

absl::StatusOr<int64_t> OpConversion::Integer(absl::string_view key) const {
  ASSIGN_OR_RETURN(const std::vector<int64_t> values, Integers(key));
  if (values.size() == 1) return values[0];
  return Error(absl::StrCat(key, " is one integer"));
}

absl::StatusOr<std::vector<int64_t>> OpConversion::IntegersOf(const MlirAttribute& attribute,
                                                              absl::string_view key) const {
  std::vector<int64_t> values;
  switch (attribute.kind) {
    case MlirAttribute::Kind::kBool:
    case MlirAttribute::Kind::kInteger:
      return std::vector<int64_t>{attribute.integer};
    case MlirAttribute::Kind::kArray:
      for (const MlirAttribute& element : attribute.elements) {
        if (element.kind != MlirAttribute::Kind::kInteger && element.kind != MlirAttribute::Kind::kBool) {
          return Error(absl::StrCat(key, " is a list of integers"));
        }
        values.push_back(element.integer);
      }
      return values;
    case MlirAttribute::Kind::kDense: {
      const Shape& shape = attribute.type.shape;
      if (!IsInt(shape.element_type()) && shape.element_type() != xla::PRED) break;
      if (attribute.type.has_unknown_size) break;
      absl::StatusOr<DenseValue> dense = ParseDense(attribute.body, shape);
      if (!dense.ok()) return Error(absl::StrCat(key, ": ", dense.status().message()));
      constexpr int64_t kMostElements = 1 << 24;
      if (shape.NumElements() > kMostElements) return Error(absl::StrCat(key, " has too many elements"));
      const auto at = [&](int64_t i) -> int64_t {
        const char* bytes = dense->literal.bytes() + i * ByteWidth(shape.element_type());
        switch (ByteWidth(shape.element_type())) {
          case 8:
            return *reinterpret_cast<const int64_t*>(bytes);
          case 4:
            return *reinterpret_cast<const int32_t*>(bytes);
          default:
            return *bytes;
        }
      };
      for (int64_t i = 0; i < shape.NumElements(); ++i) values.push_back(at(dense->is_splat ? 0 : i));
      return values;
    }
    default:
      break;
  }
  return Error(absl::StrCat(key, " is a list of integers"));
}

absl::StatusOr<std::vector<int64_t>> OpConversion::Integers(absl::string_view key) const {
  const MlirAttribute* attribute = Find(key);
  if (attribute == nullptr) return Error(absl::StrCat("it lacks ", key));
  return IntegersOf(*attribute, key);
}

absl::Status OpConversion::Integers(absl::string_view key, IntegerField* out) const {
  ASSIGN_OR_RETURN(const std::vector<int64_t> values, Integers(key));
  out->Add(values.begin(), values.end());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int64_t>> OpConversion::IntegersOr(absl::string_view key, size_t count,
                                                              int64_t otherwise) const {
  if (!Has(key)) return std::vector<int64_t>(count, otherwise);
  ASSIGN_OR_RETURN(std::vector<int64_t> values, Integers(key));
  if (values.size() == count) return values;
  return Error(absl::StrCat(key, " has ", values.size(), " entries, not ", count));
}

absl::StatusOr<std::vector<std::vector<int64_t>>> OpConversion::Rows(absl::string_view key) const {
  std::vector<std::vector<int64_t>> rows;
  const MlirAttribute* attribute = Find(key);
  if (attribute == nullptr) return rows;
  // [[1, 2], [3, 4]] of a pretty form.
  if (attribute->kind == MlirAttribute::Kind::kArray) {
    for (const MlirAttribute& row : attribute->elements) {
      ASSIGN_OR_RETURN(rows.emplace_back(), IntegersOf(row, key));
    }
    return rows;
  }
  ASSIGN_OR_RETURN(const std::vector<int64_t> values, IntegersOf(*attribute, key));
  const Shape& shape = attribute->type.shape;
  if (attribute->kind != MlirAttribute::Kind::kDense || shape.rank() != 2) {
    return Error(absl::StrCat(key, " is a matrix of integers"));
  }
  if (values.empty()) return rows;
  for (int64_t i = 0; i < shape.dim(0); ++i) {
    rows.emplace_back(values.begin() + i * shape.dim(1), values.begin() + (i + 1) * shape.dim(1));
  }
  return rows;
}

std::string OpConversion::KeywordOf(const MlirAttribute& attribute) {
  if (attribute.kind == MlirAttribute::Kind::kString) return attribute.string;
  absl::string_view body =
      absl::StripAsciiWhitespace(attribute.body.empty() ? attribute.text : attribute.body);
  const size_t space = body.rfind(' ');
  return std::string(space == absl::string_view::npos ? body : body.substr(space + 1));
}

absl::StatusOr<std::string> OpConversion::Keyword(absl::string_view key) const {
  const MlirAttribute* attribute = Find(key);
  if (attribute == nullptr) return Error(absl::StrCat("it lacks ", key));
  return KeywordOf(*attribute);
}

absl::StatusOr<std::string> OpConversion::String(absl::string_view key) const {
  const MlirAttribute* attribute = Find(key);
  if (attribute == nullptr) return std::string();
  if (attribute->kind == MlirAttribute::Kind::kString || attribute->kind == MlirAttribute::Kind::kSymbol) {
    return attribute->string;
  }
  return Error(absl::StrCat(key, " is a string"));
}

absl::StatusOr<MlirAttribute> OpConversion::Struct(absl::string_view key) const {
  const MlirAttribute* attribute = Find(key);
  if (attribute == nullptr) return Error(absl::StrCat("it lacks ", key));
  if (attribute->kind == MlirAttribute::Kind::kDictionary) return *attribute;
  if (attribute->kind != MlirAttribute::Kind::kDialect)
    return Error(absl::StrCat(key, " is a list of fields"));
  MlirModule unused;
  absl::StatusOr<MlirAttribute> fields = MlirParser(attribute->body, &unused).ParseFields();
  if (fields.ok()) return fields;
  return Error(absl::StrCat(key, ": ", fields.status().message()));
}

absl::Status OpConversion::IntegersOfField(const MlirAttribute& fields, absl::string_view key,
                                           IntegerField* out) const {
  const MlirAttribute* field = fields.Find(key);
  if (field == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<int64_t> values, IntegersOf(*field, key));
  out->Add(values.begin(), values.end());
  return absl::OkStatus();
}

absl::StatusOr<int64_t> OpConversion::IntegerOfField(const MlirAttribute& fields, absl::string_view key,
                                                     int64_t otherwise) const {
  const MlirAttribute* field = fields.Find(key);
  if (field == nullptr) return otherwise;
  if (field->kind == MlirAttribute::Kind::kInteger || field->kind == MlirAttribute::Kind::kBool)
    return field->integer;
  return Error(absl::StrCat(key, " is an integer"));
}

// ---- Results

absl::StatusOr<Shape> OpConversion::ResultShape() const {
  if (op_.results.size() == 1) return op_.results[0].type.shape;
  std::vector<Shape> shapes;
  for (const MlirValue& result : op_.results) shapes.push_back(result.type.shape);
  return Shape::Tuple(std::move(shapes));
}

Instruction* OpConversion::Add(Opcode opcode, const Shape& shape, absl::Span<Instruction* const> operands,
                               const xla::HloInstructionProto* attrs, absl::Span<Computation* const> called) {
  Instruction* instruction = body_.Add(opcode, shape, operands, op_.location);
  if (attrs != nullptr) instruction->set_attrs(attrs);
  instruction->set_called(called);
  return instruction;
}

absl::Status OpConversion::Finish(Instruction* instruction) {
  const Shape& shape = instruction->shape();
  if (op_.results.size() != 1 && (!shape.IsTuple() || shape.tuple_shapes().size() != op_.results.size())) {
    return Error(absl::StrCat("it has ", op_.results.size(), " results of ", shape.ToString()));
  }
  // A value that an operand gives has annotations of its own.
  bool is_new = true;
  for (const Instruction* operand : operands_) is_new &= operand != instruction;
  if (is_new) RETURN_IF_ERROR(body_.state().Annotate(op_.attributes, instruction));
  if (op_.results.size() == 1) {
    body_.Bind(&op_.results[0], instruction);
  } else {
    body_.BindTuple(&op_, instruction);
  }
  return absl::OkStatus();
}

absl::Status OpConversion::Finish(Opcode opcode, const xla::HloInstructionProto* attrs,
                                  absl::Span<Computation* const> called) {
  ASSIGN_OR_RETURN(const Shape shape, ResultShape());
  return Finish(Add(opcode, shape, operands_, attrs, called));
}

absl::Status OpConversion::FinishEach(absl::Span<Instruction* const> values) {
  if (values.size() != op_.results.size()) {
    return Error(absl::StrCat("it has ", op_.results.size(), " results, not ", values.size()));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const Shape &made = values[i]->shape(), &stated = op_.results[i].type.shape;
    if (made.IsArray() && stated.IsArray() &&
        !(made.element_type() == stated.element_type() && made.SameDims(stated))) {
      return Error(absl::StrCat("result ", i, " is ", made.ToString(), ", not ", stated.ToString()));
    }
    body_.Bind(&op_.results[i], values[i]);
  }
  return absl::OkStatus();
}

// ---- Regions

absl::StatusOr<Computation*> OpConversion::Region(size_t i, absl::string_view name) {
  if (i >= op_.regions.size()) return Error(absl::StrCat("it has ", op_.regions.size(), " regions"));
  const MlirRegion& region = *op_.regions[i];
  BodyConverter body(&body_.state(), body_.state().AddComputation(name));
  for (const MlirValue& argument : region.arguments) body.AddParameter(argument);
  ASSIGN_OR_RETURN(const std::vector<Instruction*> results, body.Convert(region));
  body.SetRoot(results);
  return body.computation();
}

}  // namespace toroid
