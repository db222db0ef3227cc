// Axes that are free in a manual region: shardings over them propagate through its boundary in both
// directions.
//
// Each program is written twice: with a region that is manual over the axis of size 2 of a 2 x 4 mesh, and
// without one.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "hlo/analysis/program_statistics.h"
#include "partitioner/rewrite/poison_padding.h"
#include "runtime/numerics/compare.h"
#include "runtime/partitioned/run_partitioned.h"
#include "tests/partition_and_run.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// $cut0: cut over the manual axis in dimension 0. $whole: replicated. $local: a value inside the region. None
// is cut over the free axis.
std::string Filled(const std::string& text) {
  return absl::StrReplaceAll(text,
                             {{"$cut0", "devices=[2,1,4]<=[8] last_tile_dim_replicate"},
                              {"$whole", "devices=[1,1,8]<=[8] last_tile_dim_replicate"},
                              {"$local", "devices=[1,1,2,4]<=[8] last_tile_dims={manual, replicated}"}});
}

void ExpectSame(const std::string& manual, const std::string& plain) {
  const std::unique_ptr<Module> module = ProgramFor(Filled(manual), 8);
  const std::unique_ptr<Module> reference = ProgramFor(plain, 8);
  const std::vector<Literal> arguments = IntegerArguments(*module);
  ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*reference, arguments));
  for (const bool poison : {false, true}) {
    PartitionOptions options;
    options.num_partitions = 8;
    if (poison) options.on_local_value = PoisonPadding;
    ASSERT_OK_AND_ASSIGN(const Literal actual, PartitionAndRun(*module, options, arguments));
    const Comparison comparison = Compare(actual, expected, /*tolerance=*/0);
    for (const ArrayComparison& output : comparison.outputs) EXPECT_EQ(output.difference, "") << manual;
  }
}

// x and w enter the region; the rows of x are cut over the manual axis, and w is cut over the free axis as
// given.
std::string Product(const std::string& rows, const std::string& w_sharding) {
  const int64_t half = std::stoll(rows) / 2;
  return absl::StrReplaceAll(R"(
ENTRY main {
  x = f32[$r,6] parameter(0), sharding={$cut0}
  w = f32[6,9] parameter(1), sharding=$outside
  xo = f32[$r,6] custom-call(x), custom_call_target="Sharding", sharding={$cut0}, backend_config="unspecified_dims=[0,1]"
  wo = f32[6,9] custom-call(w), custom_call_target="Sharding", sharding={$whole}, backend_config="unspecified_dims=[0,1]"
  xl = f32[$h,6] custom-call(xo), custom_call_target="SPMDFullToShardShape", sharding={$local}, backend_config="unspecified_dims=[0,1]"
  wl = f32[6,9] custom-call(wo), custom_call_target="SPMDFullToShardShape", sharding={$local}, backend_config="unspecified_dims=[0,1]"
  yl = f32[$h,9] dot(xl, wl), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  nl = f32[$h,9] negate(yl)
  no = f32[$h,9] custom-call(nl), custom_call_target="Sharding", sharding={$local}, backend_config="unspecified_dims=[0,1]"
  y = f32[$r,9] custom-call(no), custom_call_target="SPMDShardToFullShape", sharding={$cut0}, backend_config="unspecified_dims=[0,1]"
  ROOT out = f32[$r,9] copy(y)
})",
                             {{"$r", rows}, {"$h", absl::StrCat(half)}, {"$outside", w_sharding}});
}

std::string PlainProduct(const std::string& rows) {
  return absl::StrReplaceAll(R"(
ENTRY main {
  x = f32[$r,6] parameter(0)
  w = f32[6,9] parameter(1)
  y = f32[$r,9] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT n = f32[$r,9] negate(y)
})",
                             {{"$r", rows}});
}

TEST(OpenAxesTest, AWeightCutOutsideIsCutInside) {
  const std::string columns = "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}";
  const std::string rows = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}";
  for (const char* n : {"2", "8", "10", "16"}) {
    SCOPED_TRACE(n);
    ExpectSame(Product(n, columns), PlainProduct(n));
    ExpectSame(Product(n, rows), PlainProduct(n));
    EXPECT_THAT(Collectives(Filled(Product(n, columns)), 8), IsEmpty());
  }
  // The contracting dimension is cut and the result leaves replicated: one all-reduce of the local result.
  EXPECT_THAT(Collectives(Filled(Product("16", rows)), 8), ElementsAre("all-reduce 288"));
}

