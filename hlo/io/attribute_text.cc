#include "hlo/io/attribute_text.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/descriptor.h"
#include "hlo/io/attribute_table.h"
#include "hlo/io/attribute_values.h"

namespace toroid {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Row = AttributeRow;
using Form = AttributeForm;
using Proto = xla::HloInstructionProto;

// ---- Fields by path ---------------------------------------------------------------------------------------

// The fields on the row's path, looked up once per row.
const std::vector<const FieldDescriptor*>& FieldsOf(const Row& row) {
  static const auto* const kFields = [] {
    auto* all = new std::vector<std::vector<const FieldDescriptor*>>(AttributeTable().size());
    for (size_t i = 0; i < AttributeTable().size(); ++i) {
      if (AttributeTable()[i].path.empty()) continue;
      const google::protobuf::Descriptor* message = Proto::descriptor();
      for (const absl::string_view name : absl::StrSplit(AttributeTable()[i].path, '.')) {
        const FieldDescriptor* field = message->FindFieldByName(std::string(name));
        TOROID_CHECK(field != nullptr, AttributeTable()[i].path);
        (*all)[i].push_back(field);
        message = field->message_type();
      }
    }
    return all;
  }();
  return (*kFields)[&row - AttributeTable().data()];
}

Message* MutableParent(const Row& row, Message* message) {
  const auto& fields = FieldsOf(row);
  for (size_t i = 0; i + 1 < fields.size(); ++i) {
    message = message->GetReflection()->MutableMessage(message, fields[i]);
  }
  return message;
}

const Message& Parent(const Row& row, const Message& message) {
  const auto& fields = FieldsOf(row);
  const Message* parent = &message;
  for (size_t i = 0; i + 1 < fields.size(); ++i)
    parent = &parent->GetReflection()->GetMessage(*parent, fields[i]);
  return *parent;
}

bool IsSet(const Message& message, const FieldDescriptor* field) {
  return field->is_repeated() ? message.GetReflection()->FieldSize(message, field) > 0
                              : message.GetReflection()->HasField(message, field);
}

absl::Status ParseField(const Row& row, TextScanner* scanner, Proto* attrs) {
  Message* message = MutableParent(row, attrs);
  const FieldDescriptor* field = FieldsOf(row).back();
  const google::protobuf::Reflection* reflection = message->GetReflection();
  switch (row.form) {
    case Form::kInt: {
      const size_t begin = scanner->Position();
      ASSIGN_OR_RETURN(const int64_t value, scanner->Integer());
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
        reflection->SetInt64(message, field, value);
      } else if (value != static_cast<int32_t>(value)) {
        return scanner->ErrorAt(begin, "integer out of range");
      } else {
        reflection->SetInt32(message, field, static_cast<int32_t>(value));
      }
      return absl::OkStatus();
    }
    case Form::kOneInt: {
      ASSIGN_OR_RETURN(const int64_t value, scanner->Integer());
      reflection->AddInt64(message, field, value);
      return absl::OkStatus();
    }
    case Form::kBool: {
      ASSIGN_OR_RETURN(const bool value, scanner->Boolean());
      reflection->SetBool(message, field, value);
      return absl::OkStatus();
    }
    case Form::kFloat: {
      ASSIGN_OR_RETURN(const double value, scanner->Decimal());
      reflection->SetFloat(message, field, static_cast<float>(value));
      return absl::OkStatus();
    }
    case Form::kIntList: {
      std::vector<int64_t> values;
      if (scanner->Peek() == '{') {
        ASSIGN_OR_RETURN(values, scanner->IntegerList());
      } else {  // A single value, as in older texts: fft_length=8.
        ASSIGN_OR_RETURN(const int64_t value, scanner->Integer());
        values.push_back(value);
      }
      for (const int64_t value : values) reflection->AddInt64(message, field, value);
      return absl::OkStatus();
    }
    case Form::kBoolList:
      return scanner->List("{", "}", [&]() -> absl::Status {
        ASSIGN_OR_RETURN(const bool value, scanner->Boolean());
        reflection->AddBool(message, field, value);
        return absl::OkStatus();
      });
    case Form::kWord: {
      ASSIGN_OR_RETURN(const absl::string_view word, scanner->Word("a word"));
      reflection->SetString(message, field, std::string(word));
      return absl::OkStatus();
    }
    case Form::kQuoted: {
      ASSIGN_OR_RETURN(std::string value, scanner->String());
      reflection->SetString(message, field, std::move(value));
      return absl::OkStatus();
    }
    default: {
      ASSIGN_OR_RETURN(const int value, ParseEnumerator(scanner, *field->enum_type(), /*prefix=*/"",
                                                        row.form == Form::kLowerEnum));
      reflection->SetEnumValue(message, field, value);
      return absl::OkStatus();
    }
  }
}

