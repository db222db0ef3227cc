// BUILD: size = "small"
// Edits in place: users and order are right, and programs compute the same.
#include "hlo/ir/edit.h"

#include <string>

#include "gmock/gmock.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ir/replace_instructions.h"
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

TEST(EditTest, AStepSaysWhatBecomesOfEachInstruction) {
  const auto module = Program(kChain);
  const Computation& from = *module->entry();
  Computation* to = module->AddComputation("copy");
  Instruction* x = to->AddParameter(from.parameter(0)->shape(), "x");
  // Without negations.
  ASSERT_OK_AND_ASSIGN(
      const std::vector<Instruction*> map,
      CloneInstructions(from, [&](const Instruction& instruction, std::vector<Instruction*>* operands) {
        if (instruction.opcode() == Opcode::kParameter) return x;
        if (instruction.opcode() == Opcode::kNegate) return operands->front();
        Instruction* clone = to->AddClone(instruction, instruction.shape(), *operands);
        clone->set_name(instruction.name());
        return clone;
      }));
  CloneControlPredecessors(from, map);
  to->set_root(map[from.root()->index()]);
  EXPECT_THAT(Names(*to), ElementsAre("x", "z", "r"));
  EXPECT_THAT(map[2]->operands(), ElementsAre(x, x));
  EXPECT_THAT(map[2]->control_predecessors(), ElementsAre(x));
  EXPECT_OK(VerifyModule(*module));
}

TEST(EditTest, TheFirstErrorOfAStepEndsTheWalk) {
  const auto module = Program(kChain);
  int steps = 0;
  const auto map = CloneInstructions(
      *module->entry(), [&](const Instruction&, std::vector<Instruction*>*) -> absl::StatusOr<Instruction*> {
        if (++steps == 2) return absl::UnimplementedError("no negations");
        return nullptr;
      });
  EXPECT_THAT(map.status(), StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("no negations")));
  EXPECT_EQ(steps, 2);
}

TEST(EditTest, ACopyOfAModulePrintsAlikeAndStandsAlone) {
  const auto module = Program(R"(
HloModule m, input_output_alias={ {}: (1, {}, may-alias) }, num_partitions=2

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  y = f32[] parameter(1), sharding={replicated}
  x = f32[4] parameter(0), metadata={op_name="x" source_file="a.py" source_line=3}
  z = f32[] all-reduce(y), to_apply=add, frontend_attributes={k="v"}
  ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add, control-predecessors={y}
})");
  const auto copy = CloneModule(*module);
  EXPECT_OK(VerifyModule(*copy));
  const std::string text = PrintModule(*module);
  EXPECT_EQ(PrintModule(*copy), text);
  EXPECT_EQ(copy->entry()->parameter(1)->name(), "y");
  EXPECT_EQ(copy->entry()->root()->called(0), copy->computation(0));
  copy->entry()->root()->set_name("changed");
  copy->computation(0)->root()->set_name("changed");
  EXPECT_EQ(PrintModule(*module), text);
}

TEST(EditTest, PathsNameTheComputation) {
  const auto module = Program(kChain);
  EXPECT_EQ(module->entry()->instruction(1)->Path(), "main/y");
  module->entry()->instruction(1)->set_name("");
  EXPECT_EQ(module->entry()->instruction(1)->Path(), "main/negate");
}

// y replaces z, and x replaces w, which y reads.
TEST(EditTest, WhatTakesAPlaceReadsWhatTakesAnother) {
  const auto module = Program(R"(
ENTRY main {
  x = f32[4] parameter(0)
  w = f32[4] copy(x)
  y = f32[4] negate(w)
  z = f32[4] copy(y)
  ROOT r = (f32[4], f32[4]) tuple(z, w)
})");
  Computation* entry = module->entry();
  Instruction *x = entry->instruction(0), *y = entry->instruction(2);
  ASSERT_OK(ReplaceAndDrop(entry, {nullptr, x, nullptr, y, nullptr}));
  EXPECT_THAT(Names(*entry), ElementsAre("x", "y", "r"));
  EXPECT_EQ(y->operand(0), x);
  EXPECT_OK(VerifyModule(*module));
}

}  // namespace
}  // namespace toroid
