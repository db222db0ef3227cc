// Which values are rematerialized, and when; programs compute the same results as before.
#include "simulator/compiler/memory/rematerialization_pass.h"

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "examples/moe/training_step.h"
#include "gtest/gtest.h"
#include "hlo/analysis/buffers.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "runtime/engine/executor.h"
#include "simulator/compiler/lower.h"
#include "simulator/compiler/memory/depth_first_order.h"
#include "simulator/machines/tpu_v3_core.h"
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
  ASSERT_OK_AND_ASSIGN(const bool changed,
                       RematerializationPass(before.All() - (1 << 20), 0, Tiling()).Run(&module));
  EXPECT_TRUE(changed);
  EXPECT_EQ(Count(*module, Opcode::kDot), dots + 1);
  EXPECT_LE(ComputeMemoryNeeds(*module).All(), before.All() - (1 << 20));
}

TEST(RematerializationPassTest, ProgramsThatFitStayAsTheyAre) {
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> module, ParseModule(kIdle));
  const std::string text = PrintModule(*module);
  const int64_t enough = ComputeMemoryNeeds(*module).All() + (1 << 20);
  ASSERT_OK_AND_ASSIGN(const bool changed, RematerializationPass(enough, 0, Tiling()).Run(&module));
  EXPECT_FALSE(changed);
  EXPECT_EQ(PrintModule(*module), text);
}

TEST(RematerializationPassTest, ProgramsThatNeverFitEnd) {
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> module, ParseModule(kIdle));
  const int64_t before = ComputeMemoryNeeds(*module).All();
  const int instructions = module->entry()->size();
  ASSERT_OK(RematerializationPass(1, 0, Tiling()).Run(&module).status());
  ASSERT_OK(RematerializationPass(1, 0, Tiling()).Run(&module).status());
  EXPECT_OK(VerifyModule(*module));
  EXPECT_LT(ComputeMemoryNeeds(*module).All(), before);
  EXPECT_LE(module->entry()->size(), 2 * instructions);
}

TEST(RematerializationPassTest, WhatOthersWaitForStaysWhereItIs) {
  const std::string waits = absl::StrReplaceAll(
      kIdle,
      {{"rhs_contracting_dims={0}\n  s =", "rhs_contracting_dims={0}, control-predecessors={h}\n  s ="}});
  ASSERT_NE(waits, kIdle);
  const auto is_repeated = [](const std::string& text) {
    auto module = ParseModule(text);
    EXPECT_OK(module.status());
    EXPECT_OK(RematerializationPass(1, 0, Tiling()).Run(&*module).status());
    EXPECT_OK(VerifyModule(**module));
    for (const auto& op : (*module)->entry()->instructions()) {
      if (op->name() == absl::StrCat("h", kRematerializedSuffix)) return true;
    }
    return false;
  };
  EXPECT_TRUE(is_repeated(kIdle));
  EXPECT_FALSE(is_repeated(waits));
}

TEST(RematerializationPassTest, SmallValuesAreLeftAlone) {
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> module, ParseModule(kIdle));
  const int dots = Count(*module, Opcode::kDot);
  ASSERT_OK(RematerializationPass(1, 10 << 20, Tiling()).Run(&module).status());
  EXPECT_EQ(Count(*module, Opcode::kDot), dots);
}

// Weights from -0.5 to 0.5, tokens 0, 1, 2, ...
std::vector<Literal> ArgumentsOf(const Module& module) {
  std::vector<Literal> arguments;
  for (const Instruction* parameter : module.entry()->parameters()) {
    Literal literal(parameter->shape());
    if (parameter->shape().element_type() == xla::F32) {
      int i = static_cast<int>(arguments.size());
      for (float& x : literal.mutable_data<float>()) x = static_cast<float>(++i * 37 % 101) / 101 - 0.5f;
      // Averages of squares.
      const bool is_slot = absl::EndsWith(parameter->name(), ".row") ||
                           absl::EndsWith(parameter->name(), ".column") ||
                           absl::EndsWith(parameter->name(), ".square");
      if (is_slot) {
        for (float& x : literal.mutable_data<float>()) x = std::abs(x) + 0.1f;
      }
    } else if (parameter->shape().element_type() == xla::S32) {
      int i = 0;
      for (int32_t& x : literal.mutable_data<int32_t>()) x = i++ % 4;
    }
    arguments.push_back(std::move(literal));
  }
  return arguments;
}

// h of the module above as one of two results of a group, which is read with a dimension of one element more.
constexpr char kReshaped[] = R"(HloModule m
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
group {
  p = f32[1024,128] parameter(0)
  q = f32[128,1024] parameter(1)
  zero = f32[] constant(0)
  d = f32[1024,1024] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[1024] reduce(d, zero), dimensions={1}, to_apply=sum
  ROOT t = (f32[1024,1024], f32[1024]) tuple(d, s)
}
ENTRY main {
  x = f32[1024,128] parameter(0)
  w = f32[128,1024] parameter(1)
  v = f32[128,2048] parameter(2)
  f = (f32[1024,1024], f32[1024]) fusion(x, w), kind=kOutput, calls=group
  h0 = f32[1024,1024] get-tuple-element(f), index=0
  h = f32[1,1024,1024] reshape(h0)
  y = f32[1,1024,128] dot(h, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  y1 = f32[1024,128] reshape(y)
  big = f32[1024,2048] dot(y1, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[1024,128] dot(big, v), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  z = f32[1,1024,128] dot(h, s), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  z1 = f32[1024,128] reshape(z)
  g = f32[128,128] dot(x, z1), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  g2 = f32[128,128] dot(w, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT r = f32[128,128] add(g, g2)
})";

int Repeated(const Module& module) {
  int count = 0;
  for (const auto& op : module.entry()->instructions())
    count += absl::EndsWith(op->name(), kRematerializedSuffix);
  return count;
}

TEST(RematerializationPassTest, ReshapesOfWhatIsMadeAgainAreRepeated) {
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> module, ParseModule(kReshaped));
  const std::vector<Literal> arguments = ArgumentsOf(*module);
  ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*module, arguments));
  ASSERT_OK(RematerializationPass(ComputeMemoryNeeds(*module).All() - (1 << 20), 0, Tiling())
                .Run(&module)
                .status());
  EXPECT_OK(VerifyModule(*module));
  EXPECT_EQ(Repeated(*module), 3);  // f, h0 and h.
  ASSERT_OK_AND_ASSIGN(const Literal actual, RunSingle(*module, arguments));
  EXPECT_TRUE(actual == expected);
}

