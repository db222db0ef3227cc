// BUILD: size = "medium"
// Ops whose operands and results have different float types: their values, and that partitioning does not
// change these.
#include "hlo/passes/mixed_precision.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ir/native_types.h"
#include "hlo/ops/verify_module.h"
#include "runtime/engine/executor.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kReducers[] = R"(
add32 { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
add16 { a = bf16[] parameter(0) b = bf16[] parameter(1) ROOT s = bf16[] add(a, b) }
upon { a = f32[] parameter(0) b = bf16[] parameter(1) c = f32[] convert(b) ROOT s = f32[] add(a, c) }
ge32 { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = pred[] compare(a, b), direction=GE }
)";

// An entry with x bf16[12,4], cut into n tiles of rows; y f32[12,4]; z f32[]; i s32[3,1]; u bf16[3,4].
std::string Program(const std::string& body) {
  return absl::StrCat(kReducers, R"(
ENTRY main {
  x = bf16[12,4] parameter(0), sharding={devices=[$n,1]<=[$n]}
  y = f32[12,4] parameter(1)
  z = f32[] constant(0)
  zb = bf16[] constant(0)
  i = s32[3,1] constant({{0}, {7}, {7}})
  u = bf16[3,4] constant({{1,2,3,4},{5,6,7,8},{1,1,1,1}})
  k = s32[] constant(2)
  ROOT r = )",
                      body, "\n}\n");
}

TEST(MixedPrecisionTest, EveryOpThatMayMixGivesWhatItsConvertsGive) {
  for (
      const char* body :
      {"bf16[12,4] copy(y)",
       "f32[12,4] copy(x)",
       "f32[12,4] add(x, y)",
       "bf16[12,4] add(y, x)",
       "bf16[12,4] multiply(y, y)",
       "f32[12,4] negate(x)",
       "bf16[12,4] abs(y)",
       "pred[12,4] compare(x, y), direction=LT",
       "f32[12,4] clamp(z, x, y)",
       "bf16[24,4] concatenate(x, y), dimensions={0}",
       "f32[12,4] reduce-window(x, z), window={size=3x1 pad=1_1x0_0}, to_apply=add32",
       "f32[13,4] pad(x, z), padding=1_0x0_0",
       "bf16[4,12] transpose(y), dimensions={1,0}",
       "f32[48] reshape(x)",
       "f32[2,12,4] broadcast(x), dimensions={1,2}",
       "bf16[6,4] slice(y), slice={[0:12:2],[0:4]}",
       "f32[12,4] dynamic-update-slice(x, y, k, k)",
       "f32[3,4] dynamic-slice(x, k, k), dynamic_slice_sizes={3,4}",
       "f32[4] reduce(x, z), dimensions={0}, to_apply=add32",
       "bf16[4] reduce(x, z), dimensions={0}, to_apply=add32",
       "f32[4] reduce(x, zb), dimensions={0}, to_apply=add32",
       "f32[4] reduce(y, zb), dimensions={0}, to_apply=add16",
       "f32[4] reduce(x, z), dimensions={0}, to_apply=upon",
       "bf16[12,4] scatter(y, i, u), update_window_dims={1}, inserted_window_dims={0}, "
       "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add32",
       "f32[12,4] select-and-scatter(x, y, zb), window={size=1x1}, select=ge32, scatter=add32",
       "f32[12,4] map(x, y), dimensions={0,1}, to_apply=add32",
       "bf16[12,4] sort(x), dimensions={0}, to_apply=ge32",
       "f32[12,4] sort(x), dimensions={0}, to_apply=ge32",
       "f32[3,4] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
       "slice_sizes={1,4}"}) {
    SCOPED_TRACE(body);
    const std::string text = Program(body);
    ExpectEquivalent(text, {}, {1, 2, 3});
    const auto module = ProgramFor(text, 2);
    ASSERT_OK_AND_ASSIGN(const auto separate, SeparatePrecisions(*module));
    ASSERT_NE(separate, nullptr);
    EXPECT_OK(VerifyModule(*separate));
    EXPECT_EQ(separate->entry()->root()->shape(), module->entry()->root()->shape());
    EXPECT_EQ(separate->entry()->root()->name(), "r");
    ASSERT_OK_AND_ASSIGN(const auto again, SeparatePrecisions(*separate));
    EXPECT_EQ(again, nullptr);
  }
}