std::string PrintField(const Row& row, const Proto& attrs) {
  const Message& message = Parent(row, attrs);
  const FieldDescriptor* field = FieldsOf(row).back();
  const google::protobuf::Reflection* reflection = message.GetReflection();
  switch (row.form) {
    case Form::kInt:
      return field->cpp_type() == FieldDescriptor::CPPTYPE_INT64
                 ? absl::StrCat(reflection->GetInt64(message, field))
                 : absl::StrCat(reflection->GetInt32(message, field));
    case Form::kOneInt:
      return absl::StrCat(reflection->GetRepeatedInt64(message, field, 0));
    case Form::kBool:
      return reflection->GetBool(message, field) ? "true" : "false";
    case Form::kFloat: {
      char buffer[40];
      return std::string(
          buffer, std::to_chars(buffer, buffer + sizeof(buffer), reflection->GetFloat(message, field)).ptr);
    }
    case Form::kIntList: {
      std::vector<int64_t> values;
      for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
        values.push_back(reflection->GetRepeatedInt64(message, field, i));
      }
      return absl::StrCat("{", absl::StrJoin(values, ","), "}");
    }
    case Form::kBoolList: {
      std::vector<absl::string_view> values;
      for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
        values.push_back(reflection->GetRepeatedBool(message, field, i) ? "true" : "false");
      }
      return absl::StrCat("{", absl::StrJoin(values, ","), "}");
    }
    case Form::kWord:
      return reflection->GetString(message, field);
    case Form::kQuoted:
      return Quoted(reflection->GetString(message, field));
    default:
      return EnumeratorText(*field->enum_type(), /*prefix=*/"", row.form == Form::kLowerEnum,
                            reflection->GetEnumValue(message, field));
  }
}

const Row* FindRow(Opcode opcode, absl::string_view key) {
  const uint64_t attributes = opcode == Opcode::kUnknown ? kAnyOpcode : OpcodeAttributes(opcode);
  for (const Row& row : AttributeTable()) {
    if (row.key == key && ((row.attributes & attributes) != 0 || row.attributes == kAnyOpcode)) return &row;
  }
  return nullptr;
}

}  // namespace

// ---- Reading ----------------------------------------------------------------------------------------------

AttributeParser::AttributeParser(Opcode opcode, TextScanner* scanner, xla::HloInstructionProto* attrs,
                                 std::function<absl::StatusOr<Computation*>()> read_computation)
    : opcode_(opcode), scanner_(scanner), attrs_(attrs), read_computation_(std::move(read_computation)) {}

absl::Status AttributeParser::SetCalled(int slot) {
  const size_t begin = scanner_->Position();
  ASSIGN_OR_RETURN(Computation * computation, read_computation_());
  if (slot >= static_cast<int>(called_.size())) called_.resize(slot + 1, nullptr);
  if (called_[slot] != nullptr) return scanner_->ErrorAt(begin, "the computation is given twice");
  called_[slot] = computation;
  return absl::OkStatus();
}

absl::StatusOr<bool> AttributeParser::Parse(absl::string_view key) {
  const Row* row = FindRow(opcode_, key);
  if (row == nullptr) return false;
  if (std::find(seen_.begin(), seen_.end(), row) != seen_.end()) {
    return scanner_->Error(absl::StrCat("attribute ", key, " occurs twice; before this"));
  }
  seen_.push_back(row);
  switch (row->form) {
    case Form::kIgnored:
      RETURN_IF_ERROR(scanner_->SkipValue());
      break;
    case Form::kCallee:
      RETURN_IF_ERROR(SetCalled(row->slot));
      break;
    case Form::kCallees:
      RETURN_IF_ERROR(
          scanner_->List("{", "}", [this] { return SetCalled(static_cast<int>(called_.size())); }));
      break;
    case Form::kSpecial:
      RETURN_IF_ERROR(row->parse(scanner_, attrs_));
      break;
    default:
      RETURN_IF_ERROR(ParseField(*row, scanner_, attrs_));
  }
  return true;
}

