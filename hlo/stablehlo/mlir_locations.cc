#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/stablehlo/mlir_parser.h"

namespace toroid {

MlirLocation* MlirParser::NewLocation(MlirLocation::Kind kind) {
  MlirLocation& location = module_.locations.emplace_back();
  location.kind = kind;
  return &location;
}

absl::StatusOr<const MlirLocation*> MlirParser::ParseOptionalLocation() {
  if (!absl::StartsWith(scanner_.Rest(), "loc(")) return nullptr;
  return ParseLocation();
}

absl::StatusOr<const MlirLocation*> MlirParser::ParseLocation() {
  RETURN_IF_ERROR(scanner_.Expect("loc"));
  RETURN_IF_ERROR(scanner_.Expect("("));
  ASSIGN_OR_RETURN(const MlirLocation* location, ParseLocationBody());
  RETURN_IF_ERROR(scanner_.Expect(")"));
  return location;
}

// Aliases may be defined behind their use.
absl::StatusOr<const MlirLocation*> MlirParser::ParseLocationAlias() {
  const absl::string_view name = Word();
  if (name.empty()) return scanner_.Error("expected the name of a location");
  MlirLocation*& alias = location_aliases_[name];
  if (alias == nullptr) alias = NewLocation(MlirLocation::Kind::kAlias);
  return alias;
}

absl::StatusOr<const MlirLocation*> MlirParser::ParseLocationBody() {
  const Nesting nesting(&scanner_);
  RETURN_IF_ERROR(nesting.status());
  if (scanner_.Consume("#")) return ParseLocationAlias();
  if (scanner_.Peek() == '"') return ParseFileOrName();
  const size_t begin = scanner_.Position();
  const absl::string_view word = Word();
  if (word == "unknown") return NewLocation(MlirLocation::Kind::kUnknown);
  if (word == "loc") {
    scanner_.Reset(begin);
    return ParseLocation();
  }
  if (word == "callsite") {
    MlirLocation* location = NewLocation(MlirLocation::Kind::kCallSite);
    RETURN_IF_ERROR(scanner_.Expect("("));
    ASSIGN_OR_RETURN(const MlirLocation* callee, ParseLocationBody());
    if (Word() != "at") return scanner_.Error("expected 'at'");
    ASSIGN_OR_RETURN(const MlirLocation* caller, ParseLocationBody());
    location->children = {callee, caller};
    RETURN_IF_ERROR(scanner_.Expect(")"));
    return location;
  }
  if (word == "fused") {
    MlirLocation* location = NewLocation(MlirLocation::Kind::kFused);
    if (scanner_.Peek() == '<') RETURN_IF_ERROR(ParseAngleBody().status());
    RETURN_IF_ERROR(scanner_.List("[", "]", [&]() -> absl::Status {
      ASSIGN_OR_RETURN(const MlirLocation* child, ParseLocationBody());
      location->children.push_back(child);
      return absl::OkStatus();
    }));
    return location;
  }
  return scanner_.ErrorAt(begin, "expected a location");
}

// "name", "name"(location), "file":3:5, "file":3:5 to :9, "file":3:5 to 4:9
absl::StatusOr<const MlirLocation*> MlirParser::ParseFileOrName() {
  MlirLocation* location = NewLocation(MlirLocation::Kind::kName);
  ASSIGN_OR_RETURN(location->name, QuotedString());
  if (scanner_.Consume("(")) {
    ASSIGN_OR_RETURN(const MlirLocation* child, ParseLocationBody());
    location->children.push_back(child);
    RETURN_IF_ERROR(scanner_.Expect(")"));
    return location;
  }
  if (!scanner_.Consume(":")) return location;
  const auto number = [&](int* out) -> absl::Status {
    ASSIGN_OR_RETURN(const int64_t value, scanner_.Integer());
    if (value < 0 || value > INT32_MAX) return scanner_.Error("a line or column out of range");
    *out = static_cast<int>(value);
    return absl::OkStatus();
  };
  location->kind = MlirLocation::Kind::kFile;
  RETURN_IF_ERROR(number(&location->line));
  if (scanner_.Consume(":")) RETURN_IF_ERROR(number(&location->column));
  location->end_line = location->line;
  location->end_column = location->column;
  if (!scanner_.ConsumeWord("to")) return location;
  if (scanner_.Peek() != ':') RETURN_IF_ERROR(number(&location->end_line));
  RETURN_IF_ERROR(scanner_.Expect(":"));
  RETURN_IF_ERROR(number(&location->end_column));
  return location;
}

}  // namespace toroid
