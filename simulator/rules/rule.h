// The rules by which the simulator follows what a compiler does. hlo-simulate --list_rules prints them.
//
// A rule is a row of rules.inc: its name, what it decides, one sentence, and the programs whose estimates showed it. Where it
// is written it is asked for by name (compiler_scope.h), and a machine's `compiler { without_rule: "NAME" }` leaves it out.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "simulator/machines/core.pb.h"

namespace toroid {

// What a rule decides.
enum class RuleFamily : uint8_t {
  kRewrite,  // What a program becomes before anything else is decided.
  kLayout,   // In which order the dimensions of an array lie.
  kFusion,   // What runs as one group, and what is written between groups.
  kMemory,   // When an op runs, and what is made twice or copied.
  kProduct,  // How the units take a product or a convolution.
  kGroup,    // How a core takes any other group.
};
absl::string_view FamilyName(RuleFamily family);

enum class Rule : uint16_t {
#define RULE(id, name, family, sentence, evidence) id,
#include "simulator/rules/rules.inc"
#undef RULE
};

struct RuleRow {
  absl::string_view name;
  RuleFamily family;
  absl::string_view sentence;  // What the compiler does.
  absl::string_view evidence;  // The estimates in which that was seen.
};

inline constexpr int kRules = 0
#define RULE(id, name, family, sentence, evidence) +1
#include "simulator/rules/rules.inc"
#undef RULE
    ;
const RuleRow& RowOf(Rule rule);

using RuleSet = std::bitset<kRules>;

std::optional<Rule> FindRule(absl::string_view name);

// All rules but those that `core` leaves out.
// Errors: kNotFound for a name that no rule has, with the nearest.
absl::StatusOr<RuleSet> RulesOf(const CoreSpec& core);

// All rules as a page of Markdown, by family.
std::string RulesPage();

}  // namespace toroid
