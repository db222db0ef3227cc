// BUILD: size = "small"
// Times of groups by the roofline of a core.
#include "simulator/simple/simple_core.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "simulator/machines/machine.h"
#include "simulator/simple/lower_simply.h"
#include "simulator/stages/simulate.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// Half the units of a v5e, and numbers that are easy to divide by.
CoreSpec Core() {
  CoreSpec core;
  core.set_memory_bytes(1 << 30);
  core.set_clock_hertz(1e9);
  core.mutable_matrix()->set_units(2);
  core.mutable_matrix()->set_tile(128);
  core.mutable_vector()->set_lanes(128);
  core.mutable_vector()->set_sublanes(8);
  core.mutable_vector()->set_slots(4);
  core.mutable_vector()->mutable_slots_of()->set_exponential(2);
  core.mutable_memory()->set_bytes_per_second(1e12);
  core.mutable_memory()->set_stream_efficiency(0.5);
  core.mutable_simple()->set_product_efficiency(0.5);
  return core;
}

GroupTime RootTime(const std::string& body, const CoreSpec& core = Core()) {
  const std::unique_ptr<Module> module = MakeModule(body);
  const auto lowered = LowerSimply(*module, core);
  EXPECT_OK(lowered.status());
  SimpleCore model(core);
  return model.TimeOf(*(*lowered)->entry()->root());
}

TEST(SimpleCoreTest, ProductsByFlops) {
  const GroupTime time = RootTime(R"(
    x = bf16[1024,1024] parameter(0)
    ROOT y = bf16[1024,1024] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
)");
  // 2 x 1024^3 flops at 2 x 128^2 x 2 x 1 GHz, half of it: 65.5 us.
  EXPECT_EQ(time.picoseconds, 65'536'000);
  EXPECT_EQ(time.bound, Bound::kMatrix);
  EXPECT_EQ(time.flops, 2.0 * 1024 * 1024 * 1024);
}

// As TPU compilers write bf16[6,2048,4096] x [4096,64,128], its gradient's sums over 64 and over 6, and a batch of 6.
TEST(SimpleCoreTest, ProductsWrittenAsConvolutionsCountAsProducts) {
  const struct {
    const char* body;
    double flops;
  } cases[] = {
      {R"(
    x = bf16[6,2048,1,4096] parameter(0)
    w = bf16[1,64,128,4096] parameter(1)
    ROOT y = bf16[6,2048,64,128] convolution(x, w), window={size=1x64 pad=0_0x63_63 rhs_reversal=0x1}, dim_labels=0b1f_01oi->0b1f
)",
       2.0 * 6 * 2048 * 4096 * 64 * 128},
      {R"(
    x = bf16[6,2048,64,128] parameter(0)
    w = bf16[1,64,128,4096] parameter(1)
    ROOT y = bf16[6,2048,1,4096] convolution(x, w), window={size=1x64}, dim_labels=0b1f_01io->0b1f
)",
       2.0 * 6 * 2048 * 4096 * 64 * 128},
      {R"(
    x = bf16[6,4096,2048] parameter(0)
    w = bf16[6,2048,512] parameter(1)
    ROOT y = bf16[1,4096,512] convolution(x, w), window={size=6}, dim_labels=0bf_0io->0bf
)",
       2.0 * 6 * 4096 * 2048 * 512},
      {R"(
    x = bf16[6,256,128] parameter(0)
    w = bf16[6,128,512] parameter(1)
    ROOT y = bf16[6,256,512] convolution(x, w), window={size=6 stride=5 lhs_dilate=6}, dim_labels=0bf_0io->0bf
)",
       2.0 * 6 * 256 * 128 * 512},
  };
  for (const auto& written : cases) {
    SCOPED_TRACE(written.body);
    EXPECT_EQ(RootTime(written.body).flops, written.flops);
  }
}

