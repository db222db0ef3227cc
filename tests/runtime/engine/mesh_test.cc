// BUILD: size = "small"
// A mesh computes on every device the result of that device alone, whichever operands are shared.
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/arguments/random_arguments.h"
#include "runtime/engine/executor.h"
#include "runtime/numerics/compare.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

struct Program {
  const char* name;
  const char* body;
};

constexpr char kComputations[] = R"(
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
pair { a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  p = pred[] compare(a, b), direction=GE
  c = f32[] select(p, a, b)
  k = s32[] select(p, i, j)
  ROOT t = (f32[], s32[]) tuple(c, k) }
ge { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GE }
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  m = f32[] negate(a)
  n = f32[] negate(b)
  ROOT c = pred[] compare(m, n), direction=LT }
affine { a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] multiply(a, b)
  ROOT d = f32[] add(c, a) }
)";

const Program kPrograms[] = {
    {"Scalars", "a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] subtract(a, b)"},
    {"Vectors", "a = f32[5] parameter(0) b = f32[5] parameter(1) ROOT c = f32[5] divide(a, b)"},
    {"Narrow", "a = bf16[5] parameter(0) b = bf16[5] parameter(1) ROOT c = bf16[5] multiply(a, b)"},
    {"Compare",
     "a = f32[5] parameter(0) b = f32[5] parameter(1) ROOT c = pred[5] compare(a, b), direction=LT"},
    {"SelectScalar",
     "p = pred[] parameter(0) a = f32[3] parameter(1) b = f32[3] parameter(2) ROOT c = f32[3] select(p, a, "
     "b)"},
    {"SelectOne",
     "p = pred[] parameter(0) a = f32[] parameter(1) b = f32[] parameter(2) ROOT c = f32[] select(p, a, b)"},
    {"Select",
     "p = pred[3] parameter(0) a = f32[3] parameter(1) b = f32[3] parameter(2) ROOT c = f32[3] select(p, a, "
     "b)"},
    {"ClampScalars",
     "l = f32[] parameter(0) x = f32[4] parameter(1) h = f32[] parameter(2) ROOT c = f32[4] clamp(l, x, h)"},
    {"Clamp",
     "l = f16[4] parameter(0) x = f16[4] parameter(1) h = f16[4] parameter(2) ROOT c = f16[4] clamp(l, x, "
     "h)"},
    {"Transpose", "a = f32[3,4,5] parameter(0) ROOT b = f32[5,3,4] transpose(a), dimensions={2,0,1}"},
    {"Broadcast", "a = f32[3] parameter(0) ROOT b = f32[2,3,2] broadcast(a), dimensions={1}"},
    {"Reverse", "a = f32[3,2] parameter(0) ROOT b = f32[3,2] reverse(a), dimensions={0,1}"},
    {"Slice", "a = f32[7,3] parameter(0) ROOT b = f32[3,2] slice(a), slice={[1:7:2],[1:3]}"},
    {"Pad", "a = f32[3] parameter(0) v = f32[] parameter(1) ROOT b = f32[7] pad(a, v), padding=1_1_1"},
    {"Concatenate",
     "a = f32[2,2] parameter(0) b = f32[2,1] parameter(1) ROOT c = f32[2,3] concatenate(a, b), "
     "dimensions={1}"},
    {"DynamicSlice",
     "a = f32[6,3] parameter(0) i = s32[] parameter(1) j = s32[] parameter(2) "
     "ROOT b = f32[2,2] dynamic-slice(a, i, j), dynamic_slice_sizes={2,2}"},
    {"DynamicUpdateSlice",
     "a = f32[6] parameter(0) u = f32[2] parameter(1) i = s32[] parameter(2) "
     "ROOT b = f32[6] dynamic-update-slice(a, u, i)"},
    {"Gather",
     "a = f32[6,3] parameter(0) i = s32[4] parameter(1) ROOT b = f32[4,3] gather(a, i), offset_dims={1}, "
     "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}"},
    {"Scatter",
     "a = f32[6] parameter(0) i = s32[4,1] parameter(1) u = f32[4] parameter(2) "
     "ROOT b = f32[6] scatter(a, i, u), update_window_dims={}, inserted_window_dims={0}, "
     "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add"},
    {"ScatterAffine",
     "a = f32[6] parameter(0) i = s32[4,1] parameter(1) u = f32[4] parameter(2) "
     "ROOT b = f32[6] scatter(a, i, u), update_window_dims={}, inserted_window_dims={0}, "
     "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=affine"},
    {"Dot",
     "a = f32[3,4] parameter(0) b = f32[4,5] parameter(1) "
     "ROOT c = f32[3,5] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
    {"DotTransposed",
     "a = f32[4,3] parameter(0) b = f32[5,4] parameter(1) "
     "ROOT c = f32[3,5] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={1}"},
    {"DotBatched",
     "a = f32[2,3,4] parameter(0) b = f32[2,4,5] parameter(1) ROOT c = f32[2,3,5] dot(a, b), "
     "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}"},
    {"RaggedDot",
     "a = f32[4,3] parameter(0) b = f32[2,3,5] parameter(1) n = s32[2] parameter(2) "
     "ROOT c = f32[4,5] ragged-dot(a, b, n), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
     "lhs_ragged_dims={0}, rhs_group_dims={0}"},
    {"Convolution",
     "a = f32[2,5,4] parameter(0) k = f32[3,2,4] parameter(1) ROOT c = f32[2,5,4] convolution(a, k), "
     "window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f, feature_group_count=2"},
    {"ConvolutionBatchGroups",
     "a = f32[4,5,3] parameter(0) k = f32[3,3,4] parameter(1) "
     "ROOT c = f32[2,3,4] convolution(a, k), window={size=3}, dim_labels=b0f_0io->b0f, "
     "batch_group_count=2"},
    {"Reduce",
     "a = f32[3,4] parameter(0) z = f32[] parameter(1) ROOT b = f32[3] reduce(a, z), dimensions={1}, "
     "to_apply=add"},
    {"ReduceFirst",
     "a = f32[300,3] parameter(0) z = f32[] parameter(1) "
     "ROOT b = f32[3] reduce(a, z), dimensions={0}, to_apply=add"},
    {
        "ReduceNarrow",
        "a = f16[3,4] parameter(0) z = f16[] constant(0) ROOT b = f16[4] reduce(a, z), dimensions={0}, "
        "to_apply=half",
    },
    {"ReducePair",
     "a = f32[100,2] parameter(0) i = s32[100,2] parameter(1) z = f32[] constant(-inf) "
     "n = s32[] parameter(2) ROOT b = (f32[2], s32[2]) reduce(a, i, z, n), dimensions={0}, to_apply=pair"},
    {"ReduceWindow",
     "a = f32[9] parameter(0) z = f32[] parameter(1) ROOT b = f32[9] reduce-window(a, z), "
     "window={size=9 pad=8_0}, to_apply=add"},
    {"SelectAndScatter",
     "a = f32[6] parameter(0) s = f32[3] parameter(1) z = f32[] parameter(2) "
     "ROOT b = f32[6] select-and-scatter(a, s, z), window={size=2 stride=2}, select=ge, scatter=add"},
    {"Map",
     "a = f32[4] parameter(0) b = f32[4] parameter(1) ROOT c = f32[4] map(a, b), dimensions={0}, "
     "to_apply=affine"},
    {"Sort", "a = f32[5,3] parameter(0) ROOT b = f32[5,3] sort(a), dimensions={0}, to_apply=less"},
    {"TopK", "a = f32[2,5] parameter(0) ROOT b = (f32[2,2], s32[2,2]) topk(a), k=2, largest=true"},
    {"Fft", "a = f32[2,6] parameter(0) ROOT b = c64[2,4] fft(a), fft_type=RFFT, fft_length={6}"},
    {"TriangularSolve",
     "a = f32[3,3] parameter(0) b = f32[3,2] parameter(1) ROOT x = f32[3,2] triangular-solve(a, b), "
     "left_side=true, lower=true, unit_diagonal=true, transpose_a=NO_TRANSPOSE"},
    {"BatchNorm",
     "x = f32[3,2] parameter(0) s = f32[2] parameter(1) o = f32[2] parameter(2) "
     "ROOT y = (f32[3,2], f32[2], f32[2]) batch-norm-training(x, s, o), epsilon=0.5, feature_index=1"},
    {"RngBits",
     "s = u64[2] parameter(0) ROOT y = (u64[2], u32[6]) rng-bit-generator(s), algorithm=rng_three_fry"},
    {"Convert", "x = f32[4] parameter(0) ROOT y = s8[4] convert(x)"},
};

class MeshTest : public testing::TestWithParam<Program> {};

TEST_P(MeshTest, EveryDeviceComputesAsIfAlone) {
  std::string computations = kComputations;
  computations += ReducerText("half", "f16", "add");
  const auto module = MakeModule(GetParam().body, computations);
  const int n = module->entry()->num_parameters();
  std::vector<Shape> shapes;
  for (const Instruction* parameter : module->entry()->parameters()) shapes.push_back(parameter->shape());
  const int64_t devices = 3;
  // All subsets of shared arguments.
  for (int shared = 0; shared < (1 << n); ++shared) {
    std::vector<std::vector<Literal>> arguments(n);
    for (int64_t d = 0; d < devices; ++d) {
      const std::vector<Literal> values = RandomLiterals(shapes, 4, 100 * shared + d);
      for (int i = 0; i < n; ++i) {
        if (d == 0 || !((shared >> i) & 1)) arguments[i].push_back(values[i]);
      }
    }
    ASSERT_OK_AND_ASSIGN(const std::vector<Literal> results, RunOnDevices(*module, arguments, devices));
    for (int64_t d = 0; d < devices; ++d) {
      std::vector<Literal> own;
      for (int i = 0; i < n; ++i) own.push_back(arguments[i][arguments[i].size() == 1 ? 0 : d]);
      ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*module, own));
      const Comparison comparison = Compare(results[d], expected, 1e-6);
      for (const ArrayComparison& output : comparison.outputs) {
        ASSERT_TRUE(output.equal) << "device " << d << ", shared " << shared << ": " << output.difference;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, MeshTest, testing::ValuesIn(kPrograms),
                         [](const testing::TestParamInfo<Program>& info) {
                           return std::string(info.param.name);
                         });

}  // namespace
}  // namespace toroid
