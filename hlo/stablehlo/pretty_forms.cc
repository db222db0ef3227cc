// The pretty forms of operations: a table of patterns, and forms that a pattern cannot describe.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "hlo/base/status.h"
#include "hlo/stablehlo/mlir_parser.h"

namespace toroid {
namespace {

// Words of a pattern, in the order in which the parts of the operation follow its name:
//   ops        operands, separated by commas
//   (ops)      the same in parentheses
//   dict       further attributes, if there are any
//   fn         ": (types) -> types"; one type alone is that of all operands and results
//   results    ": types" of the results
//   each       ": types" of the operands; the results have the same ones
//   key=attr   an attribute
//   key=bare   an integer or truth value; a type behind it is not its own
//   key:=word  one word, as an attribute
//   others     stand for themselves
constexpr absl::string_view kElementwise = "ops dict fn";

struct Row {
  absl::string_view names;  // Without stablehlo., separated by blanks.
  absl::string_view pattern;
};

constexpr Row kRows[] = {
    {"abs cbrt ceil cosine count_leading_zeros exponential exponential_minus_one floor imag is_finite log "
     "log_plus_one logistic negate not popcnt real round_nearest_afz round_nearest_even rsqrt sign sine sqrt tan "
     "tanh convert bitcast_convert reshape dynamic_reshape dynamic_update_slice real_dynamic_slice dynamic_pad clamp",
     kElementwise},
    {"add and atan2 divide maximum minimum multiply or power remainder shift_left shift_right_arithmetic "
     "shift_right_logical subtract xor",
     kElementwise},
    {"partition_id replica_id create_token", "dict results"},
    {"iota", "dim = iota_dimension=bare dict results"},
    {"dynamic_iota", "ops , dim = iota_dimension=bare dict fn"},
    {"broadcast_in_dim dynamic_broadcast_in_dim", "ops , dims = broadcast_dimensions=attr dict fn"},
    {"broadcast", "ops , sizes = broadcast_sizes=attr dict fn"},
    {"transpose", "ops , dims = permutation=attr dict fn"},
    {"reverse", "ops , dims = dimensions=attr dict fn"},
    {"concatenate", "ops , dim = dimension=bare dict fn"},
    {"dynamic_slice", "ops , sizes = slice_sizes=attr dict fn"},
    {"pad",
     "ops , low = edge_padding_low=attr , high = edge_padding_high=attr , interior = interior_padding=attr dict fn"},
    {"get_dimension_size set_dimension_size", "ops , dim = dimension=bare dict fn"},
    {"cholesky", "ops , lower = lower=bare dict fn"},
    {"fft", "ops , type = fft_type:=word , length = fft_length=attr dict fn"},
    {"rng", "ops , distribution = rng_distribution:=word dict fn"},
    {"rng_bit_generator", "ops , algorithm = rng_algorithm:=word dict fn"},
    {"einsum unary_einsum", "ops , config = einsum_config=attr dict fn"},
    {"cross-replica-sum", "ops dict fn"},
    {"optimization_barrier after_all", "ops dict each"},
};

}  // namespace

const absl::flat_hash_map<absl::string_view, std::pair<absl::string_view, MlirParser::PrettyForm>>&
MlirParser::PrettyForms() {
  using Table = absl::flat_hash_map<absl::string_view, std::pair<absl::string_view, PrettyForm>>;
  static const Table& table = *new Table([] {
    Table forms;
    static auto& names = *new std::deque<std::string>;
    for (const Row& row : kRows) {
      for (const absl::string_view name : absl::StrSplit(row.names, ' ', absl::SkipEmpty())) {
        forms[names.emplace_back(absl::StrCat("stablehlo.", name))] = {row.pattern, nullptr};
      }
    }
    const std::pair<absl::string_view, PrettyForm> special[] = {
        {"stablehlo.slice", &MlirParser::ParseSlice},
        {"stablehlo.compare", &MlirParser::ParseCompare},
        {"stablehlo.select", &MlirParser::ParseSelect},
        {"stablehlo.complex", &MlirParser::ParseComplex},
        {"stablehlo.reduce_precision", &MlirParser::ParseReducePrecision},
        {"stablehlo.dot", &MlirParser::ParseDotGeneral},
        {"stablehlo.dot_general", &MlirParser::ParseDotGeneral},
        {"stablehlo.convolution", &MlirParser::ParseConvolution},
        {"stablehlo.constant", &MlirParser::ParseConstant},
        {"chlo.constant", &MlirParser::ParseConstant},
        {"stablehlo.tuple", &MlirParser::ParseTupleOp},
        {"stablehlo.get_tuple_element", &MlirParser::ParseGetTupleElement},
        {"stablehlo.reduce", &MlirParser::ParseReduce},
        {"stablehlo.while", &MlirParser::ParseWhile},
        {"stablehlo.custom_call", &MlirParser::ParseCustomCall},
        {"stablehlo.composite", &MlirParser::ParseComposite},
        {"stablehlo.return", &MlirParser::ParseReturn},
        {"func.return", &MlirParser::ParseReturn},
        {"sdy.return", &MlirParser::ParseReturn},
        {"builtin.module", &MlirParser::ParseModuleOp},
        {"func.func", &MlirParser::ParseFunc},
        {"func.call", &MlirParser::ParseCall},
        {"chlo.top_k", &MlirParser::ParseTopK},
        {"mhlo.topk", &MlirParser::ParseTopK},
        {"sdy.mesh", &MlirParser::ParseMesh},
        {"sdy.sharding_constraint", &MlirParser::ParseShardingConstraint},
        {"sdy.reshard", &MlirParser::ParseShardingConstraint},
        {"sdy.sharding_group", &MlirParser::ParseShardingConstraint},
        {"sdy.propagation_barrier", &MlirParser::ParseShardingConstraint},
        {"sdy.manual_computation", &MlirParser::ParseManualComputation},
        {"sdy.named_computation", &MlirParser::ParseNamedComputation},
    };
    for (const auto& [name, form] : special) forms[name] = {"", form};
    return forms;
  }());
  return table;
}

absl::Status MlirParser::ParsePretty(MlirOperation* operation) {
  static constexpr std::pair<absl::string_view, absl::string_view> kWithoutDialect[] = {
      {"module", "builtin.module"}, {"func", "func.func"}, {"return", "func.return"}, {"call", "func.call"}};
  for (const auto& [name, full] : kWithoutDialect) {
    if (operation->name == name) operation->name = std::string(full);
  }
  const auto form = PrettyForms().find(operation->name);
  if (form != PrettyForms().end()) {
    return form->second.second == nullptr ? ParsePattern(form->second.first, operation)
                                          : (this->*form->second.second)(operation);
  }
  if (absl::StartsWith(operation->name, "chlo.")) return ParseChlo(operation);
  return ErrorIn(*operation,
                 "no such operation is read in this form; print the module in the generic form "
                 "(print_generic_op_form=True) if it has one");
}

absl::Status MlirParser::ParsePattern(absl::string_view pattern, MlirOperation* operation) {
  for (const absl::string_view word : absl::StrSplit(pattern, ' ')) {
    RETURN_IF_ERROR(ParsePatternWord(word, operation));
  }
  return absl::OkStatus();
}

absl::Status MlirParser::ParsePatternWord(absl::string_view word, MlirOperation* operation) {
  if (word == "ops") return ParseOperands(operation);
  if (word == "(ops)") return ParseOperandsInParentheses(operation);
  if (word == "dict") return ParseOptionalDictionary(operation);
  if (word == "fn") return ParseFunctional(operation);
  if (word == "results") return ParseTypeOfEach(operation, /*results=*/true);
  if (word == "each") return ParseTypeOfEach(operation, /*results=*/false);
  if (absl::ConsumeSuffix(&word, ":=word")) {
    const absl::string_view value = Word();
    if (value.empty()) return scanner_.Error(absl::StrCat("expected ", word));
    operation->attributes.Set(word, WordAttribute(value));
    return absl::OkStatus();
  }
  if (absl::ConsumeSuffix(&word, "=bare")) {
    MlirAttribute value;
    const bool is_true = scanner_.ConsumeWord("true");
    value.kind = MlirAttribute::Kind::kBool;
    value.integer = is_true;
    if (!is_true && !scanner_.ConsumeWord("false")) {
      value.kind = MlirAttribute::Kind::kInteger;
      ASSIGN_OR_RETURN(value.integer, scanner_.Integer());
    }
    operation->attributes.Set(word, std::move(value));
    return absl::OkStatus();
  }
  if (absl::ConsumeSuffix(&word, "=attr")) {
    ASSIGN_OR_RETURN(MlirAttribute value, ParseAttribute());
    operation->attributes.Set(word, std::move(value));
    return absl::OkStatus();
  }
  return scanner_.Expect(word);
}

absl::Status MlirParser::ParseFunctional(MlirOperation* operation) {
  RETURN_IF_ERROR(scanner_.Expect(":"));
  if (scanner_.Peek() != '(') return ParseSameType(operation);
  ASSIGN_OR_RETURN(const MlirType type, ParseFunctionType());
  return SetFunctionType(operation, type);
}

// One type for the operands and the result.
absl::Status MlirParser::ParseSameType(MlirOperation* operation) {
  ASSIGN_OR_RETURN(MlirType type, ParseType());
  return SetResults(operation, {std::move(type)});
}

absl::Status MlirParser::ParseTypeOfEach(MlirOperation* operation, bool results) {
  // An operation without operands may have no types.
  if (!results && operation->operands.empty() && !scanner_.Consume(":")) return absl::OkStatus();
  if (results || !operation->operands.empty()) RETURN_IF_ERROR(scanner_.Expect(":"));
  std::vector<MlirType> types;
  do {
    ASSIGN_OR_RETURN(MlirType type, ParseType());
    types.push_back(std::move(type));
  } while (scanner_.Consume(","));
  if (operation->name == "stablehlo.after_all") types.resize(1);
  return SetResults(operation, types);
}

// %0 [1:8, 0:16:2]
absl::Status MlirParser::ParseSlice(MlirOperation* operation) {
  RETURN_IF_ERROR(ParseOperands(operation));
  std::vector<int64_t> starts, limits, strides;
  RETURN_IF_ERROR(scanner_.List("[", "]", [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const int64_t start, scanner_.Integer());
    RETURN_IF_ERROR(scanner_.Expect(":"));
    ASSIGN_OR_RETURN(const int64_t limit, scanner_.Integer());
    int64_t stride = 1;
    if (scanner_.Consume(":")) {
      ASSIGN_OR_RETURN(stride, scanner_.Integer());
    }
    starts.push_back(start);
    limits.push_back(limit);
    strides.push_back(stride);
    return absl::OkStatus();
  }));
  operation->attributes.Set("start_indices", IntegersAttribute(starts));
  operation->attributes.Set("limit_indices", IntegersAttribute(limits));
  operation->attributes.Set("strides", IntegersAttribute(strides));
  return ParsePattern("dict fn", operation);
}

