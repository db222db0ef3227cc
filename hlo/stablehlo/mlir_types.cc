#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/stablehlo/mlir_parser.h"

namespace toroid {
namespace {

// The element type of MLIR's name: i1, i32, ui8, index, f32, f8E4M3FN, ...
std::optional<PrimitiveType> ElementTypeOf(absl::string_view word) {
  if (word == "i1") return xla::PRED;
  if (word == "index") return xla::S64;
  const std::string name = absl::AsciiStrToLower(word);
  if (absl::StartsWith(name, "ui")) return TypeFromName(absl::StrCat("u", name.substr(2)));
  if (absl::StartsWith(name, "si")) return TypeFromName(absl::StrCat("s", name.substr(2)));
  if (absl::StartsWith(name, "i")) return TypeFromName(absl::StrCat("s", name.substr(1)));
  if (absl::StartsWith(name, "f") || name == "bf16") return TypeFromName(name);
  return std::nullopt;
}

}  // namespace

bool MlirParser::IsTypeName(absl::string_view word) {
  return word == "tensor" || word == "tuple" || word == "complex" || word == "none" ||
         ElementTypeOf(word).has_value();
}

absl::StatusOr<PrimitiveType> MlirParser::ParseElementType() {
  const size_t begin = scanner_.Position();
  const absl::string_view word = Word();
  if (word == "complex") {
    RETURN_IF_ERROR(scanner_.Expect("<"));
    const absl::string_view part = Word();
    RETURN_IF_ERROR(scanner_.Expect(">"));
    if (part == "f32") return xla::C64;
    if (part == "f64") return xla::C128;
    return scanner_.ErrorAt(begin, absl::StrCat("complex<", part, "> has no type in HLO"));
  }
  const std::optional<PrimitiveType> type = ElementTypeOf(word);
  if (!type) return scanner_.ErrorAt(begin, "expected an element type that HLO has, such as f32, i32 or ui8");
  return *type;
}

absl::StatusOr<MlirType> MlirParser::ParseTensor() {
  const size_t begin = scanner_.Position();
  RETURN_IF_ERROR(scanner_.Expect("<"));
  std::vector<int64_t> dims;
  std::vector<bool> dynamic;
  while (absl::ascii_isdigit(static_cast<unsigned char>(scanner_.Peek())) || scanner_.Peek() == '?') {
    int64_t size = -1;
    if (!scanner_.Consume("?")) {
      ASSIGN_OR_RETURN(size, scanner_.Integer());
    }
    dims.push_back(size);
    dynamic.push_back(size < 0);
    if (!scanner_.ConsumeAdjacent("x")) return scanner_.Error("expected 'x' behind a size");
  }
  MlirType type;
  type.kind = MlirType::Kind::kTensor;
  ASSIGN_OR_RETURN(const PrimitiveType element, ParseElementType());
  if (scanner_.Consume(",")) RETURN_IF_ERROR(ParseBounds(&dims, &dynamic));
  RETURN_IF_ERROR(scanner_.Expect(">"));
  if (dims.size() > Shape::kMaxRank) return scanner_.ErrorAt(begin, "a tensor of too many dimensions");
  // Sizes of 0 do not hide an overflow of the others.
  std::optional<int64_t> bytes = 16;
  for (int64_t& size : dims) {
    if (size < 0) {
      type.has_unknown_size = true;
      size = 0;
    }
    if (bytes) bytes = CheckedMultiply(*bytes, std::max<int64_t>(size, 1));
  }
  if (!bytes) return scanner_.ErrorAt(begin, "a tensor whose bytes do not fit 64 bits");
  type.shape = Shape(element, dims);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dynamic[i]) type.shape.set_dynamic(static_cast<int64_t>(i), true);
  }
  return type;
}

