// Reads MLIR text.
//
// Operations are read in the generic form, which is the same for all dialects, and in the pretty forms of
// builtin, func, stablehlo, chlo and sdy (pretty_forms.cc has their table). Regions have one block.
// Errors of every method: kInvalidArgument "LINE:COL: what is wrong".
// BUILD: srcs += "mlir_types.cc", "mlir_attributes.cc", "mlir_locations.cc", "pretty_forms.cc"
// BUILD: srcs += "pretty_functions.cc", "pretty_structured.cc"
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/io/text_scanner.h"
#include "hlo/stablehlo/mlir_tree.h"

namespace toroid {

class MlirParser {
 public:
  // Both outlive the parser; the tree's parts are kept in `module`.
  MlirParser(absl::string_view text, MlirModule* module)
      : scanner_(text), text_(text), module_(*module), scopes_(1) {}

  // Fills module->operation. Requires: called once.
  absl::Status ParseModule();

  // The fields of a struct attribute, such as `offset_dims = [1], index_vector_dim = 0`, up to the end.
  absl::StatusOr<MlirAttribute> ParseFields();
  absl::StatusOr<MlirAttribute> ParseAttribute();

 private:
  // Values of one name: %0:2 has two.
  struct Named {
    const MlirValue* first = nullptr;
    int64_t count = 0;
  };
  using Scope = absl::flat_hash_map<absl::string_view, Named>;
  // One name on the left of the equals sign.
  struct ResultName {
    absl::string_view name;
    int64_t count = 1;
    size_t position = 0;
  };
  using PrettyForm = absl::Status (MlirParser::*)(MlirOperation*);

  // ---- Names
  absl::string_view Word();  // A bare identifier; empty if there is none.
  absl::StatusOr<absl::string_view> ValueName();
  absl::StatusOr<std::string> SymbolName();
  // A string in double quotes, its escapes resolved: \\, \", \n, \t and \22, a byte in two hexadecimal digits.
  absl::StatusOr<std::string> QuotedString();
  absl::Status Define(absl::string_view name, Named values, size_t position);
  absl::StatusOr<const MlirValue*> ParseOperand();
  // Operands separated by commas, possibly none; a comma without an operand behind it stays.
  absl::Status ParseOperands(MlirOperation* operation);
  absl::Status ParseOperandsInParentheses(MlirOperation* operation);
  absl::Status ErrorIn(const MlirOperation& operation, absl::string_view what) const;

  // ---- Types
  // True for the first word of a type.
  static bool IsTypeName(absl::string_view word);
  absl::StatusOr<MlirType> ParseType();
  absl::StatusOr<MlirType> ParseTensor();
  absl::StatusOr<MlirType> ParseTuple();
  absl::StatusOr<MlirType> ParseFunctionType();
  absl::StatusOr<PrimitiveType> ParseElementType();
  absl::Status ParseBounds(std::vector<int64_t>* dims, std::vector<bool>* dynamic);
  // One type, or a list in parentheses.
  absl::StatusOr<std::vector<MlirType>> ParseTypes();

  // ---- Attributes
  absl::StatusOr<MlirAttribute> ParseAttributeBody();
  absl::StatusOr<MlirAttribute> ParseNumber();
  absl::StatusOr<MlirAttribute> ParseDense(absl::string_view word);
  absl::StatusOr<MlirAttribute> ParseDenseArray();
  absl::StatusOr<MlirAttribute> ParseHash();
  absl::StatusOr<MlirAttribute> ParseDictionary();
  absl::Status ParseField(MlirAttribute* dictionary);
  // What stands between < and the > that closes it.
  absl::StatusOr<absl::string_view> ParseAngleBody();
  absl::Status ParseOptionalDictionary(MlirOperation* operation);
  absl::Status ParseTypeSuffix();
  // Attributes that pretty forms spell differently.
  MlirAttribute WordAttribute(absl::string_view word) const;
  MlirAttribute IntegersAttribute(std::vector<int64_t> values) const;
  // prefix + the text from `begin` on + suffix, as an attribute of a dialect.
  MlirAttribute SpelledAttribute(absl::string_view prefix, size_t begin, absl::string_view suffix);

