#include "partitioner/search/changed_parts.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "hlo/io/hlo_text.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kProgram[] = R"(
HloModule m

ENTRY e {
  x = f32[8,8] parameter(0)
  y = f32[8,8] parameter(1)
  a = f32[8,8] tanh(x)
  b = f32[8,8] negate(a)
  c = f32[8,8] tanh(y)
  d = f32[8,8] negate(c)
  f = f32[8,8] abs(d)
  ROOT t = (f32[8,8], f32[8,8]) tuple(b, f)
}
)";

class ChangedPartsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(module_, ParseModule(kProgram));
    graph_ = std::make_unique<FlowGraph>(*module_);
    for (const FlowOp& op : graph_->ops()) {
      if (op.instruction != nullptr && op.rule != nullptr)
        now_[&op].assignment.factor_axes.resize(op.rule->factors.size());
    }
  }

  // Cuts the ops in `cut` over axis 0 and lets `passed` pass on a partial operand. Returns the names of the
  // ops of each changed part.
  std::vector<std::string> PartsOf(const std::vector<std::string>& cut, const std::string& passed = "") {
    DecidedOps found = now_;
    for (auto& [op, decision] : found) {
      if (std::count(cut.begin(), cut.end(), op->instruction->name()) > 0)
        decision.assignment.factor_axes[0] = {0};
      if (op->instruction->name() == passed) decision.passed_on.operands = 1;
    }
    std::vector<std::string> parts;
    for (const DecidedOps& part : ChangedParts(*graph_, now_, found)) {
      std::string names;
      for (const FlowOp& op : graph_->ops()) {
        if (part.contains(&op)) names += op.instruction->name();
      }
      parts.push_back(names);
    }
    return parts;
  }

  std::unique_ptr<Module> module_;
  std::unique_ptr<FlowGraph> graph_;
  DecidedOps now_;
};

TEST_F(ChangedPartsTest, OpsThatShareATensorBelongTogether) {
  EXPECT_THAT(PartsOf({"a", "b", "d", "f"}), ElementsAre("ab", "df"));
  EXPECT_THAT(PartsOf({"c", "f"}), ElementsAre("c", "f"));
}

TEST_F(ChangedPartsTest, PartialOperandsAreChangesToo) {
  EXPECT_THAT(PartsOf({"c"}, "d"), ElementsAre("cd"));
  EXPECT_THAT(PartsOf({}), IsEmpty());
}

}  // namespace
}  // namespace toroid
