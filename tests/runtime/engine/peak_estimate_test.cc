// BUILD: size = "small"
// What a plan says of a run's memory, against what the run holds.
#include "runtime/engine/peak_estimate.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/check/program_runner.h"
#include "runtime/engine/executor.h"
#include "runtime/engine/plan_builder.h"
#include "runtime/mesh/block_pool.h"
#include "runtime/mesh/mesh_value.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

int64_t Peak(const std::string& body, const std::string& computations = "", int64_t copies = 1,
             bool uniform = true) {
  const auto module = MakeModule(body, computations);
  PlanBuilder builder;
  const auto plan = builder.Build(*module->entry());
  EXPECT_OK(plan);
  return EstimatePeak(**plan, std::vector<bool>(module->entry()->num_parameters(), uniform), copies).bytes;
}

// Runs a program of one parameter and compares the bytes that were held at once with the plan's, either way.
void ExpectThePlanKnows(const std::string& body, const std::string& computations, int64_t copies = 1) {
  SCOPED_TRACE(body);
  const auto module = MakeModule(body, computations);
  const int64_t before = LiveBlockBytes();
  ASSERT_OK_AND_ASSIGN(const auto executor, Executor::Create(*module));
  const Literal argument(module->entry()->parameter(0)->shape());
  std::vector<MeshValue> arguments;
  if (copies == 1) {
    ASSERT_OK_AND_ASSIGN(arguments.emplace_back(), MeshValue::Uniform(argument, 1));
  } else {
    ASSERT_OK_AND_ASSIGN(arguments.emplace_back(),
                         MeshValue::PerDevice(std::vector<Literal>(copies, argument)));
  }
  ResetPeakBlockBytes();
  RunOptions options;
  options.num_partitions = copies;
  ASSERT_OK(executor->Run(std::move(arguments), options));
  const double held = static_cast<double>(PeakBlockBytes() - before);
  const double planned = static_cast<double>(Peak(body, computations, copies, copies == 1));
  EXPECT_LE(held, 1.2 * planned);
  EXPECT_GE(held, planned / 1.2);
}

TEST(EstimatePeakTest, OperandsThatDieMayGiveTheirPlace) {
  EXPECT_EQ(Peak("x = f32[1000] parameter(0) y = f32[1000] negate(x) ROOT z = f32[1000] sine(y)"), 4000);
  EXPECT_EQ(Peak("x = f32[1000] parameter(0) y = f32[1000] negate(x) ROOT z = f32[1000] add(x, y)"), 4000);
  EXPECT_EQ(
      Peak("x = f32[1000] parameter(0) y = f32[1000] negate(x) ROOT z = (f32[1000], f32[1000]) tuple(x, y)"),
      8000);
}

// Each block reads places that another one writes.
TEST(EstimatePeakTest, OperandsReadElsewhereKeepTheirPlace) {
  EXPECT_EQ(
      Peak(
          "x = f32[1000] parameter(0) r = f32[1000] reverse(x), dimensions={0} ROOT z = f32[1000] add(x, r)"),
      8000);
}

TEST(EstimatePeakTest, SharedStorageCountsOnce) {
  EXPECT_EQ(
      Peak("x = f32[1000] parameter(0) y = f32[10,100] reshape(x) z = (f32[1000], f32[10,100]) tuple(x, y) "
           "ROOT w = f32[10,100] get-tuple-element(z), index=1"),
      4000);
}

TEST(EstimatePeakTest, DevicesCountWhereTheyDiffer) {
  EXPECT_EQ(Peak("x = f32[1000] parameter(0) ROOT y = f32[1000] negate(x)", "", 8, false), 32000);
  EXPECT_EQ(Peak("x = f32[1000] parameter(0) ROOT y = f32[1000] negate(x)", "", 8, true), 4000);
}

TEST(EstimatePeakTest, CalledComputationsCountAndTheSmallerBranch) {
  const std::string branches =
      "big { x = f32[] parameter(0) b = f32[1000] broadcast(x), dimensions={} z = s32[] constant(0) s = "
      "f32[1] dynamic-slice(b, z), dynamic_slice_sizes={1} "
      "ROOT r = f32[] reshape(s) }\n"
      "small { ROOT x = f32[] parameter(0) }\n";
  EXPECT_GE(Peak("x = f32[] parameter(0) ROOT y = f32[] call(x), to_apply=big", branches), 4000);
  EXPECT_LT(Peak("p = pred[] parameter(0) x = f32[] parameter(1) "
                 "ROOT y = f32[] conditional(p, x, x), true_computation=big, false_computation=small",
                 branches),
            100);
}