absl::Status AttributeParser::Finish() {
  const uint64_t attributes = OpcodeAttributes(opcode_);
  const auto seen = [&](const Row& row) {
    return std::find(seen_.begin(), seen_.end(), &row) != seen_.end();
  };
  for (const Row& row : AttributeTable()) {
    if ((row.attributes & attributes) == 0 || row.attributes == kAnyOpcode || seen(row)) continue;
    const bool optional =
        row.key == "dimensions" && (opcode_ == Opcode::kBroadcast || opcode_ == Opcode::kMap);
    if (row.required && !optional) {
      return scanner_->Error(
          absl::StrCat(OpcodeName(opcode_), " lacks the attribute ", row.key, " before this"));
    }
    if (row.key == "largest") attrs_->set_largest(true);
    if (row.key == "api_version") attrs_->set_custom_call_api_version(xla::API_VERSION_ORIGINAL);
  }
  if (attributes & kGroupCounts) {
    if (attrs_->feature_group_count() == 0) attrs_->set_feature_group_count(1);
    if (attrs_->batch_group_count() == 0) attrs_->set_batch_group_count(1);
  }
  if (std::find(called_.begin(), called_.end(), nullptr) != called_.end() ||
      (opcode_ == Opcode::kConditional && called_.empty())) {
    return scanner_->Error(absl::StrCat(OpcodeName(opcode_), " lacks a computation before this"));
  }
  return absl::OkStatus();
}

// ---- Printing ---------------------------------------------------------------------------------------------

namespace {

bool HasPredicateIndex(const Instruction& conditional) {
  return conditional.called().size() == 2 && conditional.num_operands() > 0 &&
         conditional.operand(0)->shape().element_type() == xla::PRED;
}

std::optional<std::string> CalleeText(const Row& row, const Instruction& instruction,
                                      const ComputationName& name_of) {
  const auto called = instruction.called();
  if ((row.attributes & kBranches) != 0 && HasPredicateIndex(instruction) != (row.form == Form::kCallee)) {
    return std::nullopt;
  }
  if ((row.attributes & kAsyncOptions) != 0 && instruction.opcode() != Opcode::kAsyncStart) {
    return std::nullopt;  // Inherited from the async-start.
  }
  if (row.form == Form::kCallees) {
    return absl::StrCat("{",
                        absl::StrJoin(called, ", ",
                                      [&](std::string* s, const Computation* computation) {
                                        s->append(name_of(*computation));
                                      }),
                        "}");
  }
  if (row.slot >= static_cast<int>(called.size())) return std::nullopt;
  return name_of(*called[row.slot]);
}

std::optional<std::string> AttributeValue(const Row& row, bool always, const Instruction& instruction,
                                          const ComputationName& name_of) {
  if (row.shown == AttributeShown::kNever || row.form == Form::kIgnored) return std::nullopt;
  if (row.form == Form::kCallee || row.form == Form::kCallees) {
    if (row.shown == AttributeShown::kIfSet && instruction.called().empty()) return std::nullopt;
    return CalleeText(row, instruction, name_of);
  }
  if (row.print != nullptr) return row.print(instruction);
  const Message& parent = Parent(row, instruction.attrs());
  if (!IsSet(parent, FieldsOf(row).back()) && (!always || row.form == Form::kOneInt)) return std::nullopt;
  if (row.key == "api_version" &&
      instruction.attrs().custom_call_api_version() == xla::API_VERSION_ORIGINAL) {
    return std::nullopt;
  }
  const std::string value = PrintField(row, instruction.attrs());
  if (value.empty()) return std::nullopt;
  return value;
}

// Visits the attributes of an opcode that the table lacks: all that are set, each field and key once.
void VisitUnknownAttributes(const Instruction& instruction, const ComputationName& name_of,
                            AttributeVisitor visit) {
  absl::flat_hash_set<absl::string_view> keys, paths;
  for (const Row& row : AttributeTable()) {
    const bool callee =
        row.form == Form::kCallee || (row.form == Form::kCallees && row.key != "called_computations");
    if (callee || row.key == "domain") continue;
    const std::optional<std::string> value = AttributeValue(row, /*always=*/false, instruction, name_of);
    if (!value || value->empty() || (row.form == Form::kSpecial && *value == "{}")) continue;
    if (!row.path.empty() && !paths.insert(row.path).second) continue;
    if (keys.insert(row.key).second) visit(row.key, *value);
  }
}

}  // namespace

void VisitAttributes(const Instruction& instruction, const ComputationName& name_of, AttributeVisitor visit) {
  if (instruction.opcode() == Opcode::kUnknown) return VisitUnknownAttributes(instruction, name_of, visit);
  const uint64_t attributes = OpcodeAttributes(instruction.opcode());
  for (const Row& row : AttributeTable()) {
    if ((row.attributes & attributes) == 0 || row.attributes == kAnyOpcode) continue;
    const std::optional<std::string> value =
        AttributeValue(row, row.shown == AttributeShown::kAlways, instruction, name_of);
    if (value) visit(row.key, *value);
  }
}

void AppendAttributes(const Instruction& instruction, const ComputationName& name_of, std::string* out) {
  VisitAttributes(instruction, name_of, [&](absl::string_view key, const std::string& value) {
    absl::StrAppend(out, ", ", key, "=", value);
  });
}

}  // namespace toroid
