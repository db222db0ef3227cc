// Pretty forms of operations with regions, tuples and calls to other programs.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/stablehlo/mlir_parser.h"

namespace toroid {
namespace {

MlirAttribute StringAttribute(std::string value, MlirAttribute::Kind kind) {
  MlirAttribute attribute;
  attribute.kind = kind;
  attribute.string = std::move(value);
  return attribute;
}

}  // namespace

absl::Status MlirParser::ParseTupleOp(MlirOperation* operation) {
  RETURN_IF_ERROR(ParsePattern("ops dict :", operation));
  if (scanner_.Peek() != '(') return ParseSameType(operation);
  ASSIGN_OR_RETURN(const MlirType type, ParseFunctionType());
  return SetFunctionType(operation, type);
}

// %0[1]
absl::Status MlirParser::ParseGetTupleElement(MlirOperation* operation) {
  RETURN_IF_ERROR(ParsePattern("ops [ index=bare ] dict fn", operation));
  return absl::OkStatus();
}

// (%0 init: %2), (%1 init: %3) applies stablehlo.add across dimensions = [1] : ...
// (%0 init: %2), (%1 init: %3) across dimensions = [1] : ... reducer(%a: t, %c: t) (%b: t, %d: t) { .. }
absl::Status MlirParser::ParseReduce(MlirOperation* operation) {
  std::vector<const MlirValue*> inits;
  do {
    RETURN_IF_ERROR(scanner_.Expect("("));
    ASSIGN_OR_RETURN(const MlirValue* operand, ParseOperand());
    RETURN_IF_ERROR(ParsePattern("init :", operation));
    ASSIGN_OR_RETURN(const MlirValue* init, ParseOperand());
    RETURN_IF_ERROR(scanner_.Expect(")"));
    operation->operands.push_back(operand);
    inits.push_back(init);
  } while (scanner_.Consume(","));
  operation->operands.insert(operation->operands.end(), inits.begin(), inits.end());
  std::string applied;
  if (scanner_.ConsumeWord("applies")) {
    applied = std::string(Word());
    if (applied.empty()) return scanner_.Error("expected the operation that reduces");
  }
  RETURN_IF_ERROR(ParsePattern("across dimensions = dimensions=attr dict fn", operation));
  if (applied.empty()) return ParseReducer(operation);
  return ParseAppliedReducer(applied, operation);
}

absl::Status MlirParser::ParseReducer(MlirOperation* operation) {
  RETURN_IF_ERROR(scanner_.Expect("reducer"));
  MlirRegion& region = *operation->regions.emplace_back(std::make_unique<MlirRegion>());
  MlirRegion left, right;
  std::vector<absl::string_view> names, right_names;
  while (scanner_.Consume("(")) {
    RETURN_IF_ERROR(ParseArgument(&left, &names, nullptr));
    RETURN_IF_ERROR(scanner_.Expect(","));
    RETURN_IF_ERROR(ParseArgument(&right, &right_names, nullptr));
    RETURN_IF_ERROR(scanner_.Expect(")"));
  }
  region.arguments = std::move(left.arguments);
  for (MlirValue& argument : right.arguments) region.arguments.push_back(std::move(argument));
  names.insert(names.end(), right_names.begin(), right_names.end());
  ASSIGN_OR_RETURN(const MlirLocation* location, ParseOptionalLocation());
  for (MlirValue& argument : region.arguments) {
    if (argument.location == nullptr) argument.location = location;
  }
  RETURN_IF_ERROR(scanner_.Expect("{"));
  return ParseRegionBody(&region, names);
}

// The region of one binary operation on scalars.
absl::Status MlirParser::ParseAppliedReducer(absl::string_view name, MlirOperation* operation) {
  if (operation->operands.size() != 2) return ErrorIn(*operation, "'applies' reduces one array");
  MlirRegion& region = *operation->regions.emplace_back(std::make_unique<MlirRegion>());
  MlirType scalar = operation->operands[1]->type;
  region.arguments.resize(2);
  auto reducer = std::make_unique<MlirOperation>();
  auto result = std::make_unique<MlirOperation>();
  reducer->name = std::string(name);
  result->name = "stablehlo.return";
  reducer->position = result->position = operation->position;
  reducer->attributes.kind = result->attributes.kind = MlirAttribute::Kind::kDictionary;
  reducer->results.resize(1);
  reducer->results[0].type = scalar;
  reducer->results[0].owner = reducer.get();
  for (int i = 0; i < 2; ++i) {
    region.arguments[i].type = scalar;
    region.arguments[i].number = i;
    reducer->operands.push_back(&region.arguments[i]);
  }
  result->operands.push_back(&reducer->results[0]);
  region.operations.push_back(std::move(reducer));
  region.operations.push_back(std::move(result));
  return absl::OkStatus();
}

// (%a = %0, %b = %1) : types attributes {..} cond {..} do {..}
absl::Status MlirParser::ParseWhile(MlirOperation* operation) {
  std::vector<absl::string_view> names;
  RETURN_IF_ERROR(scanner_.List("(", ")", [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const absl::string_view name, ValueName());
    RETURN_IF_ERROR(scanner_.Expect("="));
    ASSIGN_OR_RETURN(const MlirValue* init, ParseOperand());
    names.push_back(name);
    operation->operands.push_back(init);
    return absl::OkStatus();
  }));
  std::vector<MlirType> types;
  if (scanner_.Consume(":") && !names.empty()) {
    do {
      ASSIGN_OR_RETURN(MlirType type, ParseType());
      types.push_back(std::move(type));
    } while (scanner_.Consume(","));
  }
  if (types.size() != names.size()) return ErrorIn(*operation, "one type for each value that is carried");
  if (scanner_.ConsumeWord("attributes")) RETURN_IF_ERROR(ParseOptionalDictionary(operation));
  for (const absl::string_view word : {"cond", "do"}) {
    RETURN_IF_ERROR(scanner_.Expect(word));
    MlirRegion& region = *operation->regions.emplace_back(std::make_unique<MlirRegion>());
    region.arguments.resize(types.size());
    for (size_t i = 0; i < types.size(); ++i) region.arguments[i].type = types[i];
    RETURN_IF_ERROR(scanner_.Expect("{"));
    RETURN_IF_ERROR(ParseRegionBody(&region, names));
  }
  return SetResults(operation, types);
}