constexpr char kLess[] =
    "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }\n"
    "less_of_two { a = f32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3) "
    "ROOT e = pred[] compare(a, b), direction=LT }\n"
    "odd_less { a = f32[] parameter(0) b = f32[] parameter(1) e = f32[] multiply(a, b) z = f32[] constant(0.5) "
    "l = pred[] compare(a, b), direction=LT m = pred[] compare(e, z), direction=LT ROOT c = pred[] and(l, m) }\n"
    "greater_equal { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=GE }\n"
    "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
    "largest { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }\n"
    "sum_of_squares { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] multiply(b, b) "
    "ROOT d = f32[] add(a, c) }\n";
constexpr char kMatrix[] = "x = f32[1024,512] parameter(0) ";

TEST(EstimatePeakTest, MovesAndGroups) {
  for (const std::string body : {
           "ROOT y = f32[1024,512] negate(x)",
           "y = f32[1024,512] exponential(x) ROOT z = f32[512,1024] transpose(y), dimensions={1,0}",
           "ROOT y = f32[512,1024] transpose(x), dimensions={1,0}",
           "y = f32[1024,512] sine(x) ROOT z = f32[1024,512] reverse(y), dimensions={0}",
           "r = f32[1024,512] reverse(x), dimensions={1} ROOT z = f32[1024,512] add(x, r)",
           "ROOT y = f32[1024,1024] concatenate(x, x), dimensions={1}",
           "z = f32[] constant(0) ROOT y = f32[1100,600] pad(x, z), padding=10_66x8_80",
           "y = f32[1024,512] cosine(x) ROOT z = f32[1000,500] slice(y), slice={[0:1000], [3:503]}",
           "z = f32[] constant(0) r = f32[512] reduce(x, z), dimensions={0}, to_apply=sum "
           "b = f32[1024,512] broadcast(r), dimensions={1} ROOT y = f32[1024,512] divide(x, b)",
           "z = f32[] constant(0) r = f32[1024] reduce(x, z), dimensions={1}, to_apply=largest "
           "b = f32[1024,512] broadcast(r), dimensions={0} e = f32[1024,512] subtract(x, b) "
           "ROOT y = f32[1024,512] exponential(e)",
           "t = f32[512,1024] transpose(x), dimensions={1,0} e = f32[512,1024] exponential(t) "
           "ROOT y = (f32[512,1024], f32[512,1024]) tuple(t, e)",
           "z = s32[] constant(3) u = f32[8,512] slice(x), slice={[8:16], [0:512]} "
           "ROOT y = f32[1024,512] dynamic-update-slice(x, u, z, z)",
           "z = s32[] constant(3) u = f32[8,512] slice(x), slice={[8:16], [0:512]} "
           "d = f32[1024,512] dynamic-update-slice(x, u, z, z) "
           "ROOT y = (f32[1024,512], f32[1024,512]) tuple(d, x)",
       }) {
    ExpectThePlanKnows(kMatrix + body, kLess);
  }
}

TEST(EstimatePeakTest, Products) {
  for (const std::string body : {
           "ROOT y = f32[1024,1024] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
           "ROOT y = f32[512,512] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
           "ROOT y = bf16[512,512] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
           "h = bf16[1024,512] convert(x) ROOT y = bf16[1024,1024] dot(h, h), lhs_contracting_dims={1}, "
           "rhs_contracting_dims={1}",
           "h = bf16[1024,512] convert(x) ROOT y = f32[512,512] dot(h, h), lhs_contracting_dims={0}, "
           "rhs_contracting_dims={0}",
           "a = f32[32,32,512] reshape(x) ROOT y = f32[32,512,512] dot(a, a), lhs_batch_dims={1}, "
           "rhs_batch_dims={1}, lhs_contracting_dims={0}, rhs_contracting_dims={0}",
           "d = f32[1024,1024] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1} "
           "ROOT y = f32[1024,1024] sort(d), dimensions={1}, to_apply=less",
       }) {
    ExpectThePlanKnows(kMatrix + body, kLess);
  }
}

