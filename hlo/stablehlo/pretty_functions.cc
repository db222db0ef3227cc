// Pretty forms of modules and functions.
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/stablehlo/mlir_parser.h"

namespace toroid {

// module @name attributes {..} {..}
absl::Status MlirParser::ParseModuleOp(MlirOperation* operation) {
  if (scanner_.Peek() == '@') {
    MlirAttribute name;
    name.kind = MlirAttribute::Kind::kString;
    ASSIGN_OR_RETURN(name.string, SymbolName());
    operation->attributes.Set("sym_name", std::move(name));
  }
  if (scanner_.ConsumeWord("attributes")) RETURN_IF_ERROR(ParseOptionalDictionary(operation));
  std::vector<Scope> outer;
  outer.swap(scopes_);
  RETURN_IF_ERROR(ParseRegion(operation->regions.emplace_back(std::make_unique<MlirRegion>()).get()));
  outer.swap(scopes_);
  return absl::OkStatus();
}

// public @name(%a: type {..}, ...) -> (type {..}, ...) attributes {..} {..}
absl::Status MlirParser::ParseFunc(MlirOperation* operation) {
  for (const absl::string_view visibility : {"public", "private", "nested"}) {
    if (!scanner_.ConsumeWord(visibility)) continue;
    MlirAttribute attribute;
    attribute.kind = MlirAttribute::Kind::kString;
    attribute.string = std::string(visibility);
    operation->attributes.Set("sym_visibility", std::move(attribute));
  }
  MlirAttribute name, arguments, results, function;
  name.kind = MlirAttribute::Kind::kString;
  arguments.kind = results.kind = MlirAttribute::Kind::kArray;
  function.kind = MlirAttribute::Kind::kType;
  function.type.kind = MlirType::Kind::kFunction;
  ASSIGN_OR_RETURN(name.string, SymbolName());
  operation->attributes.Set("sym_name", std::move(name));

  MlirRegion& region = *operation->regions.emplace_back(std::make_unique<MlirRegion>());
  std::vector<absl::string_view> names;
  RETURN_IF_ERROR(scanner_.List("(", ")", [&]() -> absl::Status {
    if (scanner_.Peek() != '%')
      return scanner_.Error("a function without a body is not read; expected %name");
    RETURN_IF_ERROR(ParseArgument(&region, &names, &arguments.elements.emplace_back()));
    function.type.inputs.push_back(region.arguments.back().type);
    return absl::OkStatus();
  }));
  const auto parse_result = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(MlirType type, ParseType());
    function.type.results.push_back(std::move(type));
    MlirAttribute& attributes = results.elements.emplace_back();
    attributes.kind = MlirAttribute::Kind::kDictionary;
    if (scanner_.Peek() != '{') return absl::OkStatus();
    ASSIGN_OR_RETURN(attributes, ParseDictionary());
    return absl::OkStatus();
  };
  if (scanner_.Consume("->")) {
    // Without parentheses { begins the body.
    if (scanner_.Peek() == '(') {
      RETURN_IF_ERROR(scanner_.List("(", ")", parse_result));
    } else {
      ASSIGN_OR_RETURN(MlirType type, ParseType());
      function.type.results.push_back(std::move(type));
      results.elements.emplace_back().kind = MlirAttribute::Kind::kDictionary;
    }
  }
  operation->attributes.Set("arg_attrs", std::move(arguments));
  operation->attributes.Set("res_attrs", std::move(results));
  operation->attributes.Set("function_type", std::move(function));
  if (scanner_.ConsumeWord("attributes")) RETURN_IF_ERROR(ParseOptionalDictionary(operation));
  std::vector<Scope> outer;
  outer.swap(scopes_);
  RETURN_IF_ERROR(scanner_.Expect("{"));
  RETURN_IF_ERROR(ParseRegionBody(&region, names));
  outer.swap(scopes_);
  return absl::OkStatus();
}

}  // namespace toroid
