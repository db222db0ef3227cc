// Ops that the pass moves to just behind their operands, and ops that stay.
#include "simulator/compiler/memory/early_uses_pass.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "simulator/memory/temporaries.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

constexpr char kHead[] = R"(HloModule step, input_output_alias={ {0}: (1, {}), {1}: (2, {}), {2}: (3, {}) }

a {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q)
}

update {
  w = f32[256,256] parameter(0)
  g = f32[256,256] parameter(1)
  n = f32[] parameter(2)
  b = f32[256,256] broadcast(n), dimensions={}
  s = f32[256,256] multiply(g, b)
  ROOT u = f32[256,256] subtract(w, s)
}

ENTRY main {
  x = f32[256,256] parameter(0)
  w1 = f32[256,256] parameter(1)
  w2 = f32[256,256] parameter(2)
  w3 = f32[256,256] parameter(3)
  zero = f32[] constant(0)
  g1 = f32[256,256] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  d1 = f32[256,256] dot(x, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  g2 = f32[256,256] dot(x, d1), lhs_contracting_dims={0}, rhs_contracting_dims={0}
)";

// Gradients first, then norms and updates, as gradients of a whole model come.
constexpr char kTail[] = R"(
  n1 = f32[] reduce(g1, zero), dimensions={0,1}, to_apply=a
  n2 = f32[] reduce(g2, zero), dimensions={0,1}, to_apply=a
  n3 = f32[] reduce(g3, zero), dimensions={0,1}, to_apply=a
  u1 = f32[256,256] fusion(w1, g1, n1), kind=kLoop, calls=update
  u2 = f32[256,256] fusion(w2, g2, n2), kind=kLoop, calls=update
  u3 = f32[256,256] fusion(w3, g3, n3), kind=kLoop, calls=update
  ROOT r = (f32[256,256], f32[256,256], f32[256,256]) tuple(u1, u2, u3)
})";

int At(const Module& module, const std::string& name) {
  for (const auto& op : module.entry()->instructions()) {
    if (op->name() == name) return op->index();
  }
  ADD_FAILURE() << "no " << name;
  return -1;
}

TEST(EarlyUsesPassTest, UpdatesFreeGradientsBeforeOthersAreMade) {
  const std::string text = absl::StrCat(
      kHead, "  d2 = f32[256,256] dot(d1, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n",
      "  g3 = f32[256,256] dot(x, d2), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n", kTail);
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> module, ParseModule(text));
  const int64_t before = ComputeMemoryNeeds(*module).temporary;
  ASSERT_OK_AND_ASSIGN(const bool changed, EarlyUsesPass(Tiling()).Run(&module));
  EXPECT_TRUE(changed);
  EXPECT_LT(ComputeMemoryNeeds(*module).temporary, before);
  EXPECT_LT(At(*module, "n1"), At(*module, "g2"));
  // w1 is read for d1, w2 for d2: what is written in their place comes later.
  EXPECT_LT(At(*module, "d1"), At(*module, "u1"));
  EXPECT_LT(At(*module, "d2"), At(*module, "u2"));
  EXPECT_LT(At(*module, "u2"), At(*module, "g3"));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Module> given, ParseModule(text));
  std::vector<std::vector<Literal>> arguments;
  for (const Instruction* parameter : given->entry()->parameters()) {
    Literal literal(parameter->shape());
    int i = 0;
    for (float& value : literal.mutable_data<float>()) value = static_cast<float>((i++ * 7) % 11 - 5) * 0.01f;
    arguments.push_back({std::move(literal)});
  }
  ASSERT_OK_AND_ASSIGN(const std::vector<Literal> expected, RunOnDevices(*given, arguments, 1));
  EXPECT_THAT(RunOnDevices(*module, arguments, 1), IsOkAndHolds(expected));
}

// All three products are alive at once whatever comes first.
TEST(EarlyUsesPassTest, AnOrderThatSavesNothingIsLeft) {
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> module, ParseModule(R"(ENTRY main {
  x = f32[256,256] parameter(0)
  g = f32[256,256] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  h = f32[256,256] dot(g, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[256,256] tanh(x)
  k = f32[256,256] dot(h, g), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT s = f32[256,256] add(k, t)
})"));
  const std::string text = PrintModule(*module);
  ASSERT_OK_AND_ASSIGN(const bool changed, EarlyUsesPass(Tiling()).Run(&module));
  EXPECT_FALSE(changed);
  EXPECT_EQ(PrintModule(*module), text);
}

}  // namespace
}  // namespace toroid
