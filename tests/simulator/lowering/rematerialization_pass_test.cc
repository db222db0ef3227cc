// What is made a second time, and when.
#include "simulator/lowering/rematerialization_pass.h"

#include <string>

#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "simulator/memory/temporaries.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// h, 4 MiB, lies idle while big, 8 MiB, is there.
constexpr char kIdle[] = R"(ENTRY main {
  x = f32[1024,128] parameter(0)
  w = f32[128,1024] parameter(1)
  q = f32[128,128] parameter(2)
  v = f32[128,2048] parameter(3)
  h = f32[1024,1024] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  y = f32[1024,128] dot(h, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  y2 = f32[1024,128] dot(y, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  big = f32[1024,2048] dot(y2, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[1024,128] dot(big, v), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  z = f32[1024,128] dot(h, s), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  g = f32[128,128] dot(x, z), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  g2 = f32[128,128] dot(w, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT r = f32[128,128] add(g, g2) })";

int Count(const Module& module, Opcode opcode) {
  int count = 0;
  for (const auto& op : module.entry()->instructions()) count += op->opcode() == opcode;
  return count;
}

TEST(RematerializationPassTest, ValuesThatLieIdleAtThePeakAreMadeAgain) {
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> module, ParseModule(kIdle));
  const MemoryNeeds before = ComputeMemoryNeeds(*module);
  const int dots = Count(*module, Opcode::kDot);
  ASSERT_OK_AND_ASSIGN(const bool changed, RematerializationPass(before.All() - (1 << 20), Tiling()).Run(&module));
  EXPECT_TRUE(changed);
  EXPECT_EQ(Count(*module, Opcode::kDot), dots + 1);
  EXPECT_LT(ComputeMemoryNeeds(*module).temporary, before.temporary);
}

TEST(RematerializationPassTest, ProgramsThatFitStayAsTheyAre) {
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> module, ParseModule(kIdle));
  const std::string text = PrintModule(*module);
  ASSERT_OK_AND_ASSIGN(const bool changed, RematerializationPass(ComputeMemoryNeeds(*module).All(), Tiling()).Run(&module));
  EXPECT_FALSE(changed);
  EXPECT_EQ(PrintModule(*module), text);
}

TEST(RematerializationPassTest, ProgramsThatNeverFitEnd) {
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> module, ParseModule(kIdle));
  ASSERT_OK(RematerializationPass(1, Tiling()).Run(&module).status());
  ASSERT_OK(RematerializationPass(1, Tiling()).Run(&module).status());
}

}  // namespace
}  // namespace toroid
