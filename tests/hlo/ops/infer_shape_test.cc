// BUILD: size = "small"
#include "hlo/ops/infer_shape.h"

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "hlo/io/hlo_text.h"
#include "hlo/io/module_proto.h"
#include "hlo/ops/verify_module.h"
#include "tests/hlo/ops/environment.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<std::unique_ptr<Module>> With(const std::string& instruction) {
  return ParseModule(absl::StrCat("HloModule m", kEnvironment, "  ROOT it = ", instruction, "\n}\n"));
}

TEST(InferShapeTest, ShapesFollowFromOperandsAndAttributes) {
  const std::pair<const char*, const char*> kShapes[] = {
      {"abs(c)", "f32[8,4]"},
      {"is-finite(x)", "pred[8,4]"},
      {"real(c)", "f32[8,4]"},
      {"add(x, x)", "f32[8,4]"},
      {"complex(x, x)", "c64[8,4]"},
      {"compare(n, n), direction=LT", "pred[8,4]"},
      {"select(q, x, x)", "f32[8,4]"},
      {"clamp(s, x, s)", "f32[8,4]"},
      {"transpose(b), dimensions={2,0,1}", "f32[4,2,3]"},
      {"concatenate(x, x, x), dimensions={1}", "f32[8,12]"},
      {"slice(x), slice={[1:8:3], [0:0]}", "f32[3,0]"},
      {"pad(x, s), padding=1_2_3x-1_-1_0", "f32[32,2]"},
      {"pad(v, s), padding=-8_2_0", "f32[2]"},
      {"tuple(x, i)", "(f32[8,4], s32[])"},
      {"get-tuple-element(t), index=1", "s32[]"},
      {"dynamic-slice(x, i, i), dynamic_slice_sizes={2,4}", "f32[2,4]"},
      {"dynamic-update-slice(x, y2, i, i)", "f32[8,4]"},
      {"gather(x, idx), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
       "slice_sizes={1,3}",
       "f32[3,3]"},
      {"gather(b, idx), offset_dims={0,2}, collapsed_slice_dims={1}, start_index_map={1}, "
       "index_vector_dim=1, "
       "slice_sizes={2,1,4}",
       "f32[2,3,4]"},
      {"scatter(x, idx, upd), update_window_dims={1}, inserted_window_dims={0}, "
       "scatter_dims_to_operand_dims={0}, "
       "index_vector_dim=1, to_apply=add",
       "f32[8,4]"},
      {"dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "f32[8,6]"},
      {"dot(b, d), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
       "rhs_contracting_dims={1}",
       "f32[2,3,5]"},
      {"dot(v, v)", "f32[8,8]"},
      {"ragged-dot(x, d, sizes), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, "
       "rhs_group_dims={0}",
       "f32[8,5]"},
      {"ragged-dot(x, x, sizes), lhs_contracting_dims={0}, rhs_contracting_dims={0}, lhs_ragged_dims={0}",
       "f32[2,4,4]"},
      {"scaled-dot(x, y, s, s), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "f32[8,6]"},
      {"convolution(img, ker), window={size=3x3}, dim_labels=b01f_01io->b01f", "f32[2,7,7,8]"},
      {"convolution(img, ker), window={size=3x3 stride=2x3 pad=1_1x0_0 rhs_dilate=1x2}, "
       "dim_labels=b01f_01io->f01b",
       "f32[8,5,2,2]"},
      {"convolution(img, ker), window={size=3x3 pad=0_0x1_1 lhs_dilate=2x1}, dim_labels=b01f_01io->b01f",
       "f32[2,15,9,8]"},
      {"reduce(x, s), dimensions={0}, to_apply=add", "f32[4]"},
      {"reduce(x, n, s, i), dimensions={1}, to_apply=argmax", "(f32[8], s32[8])"},
      {"reduce-window(x, s), window={size=3x1 stride=2x1 pad=1_1x0_0}, to_apply=add", "f32[4,4]"},
      {"map(x, x), to_apply=ge", "pred[8,4]"},
      {"sort(x), dimensions={0}, to_apply=ge", "f32[8,4]"},
      {"topk(x), k=3", "(f32[8,3], s32[8,3])"},
      {"batch-norm-grad(x, v4, v4, v4, x), epsilon=0.1, feature_index=1", "(f32[8,4], f32[4], f32[4])"},
      {"fft(x), fft_type=RFFT, fft_length={4}", "c64[8,3]"},
      {"fft(c), fft_type=IRFFT, fft_length={6}", "f32[8,6]"},
      {"cholesky(m3)", "f32[3,3]"},
      {"triangular-solve(m3, m3)", "f32[3,3]"},
      {"while(v), condition=more, body=body", "f32[8]"},
      {"call(s, s), to_apply=add", "f32[]"},
      {"conditional(q, v, v), true_computation=body, false_computation=body", "f32[8]"},
      {"partition-id()", "u32[]"},
      {"all-reduce(x), replica_groups={}, to_apply=add", "f32[8,4]"},
      {"all-to-all(x), replica_groups={{0,1}}, dimensions={0}", "f32[8,4]"},
      {"send(x, tok), channel_id=1", "(f32[8,4], u32[], token[])"},
      {"copy-start(x)", "(f32[8,4], f32[8,4], u32[])"},
      {"get-dimension-size(x), dimensions={1}", "s32[]"},
      {"set-dimension-size(x, i), dimensions={1}", "f32[8,<=4]"},
      {"opt-barrier(t)", "(f32[8], s32[])"},
      {"add-dependency(x, tok)", "f32[8,4]"},
  };
  for (const auto& [instruction, shape] : kShapes) {
    SCOPED_TRACE(instruction);
    std::string text = instruction;
    if (text.find("y2") != std::string::npos) text.replace(text.find("y2"), 2, "f32[3,4] upd");
    ASSERT_OK_AND_ASSIGN(const auto module, With(text));
    EXPECT_EQ(module->entry()->root()->shape().ToString(), shape);
    EXPECT_OK(VerifyModule(*module));
  }
}

TEST(InferShapeTest, UnknownOpcodesPassWithTheirShape) {
  ASSERT_OK_AND_ASSIGN(const auto module, With("f32[3] frobnicate(x)"));
  EXPECT_OK(VerifyModule(*module));
}

TEST(InferShapeTest, MissingShapesThatDoNotFollowAreErrors) {
  for (const char* instruction :
       {"convert(x)", "reshape(x)", "bitcast-convert(x)", "broadcast(v), dimensions={1}",
        "custom-call(x), custom_call_target=\"f\""}) {
    EXPECT_THAT(With(instruction), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("must be given")));
  }
}

TEST(VerifyModuleTest, DeepCallsAreRefused) {
  std::string text = "c0 { ROOT x = f32[] parameter(0) }\n";
  for (int i = 1; i <= kMaxCallDepth; ++i) {
    absl::StrAppend(&text, "c", i, " { x = f32[] parameter(0) ROOT y = f32[] call(x), to_apply=c", i - 1,
                    " }\n");
  }
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(text));
  EXPECT_THAT(VerifyModule(*module),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("c512/y: the depth of calls: found 513, expected at most 512 (M6)")));
}

}  // namespace
}  // namespace toroid
