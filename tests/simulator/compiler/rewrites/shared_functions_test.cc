// Functions that are called from one place are simplified with their caller, those called from several are not.
#include "simulator/compiler/rewrites/shared_functions.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "tests/simulator/compiler/lowered_programs.h"
#include "tests/tolerances.h"

namespace toroid {
namespace {

// Squares of what is in 32 groups of 8 features less a mean, summed by group, by calls of one function of so many instructions.
std::string Program(int calls, int instructions) {
  std::string more;
  for (int i = 8; i < instructions; ++i) {
    absl::StrAppend(&more, "  e", i, " = f32[16,32] ", i % 2 == 0 ? "tanh" : "negate", "(",
                    i == 8 ? "v" : absl::StrCat("e", i - 1), ")\n");
  }
  std::string text =
      absl::StrCat(kReducers, R"(
spread {
  y = f32[16,16,16,32,8] parameter(0)
  zero = f32[] constant(0)
  s = f32[16,32] reduce(y, zero), dimensions={1,2,4}, to_apply=sum
  b = f32[16,16,16,32,8] broadcast(s), dimensions={0,3}
  d = f32[16,16,16,32,8] subtract(y, b)
  q = f32[16,16,16,32,8] multiply(d, d)
  v = f32[16,32] reduce(q, zero), dimensions={1,2,4}, to_apply=sum
)",
                   more, "  ROOT o = f32[16,32] exponential(e", instructions - 1, ")\n}\nENTRY main {\n");
  std::string results, types;
  for (int i = 0; i < calls; ++i) {
    absl::StrAppend(&text, "  x", i, " = f32[16,16,16,256] parameter(", i, ")\n  y", i,
                    " = f32[16,16,16,32,8] reshape(x", i, ")\n  v", i, " = f32[16,32] call(y", i,
                    "), to_apply=spread\n");
    absl::StrAppend(&results, i > 0 ? ", v" : "v", i);
    absl::StrAppend(&types, i > 0 ? ", " : "", "f32[16,32]");
  }
  return absl::StrCat(text, "  ROOT t = (", types, ") tuple(", results, ")\n}");
}

TEST(SharedFunctionsTest, LargeFunctionsThatAreCalledTwiceAreNotSimplifiedWithTheirCallers) {
  // As Google's compiler for TPU v3 estimates them.
  const struct {
    int calls, instructions;
    double microseconds;
  } cases[] = {{1, 19, 48.5}, {1, 38, 48.6}, {2, 19, 97.2}, {5, 18, 242.9}, {2, 20, 566.2}};
  for (const auto& c : cases) {
    ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(Program(c.calls, c.instructions)));
    EXPECT_THAT(MicrosecondsOf(*Lowered(*module)), IsWithin(kFivePercent, c.microseconds))
        << c.calls << " calls of " << c.instructions;
  }
}

TEST(SharedFunctionsTest, ValuesStayTheSame) {
  const std::string text = absl::StrCat(kReducers, R"(
pair {
  a = f32[4,6] parameter(0)
  t = (f32[4,6], f32[]) parameter(1)
  b = f32[4,6] get-tuple-element(t), index=0
  c = f32[] get-tuple-element(t), index=1
  s = f32[4,6] broadcast(c), dimensions={}
  d = f32[4,6] multiply(a, s)
  e = f32[4,6] add(d, b)
  ROOT r = (f32[4,6], f32[]) tuple(e, c)
}
ENTRY main {
  x = f32[4,6] parameter(0)
  two = f32[] constant(2)
  t = (f32[4,6], f32[]) tuple(x, two)
  u = (f32[4,6], f32[]) call(x, t), to_apply=pair
  v = (f32[4,6], f32[]) call(x, u), to_apply=pair
  ROOT r = f32[4,6] get-tuple-element(v), index=0
})");
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(text));
  const std::unique_ptr<Module> lowered = Lowered(*module);
  const std::vector<Literal> arguments = {Argument(Shape(xla::F32, {4, 6}), 1)};
  ASSERT_OK_AND_ASSIGN(const Literal before, RunSingle(*module, arguments));
  ASSERT_OK_AND_ASSIGN(const Literal after, RunSingle(*lowered, arguments));
  EXPECT_TRUE(before == after);
  for (const auto& op : lowered->entry()->instructions())
    EXPECT_NE(op->opcode(), Opcode::kOptimizationBarrier);
}

}  // namespace
}  // namespace toroid