TEST(SimpleCoreTest, EightBitsPassFasterWhereTheMachineSaysSo) {
  const auto product = [](const char* a, const char* b, const CoreSpec& core) {
    const GroupTime time =
        RootTime(absl::StrCat("x = ", a, "[1024,1024] parameter(0)\ny = ", b, R"([1024,1024] parameter(1)
      ROOT z = bf16[1024,1024] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})"),
                 core);
    EXPECT_LE(time.roofline_picoseconds, time.picoseconds);
    return time.picoseconds;
  };
  CoreSpec fast = Core();
  fast.mutable_matrix()->set_float8_times(2);
  fast.mutable_matrix()->set_int8_times(4);
  EXPECT_EQ(product("f8e4m3fn", "f8e5m2", Core()), 65'536'000);
  EXPECT_EQ(product("f8e4m3fn", "f8e5m2", fast), 32'768'000);
  EXPECT_EQ(product("f8e4m3fn", "bf16", fast), 65'536'000) << "both have to be narrow";
  EXPECT_EQ(product("s8", "u8", fast), 16'384'000);
  EXPECT_EQ(product("bf16", "bf16", fast), 65'536'000);
}

TEST(SimpleCoreTest, SizesArePaddedToTiles) {
  // 130 columns take two tiles, 1,000 rows of what is contracted eight; rows go eight by eight.
  const GroupTime time = RootTime(R"(
    x = bf16[1001,1000] parameter(0)
    w = bf16[1000,130] parameter(1)
    ROOT y = bf16[1001,130] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
)");
  // Tiles of w, past which 1,008 rows go, against tiles of x, past which 136 go.
  const double padded = 2.0 * 1024 * std::min(1008 * 256, 136 * 1024);
  EXPECT_NEAR(static_cast<double>(time.picoseconds), padded / (2 * 2 * 128 * 128 * 1e9 * 0.5) * 1e12, 2);
}

TEST(SimpleCoreTest, ElementwiseGroupsByBytesOfPaddedArrays) {
  const GroupTime time = RootTime(R"(
    x = f32[4100,60] parameter(0)
    ROOT y = f32[4100,60] negate(x)
)");
  // 4100 along 33 x 128 lanes, 60 of 64 rows: less than 60 of 128 lanes. As much in as out, at 0.5 TB/s.
  EXPECT_NEAR(static_cast<double>(time.picoseconds), 2 * 64 * 4224 * 4 / 0.5e12 * 1e12, 2);
  EXPECT_EQ(time.bound, Bound::kMemory);
}

TEST(SimpleCoreTest, ManyInstructionsByTheVectorUnit) {
  std::string body = "x = f32[8,128] parameter(0)\n v0 = f32[8,128] exponential(x)\n";
  for (int i = 1; i < 100; ++i) absl::StrAppend(&body, "v", i, " = f32[8,128] exponential(v", i - 1, ")\n");
  absl::StrAppend(&body, "ROOT y = f32[8,128] negate(v99)\n");
  const GroupTime time = RootTime(body);
  // One register, 201 slots, four a cycle.
  EXPECT_NEAR(static_cast<double>(time.picoseconds), 201 / 4.0 * 1000, 2);
  EXPECT_EQ(time.bound, Bound::kVector);
}

// A causal mask of 4 x 4 blocks: 10 are computed. [batch, heads, queries, depth].
std::string Attention(const std::string& mask,
                      const std::string& name = "splash_mha_fwd_segmented_residuals") {
  return absl::StrCat(R"(
    next = s8[1,4,4] constant({ { { 0, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 1, 2, 0 }, { 0, 1, 2, 3 } } })
    mask = s8[1,4,4] constant()",
                      mask, R"()
    q = bf16[2,3,2048,128] parameter(0)
    k = bf16[2,3,2048,128] parameter(1)
    ROOT a = bf16[2,3,2048,128] custom-call(next, mask, q, k, k), custom_call_target="tpu_custom_call", metadata={op_name="jit(f)/)",
                      name, R"(/pallas_call"}
)");
}
constexpr char kCausal[] = "{ { { 1, 0, 0, 0 }, { 2, 1, 0, 0 }, { 2, 2, 1, 0 }, { 2, 2, 2, 1 } } }";
constexpr char kWhole[] = "{ { { 2, 2, 2, 2 }, { 2, 2, 2, 2 }, { 2, 2, 2, 2 }, { 2, 2, 2, 2 } } }";

