#include "hlo/passes/change_mesh.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "hlo/analysis/sharding_stats.h"
#include "hlo/io/hlo_text.h"
#include "partitioner/prepare/sharding_lines.h"
#include "runtime/engine/executor.h"
#include "runtime/numerics/compare.h"
#include "tests/partition_and_run.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A layer lowered with Shardy for a mesh of 2 x 2 devices, which JAX writes with a copy of each sharding by number. $meshes,
// $x: the meshes and the sharding of x.
std::string Layer(const std::string& meshes = R"({mesh = #sdy.mesh<[\"data\"=2, \"model\"=2]>})",
                  const std::string& x = R"(<@mesh, [{\"data\"}, {}]>)") {
  return absl::StrReplaceAll(R"(
HloModule layer, num_partitions=4, frontend_attributes={xla.sdy.meshes="$meshes"}

ENTRY main {
  x = f32[18,10] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}, frontend_attributes={xla.sdy.sharding="#sdy.sharding$x"}
  w = f32[10,14] parameter(1), sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{}, {\"model\"}]>"}
  v = f32[14,10] parameter(2), sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"model\"}, {}]>"}
  hidden = f32[18,14] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  out = f32[18,10] dot(hidden, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT kept = f32[18,10] custom-call(out), custom_call_target="Sharding", sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"data\"}, {}]>]>"}
})",
                             {{"$meshes", meshes}, {"$x", x}});
}

absl::Status Change(const std::string& sizes, Module* module, std::vector<std::string>* notes = nullptr) {
  absl::StatusOr<std::vector<AxisSize>> parsed = ParseAxisSizes(sizes);
  if (!parsed.ok()) return parsed.status();
  return ChangeMesh(*parsed, module, notes);
}

std::string ErrorOf(const std::string& sizes, const std::string& text) {
  const std::unique_ptr<Module> module = ProgramFor(text, 1);
  const std::string before = PrintModule(*module);
  const absl::Status status = Change(sizes, module.get());
  EXPECT_EQ(PrintModule(*module), before);
  return std::string(status.message());
}

// Partitions the module for the devices its shardings name, and expects the results of the unpartitioned run.
void ExpectSameValues(const Module& module, int64_t devices) {
  EXPECT_EQ(ComputeShardingStats(module).devices, devices);
  const std::vector<Literal> arguments = IntegerArguments(module);
  ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(module, arguments));
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(module, {}));
  EXPECT_EQ(partitioned.num_partitions, devices);
  ASSERT_OK_AND_ASSIGN(const Literal actual, PartitionAndRun(module, {}, arguments));
  for (const ArrayComparison& output : Compare(actual, expected, /*tolerance=*/0).outputs) {
    EXPECT_EQ(output.difference, "");
  }
}

TEST(ChangeMesh, EverySizeComputesTheSame) {
  struct Case {
    std::string sizes;
    int64_t devices;
    std::string shard;  // Of x.
  };
  for (const Case& c : {Case{"data=4", 8, "f32[5,10]"},
                        {"model=7,data=1", 7, "f32[18,10]"},
                        {"data=3,model=5", 15, "f32[6,10]"},
                        {"data=2,model=2", 4, "f32[9,10]"},
                        {"data=16,model=128", 2048, "f32[2,10]"}}) {
    SCOPED_TRACE(c.sizes);
    const std::unique_ptr<Module> module = ProgramFor(Layer(), 1);
    ASSERT_OK(Change(c.sizes, module.get()));
    if (c.devices <= 16) ExpectSameValues(*module, c.devices);
    ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*module, {}));
    EXPECT_EQ(partitioned.num_partitions, c.devices);
    EXPECT_EQ(partitioned.module->entry()->parameters()[0]->shape().ToString(), c.shard);
  }
}

TEST(ChangeMesh, ReplacesMeshesInsideShardings) {
  const std::unique_ptr<Module> module = ProgramFor(
      Layer(R"({mesh = #sdy.mesh<[\"data\"=2, \"model\"=2]>, \"one\" = #sdy.mesh<[], device_ids=[0]>})",
            R"(<mesh<[\"model\"=2, \"data\"=2]>, [{\"data\"}, {}]>)"),
      1);
  ASSERT_OK(Change("data=3", module.get()));
  EXPECT_THAT(PrintModule(*module), HasSubstr(R"(mesh<[\"model\"=2, \"data\"=3]>, [{\"data\"}, {}]>)"));
  EXPECT_THAT(PrintModule(*module), HasSubstr("device_ids=[0]"));
}

TEST(ChangeMesh, SaysThatAnOrderOfDevicesIsDropped) {
  const std::string text = Layer(R"({mesh = #sdy.mesh<[\"data\"=2, \"model\"=2], device_ids=[3, 1, 2, 0]>})");
  std::vector<std::string> notes;
  std::unique_ptr<Module> module = ProgramFor(text, 1);
  ASSERT_OK(Change("data=2", module.get(), &notes));
  EXPECT_THAT(notes, IsEmpty());
  EXPECT_THAT(PrintModule(*module), HasSubstr("device_ids=[3, 1, 2, 0]"));
  ASSERT_OK(Change("data=4", module.get(), &notes));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("in the plain order")));
  ExpectSameValues(*module, 8);
}

