// BUILD: size = "small"
// Programs that are changed where they stand: what uses what, in which order, and that they still compute the same.
#include "hlo/ir/edit.h"

#include <string>

#include "gmock/gmock.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<Module> Program(absl::string_view text) {
  auto module = ParseModule(text);
  EXPECT_OK(module.status());
  return *std::move(module);
}

std::vector<std::string> Names(const Computation& computation) {
  std::vector<std::string> names;
  for (const auto& instruction : computation.instructions()) names.push_back(instruction->name());
  return names;
}

const char kChain[] = R"(
ENTRY main {
  x = f32[4] parameter(0)
  y = f32[4] negate(x)
  z = f32[4] add(x, y), control-predecessors={y}
  ROOT r = (f32[4], f32[4]) tuple(y, z)
})";

TEST(EditTest, AnInstructionInBetweenStandsBehindItsOperandAndBeforeItsUsers) {
  const auto module = Program(kChain);
  Computation* entry = module->entry();
  Instruction* y = entry->instruction(1);
  Instruction* copy = entry->Add(Opcode::kCopy, y->shape(), {y}, "copy");
  ReplaceUses(y, copy);
  ASSERT_OK(SortInstructions(entry));
  EXPECT_THAT(Names(*entry), ElementsAre("x", "y", "copy", "z", "r"));
  EXPECT_EQ(copy->operand(0), y);
  EXPECT_EQ(entry->instruction(3)->operand(1), copy);
  EXPECT_EQ(entry->instruction(3)->control_predecessors()[0], copy);
  EXPECT_EQ(entry->root()->operand(0), copy);
  EXPECT_OK(VerifyModule(*module));
}

TEST(EditTest, TheRootIsReplacedToo) {
  const auto module = Program("ENTRY main { x = f32[4] parameter(0) ROOT y = f32[4] negate(x) }");
  Computation* entry = module->entry();
  Instruction* copy = entry->Add(Opcode::kCopy, entry->root()->shape(), {entry->root()}, "copy");
  ReplaceUses(entry->instruction(1), copy);
  EXPECT_EQ(entry->root(), copy);
}

TEST(EditTest, ManyAreReplacedAtOnceAndNotOneAfterTheOther) {
  const auto module = Program(R"(
ENTRY main {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  ROOT r = (f32[4], f32[4]) tuple(a, b)
})");
  Computation* entry = module->entry();
  const std::vector<Instruction*> swapped = {entry->instruction(1), entry->instruction(0)};
  ReplaceUses(entry, swapped);
  EXPECT_THAT(entry->root()->operands(), ElementsAre(entry->instruction(1), entry->instruction(0)));
}

TEST(EditTest, SortingLeavesAnOrderThatHolds) {
  const auto module = Program(kChain);
  ASSERT_OK(SortInstructions(module->entry()));
  EXPECT_THAT(Names(*module->entry()), ElementsAre("x", "y", "z", "r"));
}

TEST(EditTest, ACircleIsAnErrorThatNamesIt) {
  const auto module = Program(kChain);
  module->entry()->instruction(1)->set_operand(0, module->entry()->instruction(2));
  EXPECT_THAT(SortInstructions(module->entry()),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("main/y: uses itself")));
}

TEST(EditTest, ACloneTakesArgumentsInThePlaceOfParameters) {
  const auto module = Program(kChain);
  const Computation& from = *module->entry();
  Computation* to = module->AddComputation("copy");
  Instruction* argument = to->AddParameter(from.parameter(0)->shape(), "p");
  Instruction* twice = to->Add(Opcode::kAdd, argument->shape(), {argument, argument}, "twice");
  const std::vector<Instruction*> map = CloneInstructions(from, {twice}, to);
  to->set_root(map[from.root()->index()]);
  EXPECT_THAT(Names(*to), ElementsAre("p", "twice", "y", "z", "r"));
  EXPECT_EQ(map[0], twice);
  EXPECT_EQ(map[2]->operand(0), twice);
  EXPECT_EQ(map[2]->control_predecessors()[0], map[1]);
  EXPECT_OK(VerifyModule(*module));
}

TEST(EditTest, PathsNameTheComputation) {
  const auto module = Program(kChain);
  EXPECT_EQ(module->entry()->instruction(1)->Path(), "main/y");
  module->entry()->instruction(1)->set_name("");
  EXPECT_EQ(module->entry()->instruction(1)->Path(), "main/negate");
}

}  // namespace
}  // namespace toroid
