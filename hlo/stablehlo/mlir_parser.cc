#include "hlo/stablehlo/mlir_parser.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

bool InWord(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$';
}

// Names of values also may hold a minus sign.
bool InValueName(char c) { return InWord(c) || c == '-'; }

}  // namespace

const MlirAttribute* MlirAttribute::Find(absl::string_view key) const {
  for (const Field& field : fields) {
    if (field.first == key) return &field.second;
  }
  return nullptr;
}

void MlirAttribute::Set(absl::string_view key, MlirAttribute value) {
  kind = Kind::kDictionary;
  for (Field& field : fields) {
    if (field.first == key) {
      field.second = std::move(value);
      return;
    }
  }
  fields.emplace_back(key, std::move(value));
}

// ---- Names

absl::string_view MlirParser::Word() {
  const char c = scanner_.Peek();
  if (!absl::ascii_isalpha(static_cast<unsigned char>(c)) && c != '_') return "";
  return scanner_.Run(InWord);
}

absl::StatusOr<absl::string_view> MlirParser::ValueName() {
  RETURN_IF_ERROR(scanner_.Expect("%"));
  const size_t begin = scanner_.Position();
  const absl::string_view name = scanner_.Run(InValueName);
  if (name.empty()) return scanner_.ErrorAt(begin, "expected the name of a value");
  return name;
}

absl::StatusOr<std::string> MlirParser::SymbolName() {
  RETURN_IF_ERROR(scanner_.Expect("@"));
  if (scanner_.Peek() == '"') return QuotedString();
  const size_t begin = scanner_.Position();
  const absl::string_view name = scanner_.Run(InValueName);
  if (name.empty()) return scanner_.ErrorAt(begin, "expected a name behind @");
  return std::string(name);
}

absl::StatusOr<std::string> MlirParser::QuotedString() {
  const size_t begin = scanner_.Position();
  RETURN_IF_ERROR(scanner_.Expect("\""));
  std::string value;
  for (size_t at = begin + 1; at < text_.size(); ++at) {
    if (text_[at] == '"') {
      scanner_.Reset(at + 1);
      return value;
    }
    if (text_[at] != '\\') {
      value.push_back(text_[at]);
      continue;
    }
    const absl::string_view digits = text_.substr(at + 1, 2);
    uint32_t byte = 0;
    if (digits.empty()) break;
    if (digits[0] == 'n' || digits[0] == 't' || digits[0] == '"' || digits[0] == '\\') {
      value.push_back(digits[0] == 'n' ? '\n' : digits[0] == 't' ? '\t' : digits[0]);
      ++at;
    } else if (digits.size() == 2 && absl::SimpleHexAtoi(digits, &byte)) {
      value.push_back(static_cast<char>(byte));
      at += 2;
    } else {
      return scanner_.ErrorAt(at, "an escape that strings do not have");
    }
  }
  return scanner_.ErrorAt(begin, "the string does not end");
}

absl::Status MlirParser::Define(absl::string_view name, Named values, size_t position) {
  for (const Scope& scope : scopes_) {
    if (scope.contains(name)) return scanner_.ErrorAt(position, absl::StrCat("%", name, " is defined twice"));
  }
  scopes_.back().emplace(name, values);
  return absl::OkStatus();
}

absl::StatusOr<const MlirValue*> MlirParser::ParseOperand() {
  const size_t begin = scanner_.Position();
  ASSIGN_OR_RETURN(const absl::string_view name, ValueName());
  int64_t number = 0;
  if (scanner_.ConsumeAdjacent("#")) {
    ASSIGN_OR_RETURN(number, scanner_.Integer());
  }
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto it = scope->find(name);
    if (it == scope->end()) continue;
    if (number < 0 || number >= it->second.count) {
      return scanner_.ErrorAt(begin,
                              absl::StrCat("%", name, " has ", it->second.count, " values, not #", number));
    }
    return it->second.first + number;
  }
  return scanner_.ErrorAt(begin, absl::StrCat("%", name, " is not defined above"));
}

absl::Status MlirParser::ParseOperands(MlirOperation* operation) {
  while (scanner_.Peek() == '%') {
    ASSIGN_OR_RETURN(const MlirValue* operand, ParseOperand());
    operation->operands.push_back(operand);
    const size_t comma = scanner_.Position();
    if (!scanner_.Consume(",")) break;
    if (scanner_.Peek() != '%') {
      scanner_.Reset(comma);
      break;
    }
  }
  return absl::OkStatus();
}

absl::Status MlirParser::ParseOperandsInParentheses(MlirOperation* operation) {
  return scanner_.List("(", ")", [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const MlirValue* operand, ParseOperand());
    operation->operands.push_back(operand);
    return absl::OkStatus();
  });
}

