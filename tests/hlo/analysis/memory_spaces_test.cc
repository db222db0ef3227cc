// BUILD: size = "small"
#include "hlo/analysis/memory_spaces.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "hlo/analysis/peak_memory.h"
#include "tests/runtime/evaluate.h"

namespace toroid {
namespace {

struct Counted {
  int64_t device, host, to_host, to_device;
};

Counted Count(const std::string& body, const std::string& computations = "") {
  const std::unique_ptr<Module> module = MakeModule(body, computations);
  const HostTraffic traffic = ComputeHostTraffic(*module, MemorySpaces(*module));
  return {ComputePeakMemory(*module).bytes, ComputeHostPeakMemory(*module).bytes, traffic.to_host,
          traffic.to_device};
}

TEST(MemorySpacesTest, ArraysOfTheHostAreNotTheDevices) {
  // The slice is read where it lies; the move makes an array of the device.
  const Counted counted = Count(
      "s = f32[16,100]{1,0:S(5)} parameter(0) i = s32[] parameter(1) z = s32[] constant(0) "
      "d = f32[1,100]{1,0:S(5)} dynamic-slice(s, i, z), dynamic_slice_sizes={1,100} "
      "h = f32[1,100] custom-call(d), custom_call_target=\"MoveToDevice\" ROOT y = f32[1,100] sine(h)");
  EXPECT_EQ(counted.host, 16 * 400);
  EXPECT_EQ(counted.device, 400 + 4);  // y in the place of h, and i.
  EXPECT_EQ(counted.to_device, 400);
  EXPECT_EQ(counted.to_host, 0);
}

TEST(MemorySpacesTest, MovesToTheHostMakeArraysThere) {
  const std::string x = "x = f32[100] parameter(0) s = f32[100] sine(x) ";
  for (const char* move : {"h = f32[100] custom-call(s), custom_call_target=\"MoveToHost\" ",
                           "h = f32[100] custom-call(s), custom_call_target=\"annotate_device_placement\", "
                           "frontend_attributes={_xla_buffer_placement=\"pinned_host\"} "}) {
    const Counted counted = Count(x + move + "ROOT t = (f32[100]) tuple(h)");
    EXPECT_EQ(counted.host, 400) << move;
    EXPECT_EQ(counted.device, 800) << move;
    EXPECT_EQ(counted.to_host, 400) << move;
  }
}

TEST(MemorySpacesTest, StatesOfLoopsStayWhereTheyAre) {
  const Counted counted = Count(
      "a = f32[4,100]{1,0:S(5)} parameter(0) n = s32[] constant(0) "
      "t = (s32[], f32[4,100]{1,0:S(5)}) tuple(n, a) "
      "w = (s32[], f32[4,100]{1,0:S(5)}) while(t), condition=more, body=step "
      "ROOT r = f32[4,100]{1,0:S(5)} get-tuple-element(w), index=1",
      "step { p = (s32[], f32[4,100]{1,0:S(5)}) parameter(0) i = s32[] get-tuple-element(p), index=0 "
      "a = f32[4,100]{1,0:S(5)} get-tuple-element(p), index=1 one = s32[] constant(1) "
      "j = s32[] add(i, one) ROOT o = (s32[], f32[4,100]{1,0:S(5)}) tuple(j, a) }\n"
      "more { p = (s32[], f32[4,100]{1,0:S(5)}) parameter(0) i = s32[] get-tuple-element(p), index=0 "
      "n = s32[] constant(4) ROOT c = pred[] compare(i, n), direction=LT }\n");
  EXPECT_LT(counted.device, 100);
  EXPECT_GE(counted.host, 1600);
}

TEST(MemorySpacesTest, ProgramsThatNameNoHostHaveNone) {
  const std::unique_ptr<Module> module = MakeModule("x = f32[4] parameter(0) ROOT y = f32[4] sine(x)");
  EXPECT_FALSE(MemorySpaces(*module).any_on_host());
  EXPECT_EQ(ComputeHostPeakMemory(*module).bytes, 0);
}

}  // namespace
}  // namespace toroid