// LT, %0, %1, SIGNED
absl::Status MlirParser::ParseCompare(MlirOperation* operation) {
  RETURN_IF_ERROR(ParsePattern("comparison_direction:=word , ops", operation));
  if (scanner_.Consume(",")) RETURN_IF_ERROR(ParsePatternWord("compare_type:=word", operation));
  return ParsePattern("dict fn", operation);
}

// ": tensor<i1>, tensor<f32>": the types of the predicate and of the result.
absl::Status MlirParser::ParseSelect(MlirOperation* operation) {
  RETURN_IF_ERROR(ParsePattern("ops dict", operation));
  const size_t colon = scanner_.Position();
  RETURN_IF_ERROR(scanner_.Expect(":"));
  if (scanner_.Peek() == '(') {
    scanner_.Reset(colon);
    return ParseFunctional(operation);
  }
  RETURN_IF_ERROR(ParseType().status());
  RETURN_IF_ERROR(scanner_.Expect(","));
  return ParseSameType(operation);
}

absl::Status MlirParser::ParseComplex(MlirOperation* operation) {
  return ParsePattern(kElementwise, operation);
}

// %0, format = e5m10
absl::Status MlirParser::ParseReducePrecision(MlirOperation* operation) {
  RETURN_IF_ERROR(ParsePattern("ops , format =", operation));
  const auto bits = [&](absl::string_view letter, absl::string_view key) -> absl::Status {
    if (!(letter == "e" ? scanner_.Consume(letter) : scanner_.ConsumeAdjacent(letter))) {
      return scanner_.Error("expected a format such as e5m10");
    }
    ASSIGN_OR_RETURN(const int64_t value, scanner_.Integer());
    operation->attributes.Set(key, IntegersAttribute({value}).elements[0]);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(bits("e", "exponent_bits"));
  RETURN_IF_ERROR(bits("m", "mantissa_bits"));
  return ParsePattern("dict fn", operation);
}

// %0, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [..], algorithm = <..>
absl::Status MlirParser::ParseDotGeneral(MlirOperation* operation) {
  RETURN_IF_ERROR(ParseOperands(operation));
  MlirAttribute dimensions;
  dimensions.kind = MlirAttribute::Kind::kDictionary;
  const auto pair = [&](absl::string_view lhs, absl::string_view rhs) -> absl::Status {
    ASSIGN_OR_RETURN(MlirAttribute of_lhs, ParseAttribute());
    RETURN_IF_ERROR(scanner_.Expect("x"));
    ASSIGN_OR_RETURN(MlirAttribute of_rhs, ParseAttribute());
    dimensions.Set(lhs, std::move(of_lhs));
    dimensions.Set(rhs, std::move(of_rhs));
    return absl::OkStatus();
  };
  while (scanner_.Consume(",")) {
    const absl::string_view key = Word();
    RETURN_IF_ERROR(scanner_.Expect("="));
    if (key == "batching_dims") {
      RETURN_IF_ERROR(pair("lhs_batching_dimensions", "rhs_batching_dimensions"));
    } else if (key == "contracting_dims") {
      RETURN_IF_ERROR(pair("lhs_contracting_dimensions", "rhs_contracting_dimensions"));
    } else if (key == "precision") {
      RETURN_IF_ERROR(ParsePatternWord("precision_config=attr", operation));
    } else if (key == "algorithm") {
      RETURN_IF_ERROR(ParsePatternWord("algorithm=attr", operation));
    } else {
      return scanner_.Error("expected batching_dims, contracting_dims, precision or algorithm in front");
    }
  }
  if (operation->name == "stablehlo.dot_general") {
    operation->attributes.Set("dot_dimension_numbers", std::move(dimensions));
  }
  return ParsePattern("dict fn", operation);
}

// (%0, %1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], ...} {..} : ...
absl::Status MlirParser::ParseConvolution(MlirOperation* operation) {
  RETURN_IF_ERROR(ParsePattern("(ops) dim_numbers =", operation));
  const size_t begin = scanner_.Position();
  const size_t end = text_.find("window", begin);
  const size_t comma = end == absl::string_view::npos ? end : text_.rfind(',', end);
  if (comma == absl::string_view::npos || comma < begin) return scanner_.Error("expected dimension numbers");
  MlirAttribute numbers = WordAttribute(text_.substr(begin, comma - begin));
  operation->attributes.Set("dimension_numbers", std::move(numbers));
  scanner_.Reset(comma);
  RETURN_IF_ERROR(ParsePattern(", window =", operation));
  RETURN_IF_ERROR(ParseConvolutionWindow(operation));
  return ParsePattern("dict fn", operation);
}

absl::Status MlirParser::ParseConvolutionWindow(MlirOperation* operation) {
  static constexpr std::pair<absl::string_view, absl::string_view> kKeys[] = {{"stride", "window_strides"},
                                                                              {"pad", "padding"},
                                                                              {"lhs_dilate", "lhs_dilation"},
                                                                              {"rhs_dilate", "rhs_dilation"},
                                                                              {"reverse", "window_reversal"}};
  return scanner_.List("{", "}", [&]() -> absl::Status {
    const size_t begin = scanner_.Position();
    const absl::string_view word = Word();
    for (const auto& [key, name] : kKeys) {
      if (key != word) continue;
      RETURN_IF_ERROR(scanner_.Expect("="));
      ASSIGN_OR_RETURN(MlirAttribute value, ParseAttribute());
      operation->attributes.Set(name, std::move(value));
      return absl::OkStatus();
    }
    return scanner_.ErrorAt(begin, "expected stride, pad, lhs_dilate, rhs_dilate or reverse");
  });
}

absl::Status MlirParser::ParseConstant(MlirOperation* operation) {
  RETURN_IF_ERROR(ParsePattern("dict value=attr", operation));
  const MlirType type = operation->attributes.Find("value")->type;
  // A type behind the value's own is that of the result.
  if (scanner_.Peek() == ':') return ParseFunctional(operation);
  return SetResults(operation, {type});
}

absl::Status MlirParser::ParseTopK(MlirOperation* operation) {
  RETURN_IF_ERROR(scanner_.Expect("("));
  RETURN_IF_ERROR(ParseOperands(operation));
  RETURN_IF_ERROR(ParsePattern(", k = k=bare", operation));
  if (scanner_.Consume(",")) RETURN_IF_ERROR(ParsePattern("largest = largest=bare", operation));
  RETURN_IF_ERROR(ParsePattern(") dict :", operation));
  ASSIGN_OR_RETURN(const MlirType type, ParseFunctionType());
  return SetFunctionType(operation, type);
}

// chlo.erf %0 : type -> type; chlo.next_after %0, %1 : type, type -> type; chlo.broadcast_add %0, %1 : (..) -> type
absl::Status MlirParser::ParseChlo(MlirOperation* operation) {
  RETURN_IF_ERROR(ParseOperands(operation));
  if (scanner_.Consume(",")) {
    // broadcast_compare spells its attributes in {..}; nothing else has any.
    return scanner_.Error("expected an operand");
  }
  RETURN_IF_ERROR(ParsePattern("dict", operation));
  RETURN_IF_ERROR(scanner_.Expect(":"));
  if (scanner_.Peek() != '(') {
    do {
      RETURN_IF_ERROR(ParseType().status());
    } while (scanner_.Consume(","));
    RETURN_IF_ERROR(scanner_.Expect("->"));
    return ParseSameType(operation);
  }
  ASSIGN_OR_RETURN(const MlirType type, ParseFunctionType());
  return SetFunctionType(operation, type);
}

}  // namespace toroid