absl::Status MlirParser::ErrorIn(const MlirOperation& operation, absl::string_view what) const {
  return scanner_.ErrorAt(operation.position, absl::StrCat(operation.name, ": ", what));
}

// ---- Operations

absl::Status MlirParser::ParseModule() {
  auto module = std::make_unique<MlirOperation>();
  module->name = "builtin.module";
  MlirRegion& region = *module->regions.emplace_back(std::make_unique<MlirRegion>());
  while (!scanner_.AtEnd()) {
    if (scanner_.Peek() == '#' || scanner_.Peek() == '!') {
      RETURN_IF_ERROR(ParseAliasDefinition());
    } else if (scanner_.Consume("{-#")) {
      // Data of dense_resource attributes: whoever needs it is refused.
      const size_t end = text_.find("#-}", scanner_.Position());
      scanner_.Reset(end == absl::string_view::npos ? text_.size() : end + 3);
    } else {
      ASSIGN_OR_RETURN(std::unique_ptr<MlirOperation> operation, ParseOperation());
      region.operations.push_back(std::move(operation));
    }
  }
  // Functions may stand without a module around them.
  const bool single = region.operations.size() == 1 && region.operations[0]->name == "builtin.module";
  module_.operation = single ? std::move(region.operations[0]) : std::move(module);
  return absl::OkStatus();
}