// Over a manual and a free axis, only even tiles are the same on both sides of the boundary. 5 local rows
// over 4 devices are gathered at the boundary.
TEST(OpenAxesTest, RowsCutUnevenlyInsideAreMadeWholeAtTheBoundary) {
  for (const int half : {1, 2, 3, 4, 5, 7, 8}) {
    SCOPED_TRACE(half);
    const std::string manual =
        absl::StrReplaceAll(R"(
ENTRY main {
  x = f32[$r,6] parameter(0), sharding={$cut0}
  xl = f32[$h,6] custom-call(x), custom_call_target="SPMDFullToShardShape", sharding={$local}, backend_config="unspecified_dims=[0,1]"
  cut = f32[$h,6] custom-call(xl), custom_call_target="Sharding", sharding={devices=[4,1,2]<=[2,4]T(1,0) last_tile_dims={manual}}
  n = f32[$h,6] negate(cut)
  ROOT y = f32[$r,6] custom-call(n), custom_call_target="SPMDShardToFullShape", sharding={$cut0}, backend_config="unspecified_dims=[0,1]"
})",
                            {{"$r", absl::StrCat(2 * half)}, {"$h", absl::StrCat(half)}});
    ExpectSame(manual, absl::StrCat("ENTRY main { x = f32[", 2 * half, ",6] parameter(0)  ROOT n = f32[",
                                    2 * half, ",6] negate(x) }"));
  }
}

// A parameter is cut over the free axis first and the manual axis second: its tiles are permuted at the
// boundary, not gathered.
TEST(OpenAxesTest, AFreeAxisBeforeTheManualOneIsPermuted) {
  const std::string manual = R"(
ENTRY main {
  x = f32[16,6] parameter(0), sharding={devices=[8,1]<=[2,4]T(1,0)}
  xl = f32[8,6] custom-call(x), custom_call_target="SPMDFullToShardShape", sharding={$local}, backend_config="unspecified_dims=[0,1]"
  t = f32[8,6] tanh(xl)
  y = f32[16,6] custom-call(t), custom_call_target="SPMDShardToFullShape", sharding={$cut0}, backend_config="unspecified_dims=[0,1]"
  ROOT out = f32[16,6] copy(y)
})";
  EXPECT_THAT(Collectives(Filled(manual), 8),
              testing::Not(testing::Contains(testing::HasSubstr("all-gather"))));
}

// Only the result is cut outside; propagation cuts the dot inside to match it.
TEST(OpenAxesTest, AResultCutOutsideIsCutInside) {
  const std::string manual = R"(
ENTRY main {
  x = f32[8,6] parameter(0), sharding={$cut0}
  w = f32[6,12] parameter(1), sharding={replicated}
  wo = f32[6,12] custom-call(w), custom_call_target="Sharding", sharding={$whole}, backend_config="unspecified_dims=[0,1]"
  xl = f32[4,6] custom-call(x), custom_call_target="SPMDFullToShardShape", sharding={$local}, backend_config="unspecified_dims=[0,1]"
  wl = f32[6,12] custom-call(wo), custom_call_target="SPMDFullToShardShape", sharding={$local}, backend_config="unspecified_dims=[0,1]"
  yl = f32[4,12] dot(xl, wl), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  yo = f32[4,12] custom-call(yl), custom_call_target="Sharding", sharding={$local}, backend_config="unspecified_dims=[0,1]"
  y = f32[8,12] custom-call(yo), custom_call_target="SPMDShardToFullShape", sharding={$cut0}, backend_config="unspecified_dims=[0,1]"
  ROOT out = f32[8,12] copy(y), sharding={devices=[2,4]<=[8]}
})";
  ExpectSame(manual, R"(
ENTRY main {
  x = f32[8,6] parameter(0)
  w = f32[6,12] parameter(1)
  ROOT y = f32[8,12] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})");
  const std::unique_ptr<Module> module = ProgramFor(Filled(manual), 8);
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*module, PartitionOptions()));
  EXPECT_EQ(SentBytes(*partitioned.module), 0);
  EXPECT_EQ(ComputeStatistics(*partitioned.module).flops, 2 * 4 * 6 * 3);
}

