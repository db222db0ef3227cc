#include "hlo/opcode.h"

#include <array>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace toroid {
namespace {

constexpr bool IsElementwiseFamily(absl::string_view family) {
  return family == "Unary" || family == "Binary" || family == "Compare" || family == "Select" ||
         family == "Clamp" || family == "Convert" || family == "Identity";
}

struct Row {
  absl::string_view name;
  int arity;
  absl::string_view family;
  uint64_t attributes;
  uint32_t traits;
};

constexpr std::array<Row, kNumOpcodes + 1> kRows = {{
#define HLO_OP(enumerator, name, arity, family, attributes, traits) \
  {name, arity, #family, attributes, traits},
#include "hlo/opcode.inc"
#undef HLO_OP
    {"unknown", kVariadic, "", kNoAttribute, kSideEffect},
}};

const Row& RowOf(Opcode opcode) { return kRows[static_cast<int>(opcode)]; }

}  // namespace

absl::string_view OpcodeName(Opcode opcode) { return RowOf(opcode).name; }

std::optional<Opcode> OpcodeFromName(absl::string_view name) {
  static const auto* const kByName = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, Opcode>;
    for (int i = 0; i < kNumOpcodes; ++i) map->emplace(kRows[i].name, static_cast<Opcode>(i));
    return map;
  }();
  const auto it = kByName->find(name);
  if (it == kByName->end()) return std::nullopt;
  return it->second;
}

std::optional<absl::string_view> RetiredComparisonDirection(absl::string_view name) {
  static constexpr std::pair<absl::string_view, absl::string_view> kRetired[] = {
      {"equal-to", "EQ"},     {"not-equal-to", "NE"},
      {"greater-than", "GT"}, {"greater-than-or-equal-to", "GE"},
      {"less-than", "LT"},    {"less-than-or-equal-to", "LE"}};
  for (const auto& [retired, direction] : kRetired) {
    if (name == retired) return direction;
  }
  return std::nullopt;
}

int OpcodeArity(Opcode opcode) { return RowOf(opcode).arity; }

uint64_t OpcodeAttributes(Opcode opcode) { return RowOf(opcode).attributes; }

uint32_t OpcodeTraits(Opcode opcode) { return RowOf(opcode).traits; }

bool IsElementwise(Opcode opcode) {
  return opcode != Opcode::kDomain && IsElementwiseFamily(RowOf(opcode).family);
}

}  // namespace toroid
