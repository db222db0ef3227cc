// BUILD: size = "medium"
// BUILD: data = glob(["examples/*.hlo"]) + ["//:docs/rules.md"]
// Each rule by its smallest example: the estimate is another one without it, and says that the rule decided something.
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/files.h"
#include "hlo/io/file.h"
#include "simulator/machines/machine.h"
#include "simulator/rules/rule.h"
#include "simulator/stages/simulate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

absl::StatusOr<Prediction> Predict(const Module& module, absl::string_view without) {
  SimulationOptions options;
  ASSIGN_OR_RETURN(options.machine, LoadMachine("tpu-v3-8"));
  if (!without.empty()) {
    options.machine.family.mutable_core()->mutable_compiler()->add_without_rule(std::string(without));
  }
  ASSIGN_OR_RETURN(Simulation simulation, Simulate(module, options));
  return std::move(simulation.prediction);
}

class RuleTest : public testing::TestWithParam<int> {};

TEST_P(RuleTest, DecidesItsExample) {
  const absl::string_view name = RowOf(static_cast<Rule>(GetParam())).name;
  ASSERT_OK_AND_ASSIGN(const HloFile file,
                       ReadHloFile(absl::StrCat("tests/simulator/rules/examples/", name, ".hlo")));
  ASSERT_OK_AND_ASSIGN(const Prediction with, Predict(*file.module, ""));
  ASSERT_OK_AND_ASSIGN(const Prediction without, Predict(*file.module, name));
  EXPECT_TRUE(with.step_ps != without.step_ps || with.memory.temporary != without.memory.temporary)
      << with.step_ps << " ps with and without";
  for (const PredictedGroup& group : without.groups)
    EXPECT_THAT(group.rules, testing::Not(testing::Contains(std::string(name))));
}

INSTANTIATE_TEST_SUITE_P(All, RuleTest, testing::Range(0, kRules), [](const auto& info) {
  return std::string(RowOf(static_cast<Rule>(info.param)).name);
});

// The first is decided for an op, the second for the group as a whole.
TEST(RulesTest, AGroupNamesTheRulesThatDecidedIt) {
  for (const std::string name : {"product_epilogue", "kept_32_bit_words"}) {
    ASSERT_OK_AND_ASSIGN(const HloFile file,
                         ReadHloFile(absl::StrCat("tests/simulator/rules/examples/", name, ".hlo")));
    ASSERT_OK_AND_ASSIGN(const Prediction prediction, Predict(*file.module, ""));
    std::set<std::string> named;
    for (const PredictedGroup& group : prediction.groups)
      named.insert(group.rules.begin(), group.rules.end());
    EXPECT_THAT(named, testing::Contains(name));
  }
}

TEST(RulesTest, EachHasANameOfItsOwnASentenceAndEvidence) {
  std::set<absl::string_view> names;
  for (int i = 0; i < kRules; ++i) {
    const RuleRow& row = RowOf(static_cast<Rule>(i));
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(FindRule(row.name), static_cast<Rule>(i));
    EXPECT_TRUE(absl::EndsWith(row.sentence, ".")) << row.name;
    EXPECT_FALSE(row.evidence.empty()) << row.name;
  }
}

TEST(RulesTest, AnUnknownNameIsAnErrorWithTheNearest) {
  CoreSpec core;
  core.mutable_compiler()->add_without_rule("product_epilog");
  const absl::Status status = RulesOf(core).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), testing::HasSubstr("did you mean product_epilogue?"));
}

TEST(RulesTest, ThePageIsCurrent) {
  ASSERT_OK_AND_ASSIGN(const std::string page, ReadFile("docs/rules.md"));
  EXPECT_EQ(page, RulesPage()) << "run: hlo-simulate --list_rules > docs/rules.md";
}

}  // namespace
}  // namespace toroid