// jax lowers a mesh of one device with all its axes, so that a program can be lowered where there is one device.
TEST(ChangeMesh, GrowsAMeshOfOneDevice) {
  const std::unique_ptr<Module> module =
      ProgramFor(absl::StrReplaceAll(Layer(R"({mesh = #sdy.mesh<[\"data\"=1, \"model\"=1]>})"),
                                     {{"num_partitions=4", "num_partitions=1"}}),
                 1);
  ASSERT_OK(Change("data=3,model=2", module.get()));
  ExpectSameValues(*module, 6);
}

TEST(ChangeMesh, ChangesTheMeshOfAnOrdinarySharding) {
  const std::unique_ptr<Module> module = ProgramFor(R"(
ENTRY main {
  x = f32[18,10] parameter(0), sharding={mesh['data'=2,'model'=2], [{'data'}, {}]}
  w = f32[10,14] parameter(1), sharding={mesh['data'=2,'model'=2], [{}, {'model'}]}
  ROOT out = f32[18,14] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
                                                    1);
  ASSERT_OK(Change("data=3", module.get()));
  ExpectSameValues(*module, 6);
}

TEST(ChangeMesh, GivesAModuleWithoutShardingsAMesh) {
  const std::unique_ptr<Module> module = ProgramFor(R"(
ENTRY main {
  x = f32[18,10] parameter(0)
  w = f32[10,14] parameter(1)
  ROOT out = f32[18,14] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
                                                    1);
  ASSERT_OK(Change("data=3,model=2", module.get()));
  ASSERT_OK(ApplyShardingLines({{R"(x=[{"data"}, {}])", ""}, {R"(w=[{}, {"model"}])", ""}}, module.get()));
  ExpectSameValues(*module, 6);
}

TEST(ChangeMesh, ErrorsSayWhatToDoAndLeaveTheModule) {
  EXPECT_THAT(ErrorOf("dat=4", Layer()),
              HasSubstr("no mesh of the module has an axis \"dat\"; did you mean data?"));
  EXPECT_THAT(ErrorOf("data=2097152", Layer()), HasSubstr("there can be 1048576"));
  EXPECT_THAT(ErrorOf("data=1048576", Layer()), HasSubstr("a mesh of 2097152 devices"));
  EXPECT_THAT(ErrorOf("data=4", R"(
ENTRY main {
  ROOT x = f32[18,10] parameter(0), sharding={devices=[2,2]<=[4]}
})"),
              HasSubstr("the sharding of main/x lists devices and names no axes of a mesh"));
  EXPECT_THAT(
      ErrorOf("data=4",
              Layer(R"({mesh = #sdy.mesh<[\"data\"=2, \"model\"=2]>, other = #sdy.mesh<[\"all\"=4]>})")),
      HasSubstr("several meshes, which would have 8 and 4 devices"));
  const std::string part =
      Layer(R"({mesh = #sdy.mesh<[\"data\"=4, \"model\"=2]>})", R"(<@mesh, [{\"data\":(1)2}, {}]>)");
  EXPECT_THAT(ErrorOf("data=8", part), HasSubstr("main/x: a sharding is over a part of the axis \"data\""));
  EXPECT_EQ(ErrorOf("model=2", part), "");
  for (const char* sizes : {"", "data", "data=0", "data=-1", "data=x", "=2", "data=2,", "data=2,data=4"}) {
    EXPECT_THAT(ErrorOf(sizes, Layer()), Not(testing::StrEq(""))) << sizes;
  }
}

// A manual region over a mesh a=2, b=2. x is cut over b into halves, which the region adds and then multiplies with the
// other half.
std::string Region(const std::string& groups = "{{0,1},{2,3}}", const std::string& x = R"([{\"b\"}, {}])",
                   const std::string& extra = "") {
  return absl::StrReplaceAll(R"(
HloModule region, num_partitions=4, frontend_attributes={xla.sdy.meshes="{mesh = #sdy.mesh<[\"a\"=2, \"b\"=2]>}"}
sum { p = f32[] parameter(0) q = f32[] parameter(1) ROOT s = f32[] add(p, q) }
ENTRY main {
  x = f32[8,6] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"b\"}, {\"a\"}]>"}
  in = f32[4,6] custom-call(x), custom_call_target="xla.sdy.GlobalToLocalShape", frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, $x>]>", xla.sdy.manual_axes="#sdy<manual_axes{\"a\", \"b\"}>"}
  total = f32[4,6] all-reduce(in), replica_groups=$groups, channel_id=1, use_global_device_ids=true, to_apply=sum
  next = f32[4,6] collective-permute(in), source_target_pairs={{0,1},{1,0},{2,3},{3,2}}, channel_id=2
  $extra
  twice = f32[4,6] multiply(next, total)
  ROOT out = f32[8,6] custom-call(twice), custom_call_target="xla.sdy.LocalToGlobalShape", frontend_attributes={xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"b\"}, {}]>]>", xla.sdy.manual_axes="#sdy<manual_axes{\"a\", \"b\"}>"}
})",
                             {{"$groups", groups}, {"$x", x}, {"$extra", extra}});
}