// A gradient that the program itself sums over the manual axis stays cut over the free axis, also through a
// loop.
TEST(OpenAxesTest, ALoopInsideKeepsTheCutOfItsState) {
  const std::string body = R"(
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
body {
  s = (s32[], f32[6,8], f32[$h,6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  w = f32[6,8] get-tuple-element(s), index=1
  x = f32[$h,6] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[$h,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  g = f32[6,8] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
$sum
  v = f32[6,8] subtract(w, t)
  ROOT r = (s32[], f32[6,8], f32[$h,6]) tuple(j, v, x)
}
cond {
  s = (s32[], f32[6,8], f32[$h,6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(2)
  ROOT c = pred[] compare(i, n), direction=LT
}
)";
  const std::string loop = R"(
  zero = s32[] constant(0)
  s = (s32[], f32[6,8], f32[$h,6]) tuple(zero, wl, xl)
  l = (s32[], f32[6,8], f32[$h,6]) while(s), condition=cond, body=body
)";
  const std::string manual = absl::StrReplaceAll(
      absl::StrCat(body, R"(
ENTRY main {
  w = f32[6,8] parameter(0), sharding={devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}
  x = f32[10,6] parameter(1), sharding={$cut0}
  wo = f32[6,8] custom-call(w), custom_call_target="Sharding", sharding={$whole}, backend_config="unspecified_dims=[0,1]"
  wl = f32[6,8] custom-call(wo), custom_call_target="SPMDFullToShardShape", sharding={$local}, backend_config="unspecified_dims=[0,1]"
  xl = f32[5,6] custom-call(x), custom_call_target="SPMDFullToShardShape", sharding={$local}, backend_config="unspecified_dims=[0,1]"
)",
                   loop, R"(
  v = f32[6,8] get-tuple-element(l), index=1
  vo = f32[6,8] custom-call(v), custom_call_target="Sharding", sharding={$local}, backend_config="unspecified_dims=[0,1]"
  y = f32[6,8] custom-call(vo), custom_call_target="SPMDShardToFullShape", sharding={$whole}, backend_config="unspecified_dims=[0,1]"
  ROOT out = f32[6,8] copy(y)
})"),
      {{"$h", "5"},
       {"$sum",
        "  t = f32[6,8] all-reduce(g), replica_groups={{0,4},{1,5},{2,6},{3,7}}, to_apply=add, channel_id=1, "
        "use_global_device_ids=true"}});
  const std::string plain =
      absl::StrReplaceAll(absl::StrCat(body, R"(
ENTRY main {
  wl = f32[6,8] parameter(0)
  xl = f32[10,6] parameter(1)
)",
                                       loop, "  ROOT v = f32[6,8] get-tuple-element(l), index=1\n}"),
                          {{"$h", "10"}, {"$sum", "  t = f32[6,8] copy(g)"}});
  ExpectSame(manual, plain);
  EXPECT_THAT(Collectives(Filled(manual), 8), ElementsAre("all-reduce 48"));
}

// A boundary op of Shardy takes several values. Open dimensions are cut inside, closed ones are not.
TEST(OpenAxesTest, ShardyRegionsTakeWhatLiesOutside) {
  const auto program = [](const std::string& x_spec) {
    return absl::StrReplaceAll(R"(
HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2, "y"=4]>}}
body {
  x = f32[32,1024] parameter(0)
  w = f32[1024] parameter(1)
  wb = f32[32,1024] broadcast(w), dimensions={1}
  ROOT y = f32[32,1024] multiply(x, wb)
}
ENTRY main {
  x = f32[64,1024] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"x\"}, {\"y\"}]>"}
  w = f32[1024] parameter(1), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"y\"}]>"}
  in = (f32[32,1024], f32[1024]) custom-call(x, w), custom_call_target="xla.sdy.GlobalToLocalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\", ?}, $x]>, <@mesh, [{?}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"x\"}>"}
  xl = f32[32,1024] get-tuple-element(in), index=0
  wl = f32[1024] get-tuple-element(in), index=1
  c = f32[32,1024] call(xl, wl), to_apply=body
  ROOT out = f32[64,1024] custom-call(c), custom_call_target="xla.sdy.LocalToGlobalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.manual_axes="#sdy<manual_axes{\"x\"}>",xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\", ?}, {?}]>]>"}
})",
                               {{"$x", x_spec}});
  };
  ExpectSame(program("{?}"), R"(
ENTRY main {
  x = f32[64,1024] parameter(0)
  w = f32[1024] parameter(1)
  wb = f32[64,1024] broadcast(w), dimensions={1}
  ROOT y = f32[64,1024] multiply(x, wb)
})");
  EXPECT_THAT(Collectives(program("{?}"), 8), IsEmpty());
  // x is closed, hence whole inside: each of the 4 devices holds a quarter of every row and gathers the rest.
  EXPECT_THAT(Collectives(program("{}"), 8), testing::Contains("all-gather 32768"));
}

}  // namespace
}  // namespace toroid