absl::Status MlirParser::ParseAliasDefinition() {
  const size_t begin = scanner_.Position();
  const bool is_type = scanner_.Consume("!");
  if (!is_type) RETURN_IF_ERROR(scanner_.Expect("#"));
  const absl::string_view name = Word();
  if (name.empty()) return scanner_.Error("expected the name of an alias");
  RETURN_IF_ERROR(scanner_.Expect("="));
  if (is_type) {
    ASSIGN_OR_RETURN(MlirType type, ParseType());
    if (type.kind == MlirType::Kind::kTuple || type.kind == MlirType::Kind::kFunction) {
      return scanner_.ErrorAt(begin,
                              "an alias of a tuple or function type is not read; print without aliases");
    }
    type_aliases_[name] = std::move(type);
    return absl::OkStatus();
  }
  if (absl::StartsWith(scanner_.Rest(), "loc(")) {
    ASSIGN_OR_RETURN(const MlirLocation* location, ParseLocation());
    MlirLocation*& alias = location_aliases_[name];
    if (alias == nullptr) alias = NewLocation(MlirLocation::Kind::kAlias);
    alias->children.assign(1, location);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(MlirAttribute attribute, ParseAttribute());
  if (!attribute.elements.empty() || !attribute.fields.empty()) {
    return scanner_.ErrorAt(begin, "an alias of a list is not read; print without aliases");
  }
  attribute_aliases_[name] = std::move(attribute);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<MlirParser::ResultName>> MlirParser::ParseResultNames() {
  std::vector<ResultName> names;
  if (scanner_.Peek() != '%') return names;
  do {
    ResultName result;
    result.position = scanner_.Position();
    ASSIGN_OR_RETURN(result.name, ValueName());
    if (scanner_.ConsumeAdjacent(":")) {
      ASSIGN_OR_RETURN(result.count, scanner_.Integer());
      if (result.count < 1) return scanner_.Error("expected a number of results");
    }
    names.push_back(result);
  } while (scanner_.Consume(","));
  RETURN_IF_ERROR(scanner_.Expect("="));
  return names;
}

absl::Status MlirParser::DefineResults(const std::vector<ResultName>& names, const MlirOperation& operation) {
  const int64_t results = static_cast<int64_t>(operation.results.size());
  int64_t next = 0;
  for (const ResultName& name : names) {
    if (name.count > results - next) {
      return scanner_.ErrorAt(name.position, absl::StrCat(operation.name, " has ", results, " results"));
    }
    RETURN_IF_ERROR(Define(name.name, {operation.results.data() + next, name.count}, name.position));
    next += name.count;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<MlirOperation>> MlirParser::ParseOperation() {
  const Nesting nesting(&scanner_);
  RETURN_IF_ERROR(nesting.status());
  auto operation = std::make_unique<MlirOperation>();
  ASSIGN_OR_RETURN(const std::vector<ResultName> names, ParseResultNames());
  operation->position = scanner_.Position();
  operation->attributes.kind = MlirAttribute::Kind::kDictionary;
  if (scanner_.Peek() == '"') {
    ASSIGN_OR_RETURN(operation->name, QuotedString());
    RETURN_IF_ERROR(ParseGeneric(operation.get()));
  } else {
    const absl::string_view word = Word();
    if (word.empty()) return scanner_.Error("expected an operation");
    operation->name = std::string(word);
    RETURN_IF_ERROR(ParsePretty(operation.get()));
  }
  ASSIGN_OR_RETURN(operation->location, ParseOptionalLocation());
  for (size_t i = 0; i < operation->results.size(); ++i) {
    operation->results[i].owner = operation.get();
    operation->results[i].number = static_cast<int>(i);
    operation->results[i].location = operation->location;
  }
  RETURN_IF_ERROR(DefineResults(names, *operation));
  return operation;
}

absl::Status MlirParser::ParseGeneric(MlirOperation* operation) {
  RETURN_IF_ERROR(ParseOperandsInParentheses(operation));
  if (scanner_.Peek() == '[') return scanner_.Error("blocks that jump to other blocks are not read");
  if (scanner_.Consume("<")) {
    RETURN_IF_ERROR(ParseOptionalDictionary(operation));
    RETURN_IF_ERROR(scanner_.Expect(">"));
  }
  if (scanner_.Peek() == '(') {
    // A function's values are not those around it.
    std::vector<Scope> outer;
    const bool isolated = operation->name == "func.func" || operation->name == "builtin.module";
    if (isolated) outer.swap(scopes_);
    RETURN_IF_ERROR(scanner_.List("(", ")", [&]() -> absl::Status {
      return ParseRegion(operation->regions.emplace_back(std::make_unique<MlirRegion>()).get());
    }));
    if (isolated) outer.swap(scopes_);
  }
  RETURN_IF_ERROR(ParseOptionalDictionary(operation));
  RETURN_IF_ERROR(scanner_.Expect(":"));
  ASSIGN_OR_RETURN(const MlirType type, ParseFunctionType());
  return SetFunctionType(operation, type);
}

absl::Status MlirParser::ParseRegion(MlirRegion* region) {
  RETURN_IF_ERROR(scanner_.Expect("{"));
  std::vector<absl::string_view> names;
  if (scanner_.Consume("^")) {
    if (Word().empty()) return scanner_.Error("expected the name of a block");
    if (scanner_.Peek() == '(') {
      RETURN_IF_ERROR(scanner_.List("(", ")", [&] { return ParseArgument(region, &names, nullptr); }));
    }
    RETURN_IF_ERROR(scanner_.Expect(":"));
  }
  return ParseRegionBody(region, names);
}

absl::Status MlirParser::ParseRegionBody(MlirRegion* region, const std::vector<absl::string_view>& names) {
  scopes_.emplace_back();
  for (size_t i = 0; i < region->arguments.size(); ++i) {
    region->arguments[i].number = static_cast<int>(i);
    if (i < names.size()) RETURN_IF_ERROR(Define(names[i], {&region->arguments[i], 1}, scanner_.Position()));
  }
  while (!scanner_.Consume("}")) {
    if (scanner_.Peek() == '^') return scanner_.Error("a region of several blocks is not read");
    if (scanner_.Peek() == '#' || scanner_.Peek() == '!') {
      RETURN_IF_ERROR(ParseAliasDefinition());
      continue;
    }
    ASSIGN_OR_RETURN(std::unique_ptr<MlirOperation> operation, ParseOperation());
    region->operations.push_back(std::move(operation));
  }
  scopes_.pop_back();
  return absl::OkStatus();
}

absl::Status MlirParser::ParseArgument(MlirRegion* region, std::vector<absl::string_view>* names,
                                       MlirAttribute* dictionary) {
  ASSIGN_OR_RETURN(const absl::string_view name, ValueName());
  names->push_back(name);
  MlirValue& argument = region->arguments.emplace_back();
  RETURN_IF_ERROR(scanner_.Expect(":"));
  ASSIGN_OR_RETURN(argument.type, ParseType());
  if (dictionary != nullptr) {
    dictionary->kind = MlirAttribute::Kind::kDictionary;
    if (scanner_.Peek() == '{') {
      ASSIGN_OR_RETURN(*dictionary, ParseDictionary());
    }
  }
  ASSIGN_OR_RETURN(argument.location, ParseOptionalLocation());
  return absl::OkStatus();
}

absl::Status MlirParser::SetFunctionType(MlirOperation* operation, const MlirType& type) {
  if (type.inputs.size() != operation->operands.size()) {
    return ErrorIn(*operation, absl::StrCat("it has ", operation->operands.size(), " operands and types of ",
                                            type.inputs.size()));
  }
  return SetResults(operation, type.results);
}

absl::Status MlirParser::SetResults(MlirOperation* operation, const std::vector<MlirType>& types) {
  operation->results.resize(types.size());
  for (size_t i = 0; i < types.size(); ++i) operation->results[i].type = types[i];
  return absl::OkStatus();
}

}  // namespace toroid