// What the region computes, on one device.
constexpr char kRegionOnOneDevice[] = R"(
ENTRY main {
  x = f32[8,6] parameter(0)
  low = f32[4,6] slice(x), slice={[0:4], [0:6]}
  high = f32[4,6] slice(x), slice={[4:8], [0:6]}
  total = f32[4,6] add(low, high)
  first = f32[4,6] multiply(high, total)
  second = f32[4,6] multiply(low, total)
  ROOT out = f32[8,6] concatenate(first, second), dimensions={0}
})";

TEST(ChangeMesh, ARegionFollowsAxesThatItDoesNotUse) {
  const std::unique_ptr<Module> plain = ProgramFor(kRegionOnOneDevice, 1);
  const std::vector<Literal> arguments = IntegerArguments(*plain);
  ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*plain, arguments));
  // The groups in each form, also of a mesh that lists its devices in another order.
  const std::string reordered = absl::StrReplaceAll(
      Region("{{0,2},{1,3}}"), {{R"(\"b\"=2]>)", R"(\"b\"=2], device_ids=[0, 2, 1, 3]>)"},
                                {"{{0,1},{1,0},{2,3},{3,2}}", "{{0,2},{2,0},{1,3},{3,1}}"}});
  for (const std::string& text :
       {Region(), Region("[2,2]<=[4]"), Region("mesh['a'=2,'b'=2] {'b'}"), reordered}) {
    for (const int64_t a : {1, 2, 3, 8}) {
      SCOPED_TRACE(absl::StrCat(text, a));
      const std::unique_ptr<Module> module = ProgramFor(text, 1);
      ASSERT_OK(Change(absl::StrCat("a=", a), module.get()));
      ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*module, {}));
      EXPECT_EQ(partitioned.num_partitions, a * 2);
      ASSERT_OK_AND_ASSIGN(const Literal actual, PartitionAndRun(*module, {}, arguments));
      EXPECT_EQ(Compare(actual, expected, /*tolerance=*/0).outputs[0].difference, "");
    }
  }
}

TEST(ChangeMesh, NamesTheRegionAndTheAxisThatDoNotFit) {
  EXPECT_THAT(
      ErrorOf("b=4", Region()),
      HasSubstr(
          "main/in: dimension 0 of operand 0 of the manual region is cut into 2 parts over the axis \"b\", and "
          "its body is written for one of them, not of 4"));
  EXPECT_THAT(ErrorOf("a=4,b=1", Region()), HasSubstr("main/in: dimension 0 of operand 0"));
  EXPECT_THAT(
      ErrorOf("a=4", Region("{{0,2},{1,3}}")),
      HasSubstr(
          "main/total: a collective of a manual region does not fit: it goes over the axis \"a\", whose size "
          "would be 4 instead of 2"));
  EXPECT_THAT(ErrorOf("a=4", absl::StrReplaceAll(Region("{}"), {{", use_global_device_ids=true", ""}})),
              HasSubstr("it goes over the axis \"a\""));
  EXPECT_THAT(ErrorOf("a=4", Region("{{0,1},{2},{3}}")), HasSubstr("not those along axes of the mesh"));
  EXPECT_THAT(ErrorOf("a=4", Region("{{1,0},{3,2}}")), HasSubstr("in another order"));
  EXPECT_THAT(ErrorOf("a=4", Region("{{0,1},{2,3}}", R"([{\"b\"}, {}])", "id = u32[] partition-id()")),
              HasSubstr("main/id: a manual region reads the number of its device"));
  EXPECT_THAT(ErrorOf("a=1048576", Region()), HasSubstr("there can be 1048576"));
  EXPECT_EQ(ErrorOf("a=2", Region("{{0,2},{1,3}}")), "");
}

TEST(ChangeMesh, RefusesCollectivesOutsideOfRegions) {
  const std::string text = R"(
HloModule region, frontend_attributes={xla.sdy.meshes="{mesh = #sdy.mesh<[\"a\"=2]>}"}
sum { p = f32[] parameter(0) q = f32[] parameter(1) ROOT s = f32[] add(p, q) }
ENTRY main {
  x = f32[8] parameter(0)
  ROOT y = f32[8] all-reduce(x), replica_groups={{0,1}}, channel_id=1, use_global_device_ids=true, to_apply=sum
})";
  EXPECT_THAT(ErrorOf("a=4", text),
              HasSubstr("main/y: a collective lists devices of the module's own mesh outside"));
  EXPECT_EQ(ErrorOf("a=2", text), "");
}

}  // namespace
}  // namespace toroid