TEST(MixedPrecisionTest, ReductionsAccumulateInTheTypeOfTheirComputation) {
  // In bf16, 256 + 1 is 256, so only an f32 accumulator counts the ones.
  const auto sum = [](const std::string& shape, const std::string& reducer, const std::string& init) {
    const auto module = ParseModule(absl::StrCat(
        kReducers, "ENTRY main { c = bf16[] constant(256) o = bf16[] constant(1) a = bf16[1] reshape(c) ",
        "b = bf16[8] broadcast(o), dimensions={} x = bf16[9] concatenate(a, b), dimensions={0} ", init,
        " ROOT r = ", shape, " reduce(x, z), dimensions={0}, to_apply=", reducer, " }"));
    TOROID_CHECK(module.ok(), module.status().ToString());
    const absl::StatusOr<Literal> result = RunSingle(**module, {});
    TOROID_CHECK(result.ok(), result.status().ToString());
    return result->shape().element_type() == xla::F32 ? result->data<float>()[0]
                                                      : static_cast<float>(result->data<bfloat16>()[0]);
  };
  EXPECT_EQ(sum("f32[]", "add32", "z = f32[] constant(0)"), 264);
  EXPECT_EQ(sum("f32[]", "upon", "z = f32[] constant(0)"), 264);
  EXPECT_EQ(sum("bf16[]", "add32", "z = bf16[] constant(0)"), 264);
}

TEST(MixedPrecisionTest, CollectivesKeepTheTypeThatTravels) {
  const auto module = ParseModule(absl::StrCat("HloModule m, num_partitions=2\n", kReducers, R"(
ENTRY main {
  x = bf16[4] parameter(0)
  a = bf16[4] all-reduce(x), replica_groups={{0,1}}, channel_id=1, use_global_device_ids=true, to_apply=add32
  ROOT s = bf16[2] reduce-scatter(a), replica_groups={{0,1}}, channel_id=2, use_global_device_ids=true, dimensions={0}, to_apply=add32
})"));
  ASSERT_OK(module.status());
  ASSERT_OK(VerifyModule(**module));
  ASSERT_OK_AND_ASSIGN(const auto separate, SeparatePrecisions(**module));
  ASSERT_NE(separate, nullptr);
  EXPECT_OK(VerifyModule(*separate));
  EXPECT_THAT(PrintModule(*separate), Not(HasSubstr("f32[4]")));
  const auto integers = ParseModule(absl::StrCat("HloModule m, num_partitions=2\n", kReducers, R"(
ENTRY main {
  x = s32[4] parameter(0)
  ROOT a = s32[4] all-reduce(x), replica_groups={{0,1}}, channel_id=1, use_global_device_ids=true, to_apply=add32
})"));
  ASSERT_OK(integers.status());
  ASSERT_OK(VerifyModule(**integers));
  RunOptions options;
  options.num_partitions = 2;
  ASSERT_OK_AND_ASSIGN(const Literal sum,
                       RunSingle(**integers, {Literal::Array<int32_t>({4}, {1, 2, 3, 1 << 30})}, options));
  EXPECT_EQ(sum, Literal::Array<int32_t>({4}, {2, 4, 6, INT32_MIN}));
}

TEST(MixedPrecisionTest, ModulesOfOnePrecisionStayAsTheyAre) {
  const auto module = ParseModule(absl::StrCat(
      kReducers,
      "ENTRY main { x = bf16[4,4] parameter(0) d = f32[4,4] dot(x, x), lhs_contracting_dims={1}, "
      "rhs_contracting_dims={0} c = bf16[4,4] convert(d) t = (f32[4,4], bf16[4,4]) tuple(d, c) ROOT g = "
      "bf16[4,4] get-tuple-element(t), index=1 }"));
  ASSERT_OK(module.status());
  ASSERT_OK_AND_ASSIGN(const auto separate, SeparatePrecisions(**module));
  EXPECT_EQ(separate, nullptr);
}

TEST(MixedPrecisionTest, OtherTypesDoNotMix) {
  for (const char* body :
       {"f32[12,4] copy(i)", "f32[12,4] add(y, y2)", "c64[12,4] negate(y)", "s32[12,4] negate(y)"}) {
    const std::string text = absl::StrCat(
        "ENTRY main { y = f32[12,4] parameter(0) y2 = s32[12,4] parameter(1) i = "
        "s32[12,4] parameter(2) ROOT r = ",
        body, " }");
    const auto module = ParseModule(text);
    ASSERT_OK(module.status());
    EXPECT_FALSE(VerifyModule(**module).ok()) << body;
  }
}

}  // namespace
}  // namespace toroid