TEST(SimpleCoreTest, AttentionKernelsByTheBlocksThatAreComputed) {
  const GroupTime causal = RootTime(Attention(kCausal)), whole = RootTime(Attention(kWhole));
  // Two products of [512,512] by 128 each.
  EXPECT_EQ(causal.flops, 6.0 * 10 * 2 * 2 * 512 * 512 * 128);
  EXPECT_EQ(whole.flops, 1.6 * causal.flops);
  EXPECT_EQ(causal.kernel_cost, KernelCostSource::kModel);
  // With half of a v5e's units products take 2,048 cycles a block, more than the 1,229 bundles beside them.
  EXPECT_NEAR(static_cast<double>(causal.picoseconds), 6 * (10 * (2048 + 110) + 4 * 506) * 1e3, 2);
  EXPECT_EQ(causal.bound, Bound::kMatrix);
}

// Masks of heads that are on several devices: each cuts its own.
TEST(SimpleCoreTest, AMaskMayBeCutFromAConstant) {
  const GroupTime time = RootTime(R"(
    next = s8[1,2,2] constant({ { { 0, 0 }, { 0, 1 } } })
    masks = s8[2,2,2] constant({ { { 1, 0 }, { 2, 1 } }, { { 1, 0 }, { 2, 1 } } })
    me = u32[] partition-id()
    zero = u32[] constant(0)
    mask = s8[1,2,2] dynamic-slice(masks, me, zero, zero), dynamic_slice_sizes={1,2,2}
    q = bf16[1,1,1024,128] parameter(0)
    ROOT a = bf16[1,1,1024,128] custom-call(next, mask, q, q, q), custom_call_target="tpu_custom_call", metadata={op_name="splash_mha_fwd"}
)");
  EXPECT_EQ(time.kernel_cost, KernelCostSource::kModel);
  EXPECT_EQ(time.flops, 3.0 * 2 * 2 * 512 * 512 * 128);
}

TEST(SimpleCoreTest, OfAnUnknownKernelTheBytesCount) {
  const GroupTime time = RootTime(Attention(kCausal, "my_kernel"));
  EXPECT_EQ(time.kernel_cost, KernelCostSource::kBytes);
  EXPECT_EQ(time.bound, Bound::kMemory);
}

// A v5e hides gathers and waits for reductions.
TEST(SimpleCoreTest, MachinesSayWhichCollectivesAreHidden) {
  const std::string text = R"(HloModule m, num_partitions=16
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = bf16[8192,8192] parameter(0)
  w = bf16[512,8192] parameter(1)
  g = bf16[8192,8192] all-gather(w), channel_id=1, use_global_device_ids=true, dimensions={0}, replica_groups=[1,16]<=[16]
  h = bf16[8192,8192] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  y = bf16[8192,8192] dot(h, g), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (bf16[8192,8192], bf16[8192,8192]) tuple(h, y) })";
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Module> module, ParseModule(text));
  SimulationOptions options;
  ASSERT_OK_AND_ASSIGN(options.machine, LoadMachine("tpu-v5e-16"));
  ASSERT_OK_AND_ASSIGN(const Simulation hidden, Simulate(*module, options));
  EXPECT_EQ(hidden.prediction.communication_share, 0);
  options.machine.family.mutable_network()->clear_asynchronous();
  ASSERT_OK_AND_ASSIGN(const Simulation waits, Simulate(*module, options));
  EXPECT_GT(waits.prediction.communication_share, 0.05);
  EXPECT_GT(waits.prediction.step_ps, hidden.prediction.step_ps);
}

}  // namespace
}  // namespace toroid