TEST(EstimatePeakTest, Convolutions) {
  for (
      const std::string body : {
          "i = f32[8,32,32,64] reshape(x) k = f32[3,3,64,64] broadcast(o), dimensions={} "
          "ROOT y = f32[8,32,32,64] convolution(i, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
          "i = f32[8,32,32,64] reshape(x) k = f32[3,3,64,64] broadcast(o), dimensions={} "
          "ROOT y = f32[8,30,30,64] convolution(i, k), window={size=3x3}, dim_labels=b01f_01io->b01f",
          "i = f32[8,64,32,32] reshape(x) k = f32[64,64,3,3] broadcast(o), dimensions={} "
          "ROOT y = f32[8,64,32,32] convolution(i, k), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01",
          "i = f32[8,32,32,64] reshape(x) k = f32[3,3,1,64] broadcast(o), dimensions={} "
          "ROOT y = f32[8,32,32,64] convolution(i, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, "
          "feature_group_count=64",
          "j = f32[8,32,32,64] reshape(x) i = bf16[8,32,32,64] convert(j) h = bf16[] constant(1) "
          "k = bf16[3,3,64,64] broadcast(h), dimensions={} "
          "ROOT y = bf16[8,16,16,64] convolution(i, k), window={size=3x3 stride=2x2 pad=1_0x1_0}, "
          "dim_labels=b01f_01io->b01f",
      }) {
    ExpectThePlanKnows(absl::StrCat(kMatrix, "o = f32[] constant(1) ", body), kLess);
  }
}

TEST(EstimatePeakTest, TransformsSortsAndWindows) {
  for (
      const std::string body : {
          "c = c64[1024,512] convert(x) ROOT y = c64[1024,512] fft(c), fft_type=FFT, fft_length={512}",
          "c = c64[1024,512] convert(x) ROOT y = c64[1024,512] fft(c), fft_type=IFFT, fft_length={1024,512}",
          "ROOT y = c64[1024,257] fft(x), fft_type=RFFT, fft_length={1024,512}",
          "l = f32[524288] reshape(x) ROOT y = c64[262145] fft(l), fft_type=RFFT, fft_length={524288}",
          "ROOT y = f32[1024,512] sort(x), dimensions={1}, to_apply=less",
          "ROOT y = f32[1024,512] sort(x), dimensions={0}, to_apply=less",
          "l = f32[524288] reshape(x) ROOT y = f32[524288] sort(l), dimensions={0}, to_apply=less",
          "l = f32[524288] reshape(x) i = s32[524288] iota(), iota_dimension=0 "
          "ROOT y = (f32[524288], s32[524288]) sort(l, i), dimensions={0}, to_apply=less_of_two",
          "ROOT y = f32[1024,512] sort(x), dimensions={1}, to_apply=odd_less",
          "z = f32[] constant(-inf) ROOT y = f32[1022,510] reduce-window(x, z), window={size=3x3}, to_apply=largest",
          "z = f32[] constant(0) ROOT y = f32[1024,512] reduce-window(x, z), "
          "window={size=1x512 pad=0_0x511_0}, to_apply=sum",
          "z = f32[] constant(0) ROOT y = f32[1024,170] reduce-window(x, z), window={size=1x3 stride=1x3}, "
          "to_apply=sum_of_squares",
          "z = f32[] constant(0) s = f32[512,256] slice(x), slice={[0:512], [0:256]} "
          "ROOT y = f32[1024,512] select-and-scatter(x, s, z), window={size=2x2 stride=2x2}, select=greater_equal, "
          "scatter=sum",
          "i = s32[2000,1] iota(), iota_dimension=0 ROOT y = f32[2000,512] gather(x, i), offset_dims={1}, "
          "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,512}",
          "i = s32[1024,1] iota(), iota_dimension=0 u = f32[1024,512] negate(x) "
          "ROOT y = f32[1024,512] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, "
          "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum",
          "i = s32[1024,1] iota(), iota_dimension=0 u = f32[1024,512] negate(x) "
          "ROOT y = f32[1024,512] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, "
          "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum_of_squares",
          "ROOT y = (f32[1024,256], s32[1024,256]) topk(x), k=256, largest=true",
          "z = f32[] constant(0) ROOT y = f32[1024] reduce(x, z), dimensions={1}, to_apply=sum_of_squares",
          "h = bf16[1024,512] convert(x) z = bf16[] constant(0) r = bf16[32,32,512] reshape(h) "
          "ROOT y = bf16[32,512] reduce(r, z), dimensions={1}, to_apply=sum_of_halves",
      }) {
    ExpectThePlanKnows(kMatrix + body,
                       absl::StrCat(kLess,
                                    "sum_of_halves { a = bf16[] parameter(0) b = bf16[] parameter(1) "
                                    "ROOT c = bf16[] add(a, b) }\n"));
  }
}

