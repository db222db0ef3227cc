// Computations and values for tests of single instructions: an HLO module without its header, up to the place
// of the instruction.
#pragma once

namespace toroid {

inline constexpr char kEnvironment[] = R"(
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
add_s32 { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
ge { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = pred[] compare(a, b), direction=GE }
argmax { a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)
  ROOT t = (f32[], s32[]) tuple(a, i) }
two { a = f32[] parameter(0) b = f32[] parameter(1) ROOT t = (f32[], f32[]) tuple(a, b) }
body { ROOT v = f32[8] parameter(0) }
more { v = f32[8] parameter(0) ROOT t = pred[] constant(true) }
step { a = f32[4] parameter(0) c = f32[] parameter(1) ROOT t = (f32[4], f32[]) tuple(a, c) }
ENTRY main {
  x = f32[8,4] parameter(0)
  y = f32[4,6] parameter(1)
  v = f32[8] parameter(2)
  n = s32[8,4] parameter(3)
  p = pred[8,4] parameter(4)
  c = c64[8,4] parameter(5)
  i = s32[] parameter(6)
  q = pred[] parameter(7)
  s = f32[] parameter(8)
  img = f32[2,9,9,4] parameter(9)
  ker = f32[3,3,4,8] parameter(10)
  b = f32[2,3,4] parameter(11)
  d = f32[2,4,5] parameter(12)
  u = u32[8,4] parameter(13)
  idx = s32[3,1] parameter(14)
  pairs = s32[2,2] parameter(22)
  upd = f32[3,4] parameter(15)
  sizes = s32[2] parameter(16)
  t = (f32[8], s32[]) parameter(17)
  m3 = f32[3,3] parameter(18)
  v4 = f32[4] parameter(19)
  h = bf16[8,4] parameter(20)
  state = u64[2] parameter(21)
  tok = token[] after-all()
)";

}  // namespace toroid