// #stablehlo.bounds<?, 8>, #stablehlo.type_extensions<bounds = [?, 8]>
absl::Status MlirParser::ParseBounds(std::vector<int64_t>* dims, std::vector<bool>* dynamic) {
  const size_t begin = scanner_.Position();
  ASSIGN_OR_RETURN(const MlirAttribute encoding, ParseAttribute());
  if (encoding.kind != MlirAttribute::Kind::kDialect || !absl::StrContains(encoding.text, "bounds")) {
    return scanner_.ErrorAt(begin, "an encoding of a tensor that HLO has no place for");
  }
  absl::string_view list = encoding.body;
  const size_t open = list.find('['), close = list.rfind(']');
  if (open != absl::string_view::npos && close != absl::string_view::npos && open < close) {
    list = list.substr(open + 1, close - open - 1);
  }
  TextScanner bounds(list);
  for (size_t i = 0; i < dims->size(); ++i) {
    if (i > 0 && !bounds.Consume(",")) return scanner_.ErrorAt(begin, "one bound for each dimension");
    if (bounds.Consume("?")) continue;
    const absl::StatusOr<int64_t> bound = bounds.Integer();
    if (!bound.ok() || *bound < 0) return scanner_.ErrorAt(begin, "a bound is a number or ?");
    if ((*dynamic)[i]) (*dims)[i] = *bound;
  }
  return absl::OkStatus();
}

absl::StatusOr<MlirType> MlirParser::ParseTuple() {
  const Nesting nesting(&scanner_);
  RETURN_IF_ERROR(nesting.status());
  MlirType type;
  type.kind = MlirType::Kind::kTuple;
  std::vector<Shape> elements;
  RETURN_IF_ERROR(scanner_.List("<", ">", [&]() -> absl::Status {
    ASSIGN_OR_RETURN(MlirType element, ParseType());
    if (element.kind == MlirType::Kind::kNone || element.kind == MlirType::Kind::kFunction) {
      return scanner_.Error("an element of a tuple is a tensor, token or tuple");
    }
    type.has_unknown_size |= element.has_unknown_size;
    elements.push_back(std::move(element.shape));
    return absl::OkStatus();
  }));
  type.shape = Shape::Tuple(std::move(elements));
  return type;
}

absl::StatusOr<MlirType> MlirParser::ParseType() {
  const Nesting nesting(&scanner_);
  RETURN_IF_ERROR(nesting.status());
  if (scanner_.Peek() == '(') return ParseFunctionType();
  const size_t begin = scanner_.Position();
  MlirType type;
  if (scanner_.Consume("!")) {
    const absl::string_view word = Word();
    if (word == "stablehlo.token" || word == "mhlo.token") {
      type.kind = MlirType::Kind::kToken;
      type.shape = Shape::Token();
      return type;
    }
    const auto alias = type_aliases_.find(word);
    if (alias != type_aliases_.end()) return alias->second;
    return scanner_.ErrorAt(begin, absl::StrCat("the type !", word, " has no place in HLO"));
  }
  const absl::string_view word = Word();
  if (word == "tensor") return ParseTensor();
  if (word == "tuple") return ParseTuple();
  if (word == "none") return type;
  scanner_.Reset(begin);
  ASSIGN_OR_RETURN(const PrimitiveType element, ParseElementType());
  type.kind = MlirType::Kind::kScalar;
  type.shape = Shape(element, {});
  return type;
}

absl::StatusOr<std::vector<MlirType>> MlirParser::ParseTypes() {
  std::vector<MlirType> types;
  const auto parse = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(MlirType type, ParseType());
    types.push_back(std::move(type));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(scanner_.Peek() == '(' ? scanner_.List("(", ")", parse) : parse());
  return types;
}

absl::StatusOr<MlirType> MlirParser::ParseFunctionType() {
  MlirType type;
  type.kind = MlirType::Kind::kFunction;
  ASSIGN_OR_RETURN(type.inputs, ParseTypes());
  RETURN_IF_ERROR(scanner_.Expect("->"));
  ASSIGN_OR_RETURN(type.results, ParseTypes());
  return type;
}

}  // namespace toroid
