// BUILD: size = "small"
// Work of single instructions.
#include "hlo/analysis/flops.h"

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "hlo/analysis/module_stats.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

std::unique_ptr<Module> Entry(absl::string_view body) {
  return ParseModule(absl::StrCat("HloModule m\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = "
                                  "f32[] add(a, b) }\n"
                                  "ENTRY e { ",
                                  body, " }"))
      .value();
}

int64_t RootFlops(absl::string_view body) { return Flops(*Entry(body)->entry()->root()); }

TEST(FlopsTest, DotsCountResultTimesContracted) {
  EXPECT_EQ(
      RootFlops("x = f32[64,128] parameter(0) w = f32[128,512] parameter(1) ROOT d = f32[64,512] dot(x, w), "
                "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
      8388608);
  // Batch dimensions are in the result; without contraction it is an outer product.
  EXPECT_EQ(
      RootFlops("x = f32[5,2,3] parameter(0) y = f32[5,3,4] parameter(1) ROOT d = f32[5,2,4] dot(x, y), "
                "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}"),
      2 * 5 * 2 * 4 * 3);
  EXPECT_EQ(RootFlops("x = f32[5] parameter(0) ROOT d = f32[5,5] dot(x, x)"), 50);
  EXPECT_EQ(RootFlops("x = f32[0,3] parameter(0) y = f32[3,4] parameter(1) ROOT d = f32[0,4] dot(x, y), "
                      "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
            0);
}

TEST(FlopsTest, ConvolutionsCountTheKernelPerOutputFeature) {
  EXPECT_EQ(RootFlops("x = f32[2,9,9,4] parameter(0) k = f32[3,3,4,8] parameter(1) ROOT c = f32[2,9,9,8] "
                      "convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"),
            2 * (2 * 9 * 9 * 8) * (3 * 3 * 4));
}

TEST(FlopsTest, OthersCountNothing) {
  EXPECT_EQ(RootFlops("x = f32[8] parameter(0) ROOT y = f32[8] tanh(x)"), 0);
}

TEST(FlopsTest, NonsenseAndHugeShapesAreNoOverflow) {
  EXPECT_EQ(RootFlops("x = f32[2,3] parameter(0) ROOT d = f32[2] dot(x, x), lhs_contracting_dims={7}"), 0);
  EXPECT_EQ(
      RootFlops("x = f32[2] parameter(0) ROOT c = f32[2] convolution(x, x), dim_labels=b01f_01io->b01f"), 0);
  EXPECT_EQ(RootFlops("x = f32[1000000000,1000000] parameter(0) ROOT d = f32[1000000000,1000000] dot(x, x), "
                      "lhs_contracting_dims={0}"),
            std::numeric_limits<int64_t>::max());
}

TEST(FlopsTest, ProductsBeyond64BitsSaturateInValidModules) {
  const auto module = ParseModule(
      "ENTRY e { l = f32[268435456,268435456] parameter(0) a = f32[268435456,268435456] dot(l, l), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={0} ROOT b = f32[268435456,268435456] dot(a, l), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={0} }");
  ASSERT_OK(module.status());
  EXPECT_OK(VerifyModule(**module));
  EXPECT_EQ(Flops(*(*module)->entry()->root()), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(ComputeModuleStats(**module).flops, std::numeric_limits<int64_t>::max());
}

TEST(FlopsTest, BytesAreThoseOfOperandsAndResult) {
  const auto module = Entry(
      "x = f32[8,4] parameter(0) z = f32[] constant(0) r = bf16[8] reduce(x, z), dimensions={1}, "
      "to_apply=add t = (f32[8,4], bf16[8]) tuple(x, r) ROOT s = (f32[8,4], bf16[8]) custom-call(t), "
      "custom_call_target=\"f\"");
  const auto moved = [&](int i) {
    const BytesMoved bytes = MovedBytes(*module->entry()->instruction(i));
    return absl::StrCat(bytes.read, " ", bytes.written);
  };
  EXPECT_EQ(moved(0), "0 0");
  EXPECT_EQ(moved(1), "0 0");
  EXPECT_EQ(moved(2), "132 16");
  EXPECT_EQ(moved(3), "0 0");
  EXPECT_EQ(moved(4), "144 144");
}

}  // namespace
}  // namespace toroid
