#include "simulator/rules/rule.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "hlo/base/suggestion.h"

namespace toroid {
namespace {

constexpr RuleRow kRows[] = {
#define RULE(id, name, family, sentence, evidence) {name, RuleFamily::family, sentence, evidence},
#include "simulator/rules/rules.inc"
#undef RULE
};

constexpr RuleFamily kFamilies[] = {RuleFamily::kRewrite, RuleFamily::kLayout,  RuleFamily::kFusion,
                                    RuleFamily::kMemory,  RuleFamily::kProduct, RuleFamily::kGroup};

absl::string_view HeadingOf(RuleFamily family) {
  switch (family) {
    case RuleFamily::kRewrite:
      return "Rewrites: what a program becomes first";
    case RuleFamily::kLayout:
      return "Layout: in which order dimensions lie";
    case RuleFamily::kFusion:
      return "Fusion: what runs as one group, and what is written between groups";
    case RuleFamily::kMemory:
      return "Memory: when an op runs, what is made twice or copied";
    case RuleFamily::kProduct:
      return "Products: how the units take a product or a convolution";
    case RuleFamily::kGroup:
      return "Other groups: how a core takes them";
  }
  return "";
}

}  // namespace

absl::string_view FamilyName(RuleFamily family) {
  switch (family) {
    case RuleFamily::kRewrite:
      return "rewrite";
    case RuleFamily::kLayout:
      return "layout";
    case RuleFamily::kFusion:
      return "fusion";
    case RuleFamily::kMemory:
      return "memory";
    case RuleFamily::kProduct:
      return "product";
    case RuleFamily::kGroup:
      return "group";
  }
  return "";
}

const RuleRow& RowOf(Rule rule) { return kRows[static_cast<int>(rule)]; }

std::optional<Rule> FindRule(absl::string_view name) {
  for (int i = 0; i < kRules; ++i) {
    if (kRows[i].name == name) return static_cast<Rule>(i);
  }
  return std::nullopt;
}

absl::StatusOr<RuleSet> RulesOf(const CoreSpec& core) {
  RuleSet rules;
  rules.set();
  for (const std::string& name : core.compiler().without_rule()) {
    const std::optional<Rule> rule = FindRule(name);
    if (!rule.has_value()) {
      std::vector<std::string> names;
      for (const RuleRow& row : kRows) names.emplace_back(row.name);
      return absl::NotFoundError(absl::StrCat("no rule is named ", name, DidYouMean(name, names),
                                              "; hlo-simulate --list_rules names all"));
    }
    rules.reset(static_cast<int>(*rule));
  }
  return rules;
}

std::string RulesPage() {
  std::string page =
      "# Rules\n\nWhat the simulator follows of a compiler for TPU v3, rule by rule. `hlo-simulate --json` names those "
      "that decided each group,\n`hlo-simulate --without_rule=NAME` predicts without one. "
      "`hlo-simulate --list_rules` wrote this page. The smallest example of each\nrule is `tests/simulator/rules/examples/NAME.hlo`. [What each is "
      "worth](../benchmarks/results/rule_ablation.txt), in errors with and\nwithout it, "
      "`//benchmarks:rule_ablation` measures.\n";
  for (const RuleFamily family : kFamilies) {
    absl::StrAppend(&page, "\n## ", HeadingOf(family),
                    "\n\n| rule | what the compiler does | seen in |\n| --- | --- | --- |\n");
    for (const RuleRow& row : kRows) {
      if (row.family != family) continue;
      const auto cell = [](absl::string_view text) { return absl::StrReplaceAll(text, {{"|", "\\|"}}); };
      absl::StrAppend(&page, "| `", row.name, "` | ", cell(row.sentence), " | ", cell(row.evidence), " |\n");
    }
  }
  return page;
}

}  // namespace toroid