  // ---- Locations
  absl::StatusOr<const MlirLocation*> ParseLocation();  // From `loc` on.
  absl::StatusOr<const MlirLocation*> ParseLocationBody();
  absl::StatusOr<const MlirLocation*> ParseFileOrName();
  absl::StatusOr<const MlirLocation*> ParseOptionalLocation();
  absl::StatusOr<const MlirLocation*> ParseLocationAlias();
  MlirLocation* NewLocation(MlirLocation::Kind kind);

  // ---- Operations
  absl::Status ParseAliasDefinition();
  absl::StatusOr<std::unique_ptr<MlirOperation>> ParseOperation();
  absl::StatusOr<std::vector<ResultName>> ParseResultNames();
  absl::Status DefineResults(const std::vector<ResultName>& names, const MlirOperation& operation);
  absl::Status ParseGeneric(MlirOperation* operation);
  absl::Status ParsePretty(MlirOperation* operation);
  absl::Status ParseRegion(MlirRegion* region);
  // From behind the opening brace on; `names` are defined inside as the region's arguments.
  absl::Status ParseRegionBody(MlirRegion* region, const std::vector<absl::string_view>& names);
  // One argument of a region, "%a: type {attributes} loc(..)"; attributes go to `dictionary`, which may be
  // null.
  absl::Status ParseArgument(MlirRegion* region, std::vector<absl::string_view>* names,
                             MlirAttribute* dictionary);
  absl::Status SetFunctionType(MlirOperation* operation, const MlirType& type);
  absl::Status SetResults(MlirOperation* operation, const std::vector<MlirType>& types);

  // ---- Pretty forms
  absl::Status ParsePattern(absl::string_view pattern, MlirOperation* operation);
  absl::Status ParsePatternWord(absl::string_view word, MlirOperation* operation);
  absl::Status ParseFunctional(MlirOperation* operation);
  absl::Status ParseSameType(MlirOperation* operation);
  absl::Status ParseTypeOfEach(MlirOperation* operation, bool results);
  absl::Status ParseSlice(MlirOperation* operation);
  absl::Status ParseCompare(MlirOperation* operation);
  absl::Status ParseSelect(MlirOperation* operation);
  absl::Status ParseComplex(MlirOperation* operation);
  absl::Status ParseReducePrecision(MlirOperation* operation);
  absl::Status ParseDotGeneral(MlirOperation* operation);
  absl::Status ParseConvolution(MlirOperation* operation);
  absl::Status ParseConvolutionWindow(MlirOperation* operation);
  absl::Status ParseConstant(MlirOperation* operation);
  absl::Status ParseTupleOp(MlirOperation* operation);
  absl::Status ParseGetTupleElement(MlirOperation* operation);
  absl::Status ParseReduce(MlirOperation* operation);
  absl::Status ParseReducer(MlirOperation* operation);
  absl::Status ParseAppliedReducer(absl::string_view name, MlirOperation* operation);
  absl::Status ParseWhile(MlirOperation* operation);
  absl::Status ParseCustomCall(MlirOperation* operation);
  absl::Status ParseComposite(MlirOperation* operation);
  absl::Status ParseReturn(MlirOperation* operation);
  absl::Status ParseModuleOp(MlirOperation* operation);
  absl::Status ParseFunc(MlirOperation* operation);
  absl::Status ParseCall(MlirOperation* operation);
  absl::Status ParseTopK(MlirOperation* operation);
  absl::Status ParseChlo(MlirOperation* operation);
  absl::Status ParseMesh(MlirOperation* operation);
  absl::Status ParseShardingConstraint(MlirOperation* operation);
  absl::Status ParseManualComputation(MlirOperation* operation);
  absl::Status ParseNamedComputation(MlirOperation* operation);
  absl::Status ParseSdyBody(MlirOperation* operation);
  absl::Status ParseSdyField(absl::string_view key, absl::string_view prefix, MlirOperation* operation);
  static const absl::flat_hash_map<absl::string_view, std::pair<absl::string_view, PrettyForm>>&
  PrettyForms();

  TextScanner scanner_;
  absl::string_view text_;
  MlirModule& module_;
  std::vector<Scope> scopes_;
  absl::flat_hash_map<absl::string_view, MlirAttribute> attribute_aliases_;
  absl::flat_hash_map<absl::string_view, MlirType> type_aliases_;
  absl::flat_hash_map<absl::string_view, MlirLocation*> location_aliases_;
};

}  // namespace toroid