TEST(RematerializationPassTest, TrainingStepsComputeWhatTheyDid) {
  ASSERT_OK_AND_ASSIGN(const TrainingStep training, BuildTrainingStep(TinyConfig(), TrainingOptions()));
  const std::vector<Literal> arguments = ArgumentsOf(*training.module);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Module> lowered, Lower(*training.module, TpuV3Core()));
  ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*lowered, arguments));
  const MemoryNeeds needs = ComputeMemoryNeeds(*lowered);
  int last = 0;
  for (const int percent : {20, 10, 5, 0}) {
    SCOPED_TRACE(percent);
    ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> module, Lower(*training.module, TpuV3Core()));
    ASSERT_OK_AND_ASSIGN(
        const bool changed,
        RematerializationPass(needs.All() - needs.temporary * (100 - percent) / 100, 0, Tiling())
            .Run(&module));
    EXPECT_TRUE(changed);
    EXPECT_OK(VerifyModule(*module));
    last = Repeated(*module);
    ASSERT_OK_AND_ASSIGN(const Literal actual, RunSingle(*module, arguments));
    EXPECT_TRUE(actual == expected);
  }
  EXPECT_GT(last, 50);
}

// Forward through b1 .. b3, backward through their gradients; updates of weights at once, and all wait for the last in
// depth-first order.
TEST(RematerializationPassTest, OrdersWithMoreAliveAreNotTaken) {
  std::string text = "HloModule chain ENTRY main { x0 = f32[1024,1024] parameter(0)\n";
  const int n = 8;
  for (int i = 0; i < n; ++i) absl::StrAppend(&text, "w", i, " = f32[1024,1024] parameter(", i + 1, ")\n");
  const char* dims = ", lhs_contracting_dims={1}, rhs_contracting_dims={0}\n";
  for (int i = 0; i < n; ++i)
    absl::StrAppend(&text, "x", i + 1, " = f32[1024,1024] dot(x", i, ", w", i, ")", dims);
  absl::StrAppend(&text, "d", n, " = f32[1024,1024] negate(x", n, ")\n");
  for (int i = n - 1; i >= 0; --i) {
    absl::StrAppend(&text, "g", i, " = f32[1024,1024] dot(x", i, ", d", i + 1,
                    "), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n");
    absl::StrAppend(&text, "s", i, " = f32[] reduce(g", i, ", zero), dimensions={0,1}, to_apply=sum\n");
    absl::StrAppend(&text, "d", i, " = f32[1024,1024] dot(d", i + 1, ", w", i,
                    "), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n");
  }
  absl::StrAppend(&text, "e = f32[] reduce(d0, zero), dimensions={0,1}, to_apply=sum\n ROOT r = (f32[]");
  for (int i = 0; i < n; ++i) absl::StrAppend(&text, ", f32[]");
  absl::StrAppend(&text, ") tuple(e");
  for (int i = 0; i < n; ++i) absl::StrAppend(&text, ", s", i);
  absl::StrAppend(&text, ") }");
  text = absl::StrReplaceAll(
      text,
      {{"ENTRY main {",
        "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) } ENTRY main { zero = f32[] constant(0)"}});
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> module, ParseModule(text));
  const MemoryNeeds needs = ComputeMemoryNeeds(*module);
  ASSERT_OK(RematerializationPass(needs.All() - (8 << 20), 0, Tiling()).Run(&module).status());
  EXPECT_LE(ComputeMemoryNeeds(*module).All(), needs.All() - (8 << 20));
}

// d reads a, the longest way; b and c are read by none but the result.
TEST(DepthFirstOrderTest, WhatHasMoreReadersBehindItStandsFirst) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Module> module, ParseModule(R"(ENTRY main {
    x = f32[8,8] parameter(0)
    b = f32[8,8] negate(x)
    a = f32[8,8] exponential(x)
    c = f32[8,8] tanh(x)
    d = f32[8,8] add(a, a)
    e = f32[8,8] multiply(a, d)
    ROOT r = (f32[8,8], f32[8,8], f32[8,8]) tuple(b, c, e) })"));
  std::string order;
  for (const Instruction* op : DepthFirstOrder(*module->entry(), Buffers(*module->entry())))
    order += op->name();
  EXPECT_EQ(order, "xadebcr");
}

TEST(DepthFirstOrderTest, WhatIsWrittenIntoADonatedArgumentWaitsForItsReaders) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Module> module,
                       ParseModule(R"(HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }
  ENTRY main {
    w = f32[8,8] parameter(0)
    y = f32[8,8] exponential(w)
    u = f32[8,8] negate(w)
    ROOT r = (f32[8,8], f32[8,8]) tuple(u, y) })"));
  std::string order;
  for (const Instruction* op : DepthFirstOrder(*module->entry(), Buffers(*module->entry())))
    order += op->name();
  EXPECT_EQ(order, "wyur");
}

}  // namespace
}  // namespace toroid
