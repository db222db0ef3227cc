// Rules of the groups around cumulative sums, each on a small program.
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "simulator/program/tiling.h"
#include "tests/simulator/compiler/lowered_programs.h"

namespace toroid {
namespace {

// The first running fold in what the module became.
const Instruction* FirstFold(const Module& module) {
  for (const auto& computation : module.computations()) {
    for (const auto& op : computation->instructions()) {
      if (op->opcode() == Opcode::kReduceWindow) return op.get();
    }
  }
  return nullptr;
}

TEST(CumulativeSumRulesTest, MasksThatOthersReadInAnotherOrderAreMadeForEach) {
  // Gates lie with tokens along lanes, sums with experts; as the compiler has it for a MoE layer, no mask is written.
  constexpr char kProgram[] =
      R"( x = f32[2048,1024] parameter(0) w = f32[1024,512] parameter(1) i = s32[2048] parameter(2)
    zero = f32[] constant(0) low = f32[] constant(-1)
    g = f32[2048,512] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    m = f32[2048] reduce(g, low), dimensions={1}, to_apply=max
    of = s32[2048,512] broadcast(i), dimensions={0}
    n = s32[2048,512] iota(), iota_dimension=1
    c = pred[2048,512] compare(of, n), direction=EQ
    lows = f32[2048,512] broadcast(low), dimensions={}
    rest = f32[2048,512] select(c, lows, g)
    second = f32[2048] reduce(rest, low), dimensions={1}, to_apply=max
    y = f32[2048,512] convert(c)
    s = f32[2048,512] reduce-window(y, zero), window={size=2048x1 pad=2047_0x0_0}, to_apply=sum
    z = f32[2048,512] multiply(s, y)
    p = f32[2048] reduce(z, zero), dimensions={1}, to_apply=sum
    ROOT r = (f32[2048], f32[2048], f32[2048]) tuple(m, second, p) )";
  const std::unique_ptr<Module> lowered = Lowered(*Parsed(kProgram));
  for (const auto& op : lowered->entry()->instructions()) {
    EXPECT_NE(op->shape().element_type(), xla::PRED) << op->name();
    EXPECT_NE(op->opcode(), Opcode::kConvert) << op->name();
  }
}

TEST(CumulativeSumRulesTest, WhatIsMadeOfArraysHasTheSameSums) {
  ExpectSameValues(R"( x = f32[256,8] parameter(0) w = f32[256] parameter(1) zero = f32[] constant(0)
    b = f32[256,8] broadcast(w), dimensions={0}
    t = f32[256,8] multiply(x, b)
    ROOT s = f32[256,8] reduce-window(t, zero), window={size=256x1 pad=255_0x0_0}, to_apply=sum )");
}

TEST(CumulativeSumRulesTest, RowsFillRegistersWhereADimensionDoes) {
  // Four blocks of 128 of each of 16 arrays: rows of tiles are arrays, as in the compiler's {1,0,3,2}.
  const std::unique_ptr<Module> lowered =
      Lowered(*Parsed(R"( x = f32[16,512,256] parameter(0) zero = f32[] constant(0)
    ROOT s = f32[16,512,256] reduce-window(x, zero), window={size=1x512x1 pad=0_0x511_0x0_0}, to_apply=sum )"));
  const Instruction* fold = FirstFold(*lowered);
  ASSERT_NE(fold, nullptr);
  const Dims order = PhysicalOrder(fold->shape());
  EXPECT_EQ(fold->shape().dim(order[0]), 256);
  EXPECT_EQ(fold->shape().dim(order[1]), 16);
}

}  // namespace
}  // namespace toroid
