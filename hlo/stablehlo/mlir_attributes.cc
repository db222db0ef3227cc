#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/stablehlo/mlir_parser.h"

namespace toroid {
namespace {

using Kind = MlirAttribute::Kind;

bool InNumber(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '+' || c == '-';
}

}  // namespace

absl::StatusOr<MlirAttribute> MlirParser::ParseFields() {
  MlirAttribute dictionary;
  dictionary.kind = Kind::kDictionary;
  while (!scanner_.AtEnd()) {
    RETURN_IF_ERROR(ParseField(&dictionary));
    if (!scanner_.Consume(",") && !scanner_.AtEnd()) return scanner_.Error("expected ','");
  }
  return dictionary;
}

absl::StatusOr<MlirAttribute> MlirParser::ParseAttribute() {
  const Nesting nesting(&scanner_);
  RETURN_IF_ERROR(nesting.status());
  const size_t begin = scanner_.Position();
  ASSIGN_OR_RETURN(MlirAttribute attribute, ParseAttributeBody());
  // The end of the last token, without the space behind it.
  attribute.text = absl::StripTrailingAsciiWhitespace(text_.substr(begin, scanner_.Position() - begin));
  return attribute;
}

absl::StatusOr<MlirAttribute> MlirParser::ParseAttributeBody() {
  MlirAttribute attribute;
  const size_t begin = scanner_.Position();
  const char c = scanner_.Peek();
  switch (c) {
    case '"': {
      attribute.kind = Kind::kString;
      ASSIGN_OR_RETURN(attribute.string, QuotedString());
      RETURN_IF_ERROR(ParseTypeSuffix());
      return attribute;
    }
    case '@': {
      attribute.kind = Kind::kSymbol;
      ASSIGN_OR_RETURN(attribute.string, SymbolName());
      while (scanner_.Consume("::")) RETURN_IF_ERROR(SymbolName().status());
      return attribute;
    }
    case '[':
      attribute.kind = Kind::kArray;
      RETURN_IF_ERROR(scanner_.List("[", "]", [&]() -> absl::Status {
        ASSIGN_OR_RETURN(MlirAttribute element, ParseAttribute());
        attribute.elements.push_back(std::move(element));
        return absl::OkStatus();
      }));
      return attribute;
    case '{':
      return ParseDictionary();
    case '#':
      return ParseHash();
    case '<': {
      attribute.kind = Kind::kDialect;
      ASSIGN_OR_RETURN(attribute.body, ParseAngleBody());
      return attribute;
    }
    default:
      break;
  }
  if (c == '-' || absl::ascii_isdigit(static_cast<unsigned char>(c))) return ParseNumber();
  const absl::string_view word = Word();
  if (word == "unit") return attribute;
  if (word == "true" || word == "false") {
    attribute.kind = Kind::kBool;
    attribute.integer = word == "true";
    RETURN_IF_ERROR(ParseTypeSuffix());
    return attribute;
  }
  if (word == "dense" || word == "dense_resource" || word == "sparse") return ParseDense(word);
  if (word == "array" && scanner_.Peek() == '<') return ParseDenseArray();
  if (word == "loc" && scanner_.Peek() == '(') {
    scanner_.Reset(begin);
    RETURN_IF_ERROR(ParseLocation().status());
    return attribute;
  }
  if (!word.empty() && scanner_.Peek() == '<' && word != "tensor" && word != "tuple" && word != "complex") {
    // affine_map<..>, strided<..>: nothing here needs them.
    attribute.kind = Kind::kDialect;
    ASSIGN_OR_RETURN(attribute.body, ParseAngleBody());
    return attribute;
  }
  // Not by trying: the error of an attempt counts the lines up to here.
  if (!word.empty() && !IsTypeName(word)) return WordAttribute(word);
  scanner_.Reset(begin);
  attribute.kind = Kind::kType;
  ASSIGN_OR_RETURN(attribute.type, ParseType());
  return attribute;
}

absl::Status MlirParser::ParseTypeSuffix() {
  if (!scanner_.Consume(":")) return absl::OkStatus();
  return ParseType().status();
}

absl::StatusOr<MlirAttribute> MlirParser::ParseNumber() {
  MlirAttribute attribute;
  const size_t begin = scanner_.Position();
  attribute.body = scanner_.Run(InNumber);
  uint64_t bits = 0;
  const bool hex = absl::StartsWith(attribute.body, "0x");
  if (absl::SimpleAtoi(attribute.body, &attribute.integer)) {
    attribute.kind = Kind::kInteger;
  } else if (absl::SimpleAtoi(attribute.body, &bits) || (hex && absl::SimpleHexAtoi(attribute.body, &bits))) {
    attribute.kind = Kind::kInteger;
    attribute.integer = static_cast<int64_t>(bits);
  } else {
    double value;
    if (!absl::SimpleAtod(attribute.body, &value)) return scanner_.ErrorAt(begin, "expected a number");
    attribute.kind = Kind::kFloat;
  }
  if (scanner_.Consume(":")) {
    ASSIGN_OR_RETURN(attribute.type, ParseType());
    // 0x7FC00000 : f32
    if (attribute.type.kind == MlirType::Kind::kScalar && IsFloat(attribute.type.shape.element_type())) {
      attribute.kind = Kind::kFloat;
    }
  }
  return attribute;
}

absl::StatusOr<MlirAttribute> MlirParser::ParseDense(absl::string_view word) {
  const size_t begin = scanner_.Position();
  if (word != "dense") {
    return scanner_.ErrorAt(begin, absl::StrCat("values as ", word,
                                                "<..> are not read; print the module with its constants "
                                                "(large_elements_limit=None)"));
  }
  MlirAttribute attribute;
  attribute.kind = Kind::kDense;
  ASSIGN_OR_RETURN(attribute.body, ParseAngleBody());
  RETURN_IF_ERROR(scanner_.Expect(":"));
  ASSIGN_OR_RETURN(attribute.type, ParseType());
  if (attribute.type.kind != MlirType::Kind::kTensor) return scanner_.ErrorAt(begin, "expected a tensor");
  return attribute;
}

// array<i64: 1, 2>, array<i1: true>, array<i64>
absl::StatusOr<MlirAttribute> MlirParser::ParseDenseArray() {
  MlirAttribute attribute;
  attribute.kind = Kind::kArray;
  RETURN_IF_ERROR(scanner_.Expect("<"));
  RETURN_IF_ERROR(ParseElementType().status());
  if (scanner_.Consume(">")) return attribute;
  RETURN_IF_ERROR(scanner_.List(":", ">", [&]() -> absl::Status {
    ASSIGN_OR_RETURN(MlirAttribute element, ParseAttribute());
    attribute.elements.push_back(std::move(element));
    return absl::OkStatus();
  }));
  return attribute;
}

// #stablehlo.dot<..>, #stablehlo<precision HIGH>, #sdy.sharding<..>, an alias.
absl::StatusOr<MlirAttribute> MlirParser::ParseHash() {
  const size_t begin = scanner_.Position();
  RETURN_IF_ERROR(scanner_.Expect("#"));
  const absl::string_view name = Word();
  if (name.empty()) return scanner_.ErrorAt(begin, "expected the name of an attribute");
  MlirAttribute attribute;
  attribute.kind = Kind::kDialect;
  if (scanner_.Peek() == '<') {
    ASSIGN_OR_RETURN(attribute.body, ParseAngleBody());
    return attribute;
  }
  const auto alias = attribute_aliases_.find(name);
  if (alias != attribute_aliases_.end()) return alias->second;
  // An attribute of a dialect without parameters.
  return attribute;
}

absl::StatusOr<MlirAttribute> MlirParser::ParseDictionary() {
  MlirAttribute dictionary;
  dictionary.kind = Kind::kDictionary;
  RETURN_IF_ERROR(scanner_.List("{", "}", [&] { return ParseField(&dictionary); }));
  return dictionary;
}

absl::Status MlirParser::ParseField(MlirAttribute* dictionary) {
  absl::string_view key;
  if (scanner_.Peek() == '"') {
    ASSIGN_OR_RETURN(std::string quoted, QuotedString());
    key = module_.texts.emplace_back(std::move(quoted));
  } else {
    key = Word();
    if (key.empty()) return scanner_.Error("expected the name of an attribute");
  }
  MlirAttribute value;
  if (scanner_.Consume("=")) {
    ASSIGN_OR_RETURN(value, ParseAttribute());
  }
  // Not Set: a long dictionary would take quadratic time.
  dictionary->fields.emplace_back(key, std::move(value));
  return absl::OkStatus();
}

absl::StatusOr<absl::string_view> MlirParser::ParseAngleBody() {
  const size_t begin = scanner_.Position();
  RETURN_IF_ERROR(scanner_.Expect("<"));
  int64_t depth = 1;
  for (size_t at = begin + 1; at < text_.size(); ++at) {
    const char c = text_[at];
    if (c == '"') {
      for (++at; at < text_.size() && text_[at] != '"'; ++at) at += text_[at] == '\\';
    } else if (c == '<') {
      ++depth;
    } else if (c == '>' && text_[at - 1] != '-' && --depth == 0) {
      scanner_.Reset(at + 1);
      return text_.substr(begin + 1, at - begin - 1);
    }
  }
  return scanner_.ErrorAt(begin, "this < has no > that closes it");
}

absl::Status MlirParser::ParseOptionalDictionary(MlirOperation* operation) {
  if (scanner_.Peek() != '{') return absl::OkStatus();
  return scanner_.List("{", "}", [&] { return ParseField(&operation->attributes); });
}

MlirAttribute MlirParser::WordAttribute(absl::string_view word) const {
  MlirAttribute attribute;
  attribute.kind = Kind::kDialect;
  attribute.text = attribute.body = word;
  return attribute;
}

MlirAttribute MlirParser::IntegersAttribute(std::vector<int64_t> values) const {
  MlirAttribute attribute;
  attribute.kind = Kind::kArray;
  for (const int64_t value : values) {
    MlirAttribute& element = attribute.elements.emplace_back();
    element.kind = Kind::kInteger;
    element.integer = value;
  }
  return attribute;
}

MlirAttribute MlirParser::SpelledAttribute(absl::string_view prefix, size_t begin, absl::string_view suffix) {
  const absl::string_view middle =
      absl::StripTrailingAsciiWhitespace(text_.substr(begin, scanner_.Position() - begin));
  MlirAttribute attribute;
  attribute.kind = Kind::kDialect;
  attribute.text = module_.texts.emplace_back(absl::StrCat(prefix, middle, suffix));
  return attribute;
}

}  // namespace toroid