// @target(%0, %1)
absl::Status MlirParser::ParseCustomCall(MlirOperation* operation) {
  ASSIGN_OR_RETURN(std::string target, SymbolName());
  operation->attributes.Set("call_target_name",
                            StringAttribute(std::move(target), MlirAttribute::Kind::kString));
  return ParsePattern("(ops) dict fn", operation);
}

// "name" %0, %1
absl::Status MlirParser::ParseComposite(MlirOperation* operation) {
  ASSIGN_OR_RETURN(std::string name, QuotedString());
  operation->attributes.Set("name", StringAttribute(std::move(name), MlirAttribute::Kind::kString));
  return ParsePattern("ops dict fn", operation);
}

absl::Status MlirParser::ParseReturn(MlirOperation* operation) {
  RETURN_IF_ERROR(ParsePattern("ops dict", operation));
  if (operation->operands.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(ParseTypeOfEach(operation, /*results=*/false));
  operation->results.clear();
  return absl::OkStatus();
}

absl::Status MlirParser::ParseCall(MlirOperation* operation) {
  ASSIGN_OR_RETURN(std::string callee, SymbolName());
  operation->attributes.Set("callee", StringAttribute(std::move(callee), MlirAttribute::Kind::kSymbol));
  return ParsePattern("(ops) dict fn", operation);
}

// ---- Shardy

// @mesh = <["data"=4]>
absl::Status MlirParser::ParseMesh(MlirOperation* operation) {
  ASSIGN_OR_RETURN(std::string name, SymbolName());
  operation->attributes.Set("sym_name", StringAttribute(std::move(name), MlirAttribute::Kind::kString));
  return ParsePattern("= mesh=attr dict", operation);
}

// sharding_constraint and reshard: %0 <@mesh, [{"a"}]>; sharding_group: %0 group_id=7; propagation_barrier: %0
// allowed_direction=NONE
absl::Status MlirParser::ParseShardingConstraint(MlirOperation* operation) {
  RETURN_IF_ERROR(ParseOperands(operation));
  if (operation->operands.size() != 1) return scanner_.Error("expected one operand");
  if (operation->name == "sdy.sharding_group") {
    RETURN_IF_ERROR(ParsePattern("group_id = group_id=bare dict :", operation));
    return ParseType().status();
  }
  if (operation->name == "sdy.propagation_barrier") {
    return ParsePattern("allowed_direction = allowed_direction:=word dict fn", operation);
  }
  const size_t begin = scanner_.Position();
  RETURN_IF_ERROR(ParseAngleBody().status());
  operation->attributes.Set("sharding", SpelledAttribute("#sdy.sharding", begin, ""));
  return ParsePattern("dict fn", operation);
}

// key=[<..>, <..>] or key={..}
absl::Status MlirParser::ParseSdyField(absl::string_view key, absl::string_view prefix,
                                       MlirOperation* operation) {
  if (!scanner_.ConsumeWord(key)) return absl::OkStatus();
  RETURN_IF_ERROR(scanner_.Expect("="));
  const size_t begin = scanner_.Position();
  if (scanner_.Peek() == '{') {
    RETURN_IF_ERROR(scanner_.Block().status());
  } else {
    RETURN_IF_ERROR(scanner_.List("[", "]", [&] { return ParseAngleBody().status(); }));
  }
  operation->attributes.Set(key, SpelledAttribute(prefix, begin, ">"));
  return absl::OkStatus();
}

// (%0) in_shardings=[..] out_shardings=[..] manual_axes={..} (%a: type) {..} : (types) -> types
absl::Status MlirParser::ParseManualComputation(MlirOperation* operation) {
  RETURN_IF_ERROR(ParseOperandsInParentheses(operation));
  return ParseSdyBody(operation);
}

// <"name">(%0) ...
absl::Status MlirParser::ParseNamedComputation(MlirOperation* operation) {
  RETURN_IF_ERROR(scanner_.Expect("<"));
  ASSIGN_OR_RETURN(std::string name, QuotedString());
  operation->attributes.Set("name", StringAttribute(std::move(name), MlirAttribute::Kind::kString));
  RETURN_IF_ERROR(scanner_.Expect(">"));
  RETURN_IF_ERROR(ParseOperandsInParentheses(operation));
  return ParseSdyBody(operation);
}

absl::Status MlirParser::ParseSdyBody(MlirOperation* operation) {
  RETURN_IF_ERROR(ParseSdyField("in_shardings", "#sdy.sharding_per_value<", operation));
  RETURN_IF_ERROR(ParseSdyField("out_shardings", "#sdy.sharding_per_value<", operation));
  RETURN_IF_ERROR(ParseSdyField("manual_axes", "#sdy<manual_axes", operation));
  MlirRegion& region = *operation->regions.emplace_back(std::make_unique<MlirRegion>());
  std::vector<absl::string_view> names;
  RETURN_IF_ERROR(scanner_.List("(", ")", [&] { return ParseArgument(&region, &names, nullptr); }));
  RETURN_IF_ERROR(scanner_.Expect("{"));
  RETURN_IF_ERROR(ParseRegionBody(&region, names));
  return ParsePattern("dict fn", operation);
}

}  // namespace toroid
