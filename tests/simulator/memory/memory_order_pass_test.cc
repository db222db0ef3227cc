// Orders of a program's ops that need little memory.
#include "simulator/memory/memory_order_pass.h"

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "hlo/analysis/peak_memory.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

constexpr Tiling kTiling{8, 128};

int IndexOf(const Computation& computation, const std::string& name) {
  for (const auto& op : computation.instructions()) {
    if (op->name() == name) return op->index();
  }
  return -1;
}

int64_t PeakOf(const Module& module) {
  const ArraySize size = LeastPaddedSize(kTiling);
  return ComputePeakMemory(module, &size).bytes;
}

std::unique_ptr<Module> Parsed(const std::string& text) {
  auto module = ParseModule(text);
  EXPECT_OK(module.status());
  return *std::move(module);
}

TEST(MemoryOrderPassTest, ALargeArrayDoesNotOutliveALoopThatDoesNotNeedIt) {
  std::unique_ptr<Module> module = Parsed(R"(
body { s = f32[1024,1024] parameter(0)
  a = f32[1024,1024] cosine(s)
  b = f32[1024,1024] dot(a, s), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[1024,1024] add(a, b) }
condition { s = f32[1024,1024] parameter(0)
  ROOT more = pred[] constant(false) }
ENTRY main {
  x = f32[1024,1024] parameter(0)
  y = f32[4096,1024] parameter(1)
  large = f32[4096,1024] dot(y, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  start = f32[1024,1024] reduce-precision(x), exponent_bits=8, mantissa_bits=7
  loop = f32[1024,1024] while(start), condition=condition, body=body
  small = f32[1024,1024] dot(large, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT t = (f32[1024,1024], f32[1024,1024]) tuple(loop, small)
})");
  const int64_t before = PeakOf(*module);
  ASSERT_OK_AND_ASSIGN(const bool changed, MemoryOrderPass(kTiling).Run(&module));
  EXPECT_TRUE(changed);
  EXPECT_OK(VerifyModule(*module));
  // 16 MiB no longer outlive the loop, which needs 8 beside its state.
  EXPECT_LT(PeakOf(*module), before);
  const Computation& entry = *module->entry();
  const int loop = IndexOf(entry, "loop");
  EXPECT_TRUE(IndexOf(entry, "small") < loop || loop < IndexOf(entry, "large"));
}

TEST(MemoryOrderPassTest, AnOrderThatNeedsNoMoreThanOthersStays) {
  std::unique_ptr<Module> module = Parsed(R"(
ENTRY main {
  x = f32[256,256] parameter(0)
  a = f32[256,256] cosine(x)
  b = f32[256,256] dot(a, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT c = f32[256,256] add(a, b)
})");
  ASSERT_OK_AND_ASSIGN(const bool changed, MemoryOrderPass(kTiling).Run(&module));
  EXPECT_FALSE(changed);
}

// State that is updated in place is read before; names of it come along.
TEST(MemoryOrderPassTest, UpdatesInPlaceStayInPlace) {
  std::unique_ptr<Module> module = Parsed(R"(
body { s = (s32[], f32[64,512,512]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  all = f32[64,512,512] get-tuple-element(s), index=1
  zero = s32[] constant(0)
  one = s32[] constant(1)
  row = f32[1,512,512] dynamic-slice(all, i, zero, zero), dynamic_slice_sizes={1,512,512}
  x = f32[512,512] reshape(row)
  p = f32[512,512] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  q = f32[512,512] dot(p, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  back = f32[1,512,512] reshape(q)
  new = f32[64,512,512] dynamic-update-slice(all, back, i, zero, zero)
  next = s32[] add(i, one)
  ROOT t = (s32[], f32[64,512,512]) tuple(next, new) }
condition { s = (s32[], f32[64,512,512]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(64)
  ROOT less = pred[] compare(i, n), direction=LT }
ENTRY main {
  y = f32[64,512,512] parameter(0)
  zero = s32[] constant(0)
  state = (s32[], f32[64,512,512]) tuple(zero, y)
  w = (s32[], f32[64,512,512]) while(state), condition=condition, body=body
  ROOT r = f32[64,512,512] get-tuple-element(w), index=1
})");
  const int64_t before = PeakOf(*module);
  ASSERT_OK(MemoryOrderPass(kTiling).Run(&module).status());
  EXPECT_OK(VerifyModule(*module));
  EXPECT_LE(PeakOf(*module), before);
  EXPECT_LT(PeakOf(*module), int64_t{140} << 20);  // The argument and the state, 64 MiB each, and parts.
}

}  // namespace
}  // namespace toroid