// A loop of three trips whose body turns the f32[1024,512] elements of its state x, y into others.
std::string Loop(const std::string& body) {
  return absl::StrCat(
      kLess,
      "body { s = (s32[], f32[1024,512], f32[1024,512]) parameter(0) "
      "i = s32[] get-tuple-element(s), index=0 one = s32[] constant(1) n = s32[] add(i, one) "
      "x = f32[1024,512] get-tuple-element(s), index=1 y = f32[1024,512] get-tuple-element(s), index=2 ",
      body,
      " }\n"
      "more { s = (s32[], f32[1024,512], f32[1024,512]) parameter(0) "
      "i = s32[] get-tuple-element(s), index=0 three = s32[] constant(3) "
      "ROOT c = pred[] compare(i, three), direction=LT }\n");
}

TEST(EstimatePeakTest, StatesOfLoops) {
  const std::string main =
      absl::StrCat(kMatrix,
                   "z = s32[] constant(0) y = f32[1024,512] negate(x) "
                   "s = (s32[], f32[1024,512], f32[1024,512]) tuple(z, x, y) "
                   "ROOT w = (s32[], f32[1024,512], f32[1024,512]) while(s), condition=more, body=body");
  const std::string root = " ROOT r = (s32[], f32[1024,512], f32[1024,512]) tuple(n, ";
  for (const std::string& body : {
           root + "x, y)",
           root + "y, x)",
           "a = f32[1024,512] sine(x) b = f32[1024,512] cosine(y)" + root + "a, b)",
           "a = f32[1024,512] add(x, y)" + root + "a, x)",
           "a = f32[1024,512] add(x, y)" + root + "a, a)",
           "t = f32[512,1024] transpose(x), dimensions={1,0} q = f32[1024,512] reshape(t)" + root + "q, y)",
           "d = f32[1024,1024] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1} "
           "e = f32[1024,512] slice(d), slice={[0:1024], [0:512]}" +
               root + "e, y)",
           "k = s32[] constant(0) u = f32[1,512] slice(y), slice={[3:4], [0:512]} "
           "d = f32[1024,512] dynamic-update-slice(x, u, i, k)" +
               root + "d, y)",
           "q = f32[1024,512] sort(x), dimensions={1}, to_apply=less" + root + "q, y)",
       }) {
    SCOPED_TRACE(body);
    ExpectThePlanKnows(main, Loop(body));
  }
  // The caller keeps x and y.
  const std::string keeps =
      absl::StrCat(kMatrix,
                   "z = s32[] constant(0) y = f32[1024,512] negate(x) "
                   "s = (s32[], f32[1024,512], f32[1024,512]) tuple(z, x, y) "
                   "w = (s32[], f32[1024,512], f32[1024,512]) while(s), condition=more, body=body "
                   "a = f32[1024,512] get-tuple-element(w), index=1 ROOT r = f32[1024,512] add(a, y)");
  ExpectThePlanKnows(keeps, Loop("a = f32[1024,512] sine(x) b = f32[1024,512] cosine(y)" + root + "a, b)"));
  ExpectThePlanKnows(keeps, Loop("a = f32[1024,512] sine(x)" + root + "a, y)"));
}

TEST(EstimatePeakTest, PartitionedRuns) {
  const std::string shard = "x = f32[128,64] parameter(0) ";
  for (
      const std::string body : {
          "ROOT y = f32[128,64] all-reduce(x), replica_groups={{0,1,2,3,4,5,6,7}}, channel_id=1, "
          "use_global_device_ids=true, to_apply=sum",
          "ROOT y = f32[128,64] all-reduce(x), replica_groups={{0,1,2,3},{4,5,6,7}}, channel_id=1, "
          "use_global_device_ids=true, to_apply=sum",
          "ROOT y = f32[1024,64] all-gather(x), dimensions={0}, replica_groups={{0,1,2,3,4,5,6,7}}, channel_id=1, "
          "use_global_device_ids=true",
          "ROOT y = f32[256,64] all-gather(x), dimensions={0}, replica_groups={{0,1},{2,3},{4,5},{6,7}}, "
          "channel_id=1, use_global_device_ids=true",
          "ROOT y = f32[16,64] reduce-scatter(x), dimensions={0}, replica_groups={{0,1,2,3,4,5,6,7}}, channel_id=1, "
          "use_global_device_ids=true, to_apply=sum",
          "ROOT y = f32[128,64] all-to-all(x), dimensions={0}, replica_groups={{0,1,2,3,4,5,6,7}}, channel_id=1",
          "ROOT y = f32[128,64] collective-permute(x), source_target_pairs={{0,1},{1,2},{2,3},{3,0}}, channel_id=1",
          "p = u32[] partition-id() f = f32[] convert(p) b = f32[128,64] broadcast(f), dimensions={} "
          "ROOT y = f32[128,64] multiply(b, x)",
      }) {
    ExpectThePlanKnows(shard + body, kLess, /*copies=*/8);
  }
}

}  // namespace
}  // namespace toroid
