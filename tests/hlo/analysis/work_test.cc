// BUILD: size = "small"
// Work of single instructions.
#include "hlo/analysis/work.h"

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

int64_t RootFlops(absl::string_view body) { return MatrixFlops(*Entry(body)->entry()->root()); }

TEST(WorkTest, DotsCountResultTimesContracted) {
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

TEST(WorkTest, ConvolutionsCountTheKernelPerOutputFeature) {
  EXPECT_EQ(RootFlops("x = f32[2,9,9,4] parameter(0) k = f32[3,3,4,8] parameter(1) ROOT c = f32[2,9,9,8] "
                      "convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"),
            2 * (2 * 9 * 9 * 8) * (3 * 3 * 4));
}

Work RootWork(absl::string_view body) { return WorkOf(*Entry(body)->entry()->root()); }

TEST(WorkTest, LinearAlgebraAndRaggedDotsAreContractionsToo) {
  EXPECT_EQ(RootFlops("x = f32[5,6,6] parameter(0) ROOT c = f32[5,6,6] cholesky(x), lower=true"),
            5 * 6 * 6 * 6 / 3);
  EXPECT_EQ(
      RootFlops(
          "a = f32[6,6] parameter(0) b = f32[6,4] parameter(1) ROOT x = f32[6,4] triangular-solve(a, b), "
          "left_side=true, lower=true, transpose_a=NO_TRANSPOSE"),
      4 * 6 * 6);
  EXPECT_EQ(
      RootFlops("x = f32[10,3] parameter(0) w = f32[4,3,7] parameter(1) g = s32[4] parameter(2) ROOT y = "
                "f32[10,7] ragged-dot(x, w, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
                "lhs_ragged_dims={0}, rhs_group_dims={0}"),
      2 * 10 * 3 * 7);
}

TEST(WorkTest, ArithmeticOnElementsIsCountedByItsUnit) {
  const Work tanh = RootWork("x = f32[8] parameter(0) ROOT y = f32[8] tanh(x)");
  EXPECT_EQ(tanh.transcendentals, 8);
  EXPECT_EQ(tanh.vector_flops, 0);
  EXPECT_EQ(tanh.matrix_flops, 0);
  EXPECT_EQ(RootWork("x = f32[8] parameter(0) ROOT y = f32[8] add(x, x)").vector_flops, 8);
  EXPECT_EQ(RootWork("x = f32[8] parameter(0) ROOT y = f32[8] copy(x)").vector_flops, 0);
  EXPECT_EQ(
      RootWork(
          "x = f32[8,4] parameter(0) z = f32[] constant(0) ROOT r = f32[8] reduce(x, z), dimensions={1}, "
          "to_apply=add")
          .vector_flops,
      32);
  EXPECT_EQ(RootWork("x = f32[8] parameter(0) z = f32[] constant(0) ROOT r = f32[6] reduce-window(x, z), "
                     "window={size=3}, to_apply=add")
                .vector_flops,
            18);
  EXPECT_EQ(RootWork("x = f32[16,8] parameter(0) ROOT s = f32[16,8] sort(x), dimensions={1}, to_apply=add")
                .vector_flops,
            16 * 8 * 3);
}

TEST(WorkTest, OpsOnRowsMoveThoseRows) {
  const Work gather = RootWork(
      "t = f32[1000,16] parameter(0) i = s32[5] parameter(1) ROOT g = f32[5,16] gather(t, i), offset_dims={1}, "
      "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,16}");
  EXPECT_EQ(gather.bytes_read, 5 * 16 * 4 + 5 * 4);
  EXPECT_EQ(gather.bytes_written, 5 * 16 * 4);
  EXPECT_EQ(gather.rows, 5);
  const Work update = RootWork(
      "x = f32[1000,16] parameter(0) u = f32[1,16] parameter(1) i = s32[] parameter(2) z = s32[] constant(0) "
      "ROOT d = f32[1000,16] dynamic-update-slice(x, u, i, z)");
  EXPECT_EQ(update.bytes_read, 64 + 8);
  EXPECT_EQ(update.bytes_written, 64);
  const Work scatter = RootWork(
      "t = f32[1000,16] parameter(0) i = s32[5,1] parameter(1) u = f32[5,16] parameter(2) ROOT s = f32[1000,16] "
      "scatter(t, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
      "index_vector_dim=1, to_apply=add");
  EXPECT_EQ(scatter.bytes_read, 2 * 320 + 20);
  EXPECT_EQ(scatter.bytes_written, 320);
  EXPECT_EQ(scatter.rows, 5);
  EXPECT_EQ(scatter.vector_flops, 80);
}

TEST(WorkTest, AFusionDoesWhatIsInsideAndMovesWhatEntersAndLeaves) {
  const auto module = ParseModule(R"(HloModule m
fused {
  t = f32[1000,16] parameter(0)
  i = s32[] parameter(1)
  y = f32[1,16] parameter(2)
  z = s32[] constant(0)
  d = f32[1,16] dynamic-slice(t, i, z), dynamic_slice_sizes={1,16}
  e = f32[1,16] exponential(d)
  ROOT a = f32[1,16] add(e, y)
}
ENTRY main {
  t = f32[1000,16] parameter(0)
  i = s32[] parameter(1)
  y = f32[1,16] parameter(2)
  ROOT f = f32[1,16] fusion(t, i, y), kind=kLoop, calls=fused
})");
  ASSERT_OK(module.status());
  const Work work = WorkOf(*(*module)->entry()->root());
  EXPECT_EQ(work.transcendentals, 16);
  EXPECT_EQ(work.vector_flops, 16);
  EXPECT_EQ(work.bytes_read, 64 + 4 + 64);
  EXPECT_EQ(work.bytes_written, 64);
}

TEST(WorkTest, NonsenseAndHugeShapesAreNoOverflow) {
  EXPECT_EQ(RootFlops("x = f32[2,3] parameter(0) ROOT d = f32[2] dot(x, x), lhs_contracting_dims={7}"), 0);
  EXPECT_EQ(
      RootFlops("x = f32[2] parameter(0) ROOT c = f32[2] convolution(x, x), dim_labels=b01f_01io->b01f"), 0);
  EXPECT_EQ(RootFlops("x = f32[1000000000,1000000] parameter(0) ROOT d = f32[1000000000,1000000] dot(x, x), "
                      "lhs_contracting_dims={0}"),
            std::numeric_limits<int64_t>::max());
}

TEST(WorkTest, ProductsBeyond64BitsSaturateInValidModules) {
  const auto module = ParseModule(
      "ENTRY e { l = f32[268435456,268435456] parameter(0) a = f32[268435456,268435456] dot(l, l), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={0} ROOT b = f32[268435456,268435456] dot(a, l), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={0} }");
  ASSERT_OK(module.status());
  EXPECT_OK(VerifyModule(**module));
  EXPECT_EQ(MatrixFlops(*(*module)->entry()->root()), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(ComputeModuleStats(**module).flops, std::numeric_limits<int64_t>::max());
}

TEST(WorkTest, BytesAreThoseOfOperandsAndResult) {
  const auto module = Entry(
      "x = f32[8,4] parameter(0) z = f32[] constant(0) r = bf16[8] reduce(x, z), dimensions={1}, "
      "to_apply=add t = (f32[8,4], bf16[8]) tuple(x, r) ROOT s = (f32[8,4], bf16[8]) custom-call(t), "
      "custom_call_target=\"f\"");
  const auto moved = [&](int i) {
    const Work work = WorkOf(*module->entry()->instruction(i));
    return absl::StrCat(work.bytes_read, " ", work.bytes_written);
  };
  EXPECT_EQ(moved(0), "0 0");
  EXPECT_EQ(moved(1), "0 0");
  EXPECT_EQ(moved(2), "132 16");
  EXPECT_EQ(moved(3), "0 0");
  EXPECT_EQ(moved(4), "144 144");
}

}  // namespace
}  // namespace toroid
