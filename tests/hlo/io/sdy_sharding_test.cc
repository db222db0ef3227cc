#include "hlo/io/sdy_sharding.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "hlo/devices/hlo_sharding.h"
#include "hlo/io/hlo_text.h"
#include "partitioner/propagation/read_annotations.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char kMeshes[] = R"({mesh = #sdy.mesh<["p"=2, "q"=3, "r"=4]>, empty_mesh = #sdy.mesh<[]>,
    turned = #sdy.mesh<["x"=2, "y"=2], device_ids=[3, 1, 2, 0]>, maximal_mesh_1 = #sdy.mesh<[], device_ids=[1]>})";

SdyMeshes Meshes() {
  const absl::StatusOr<SdyMeshes> meshes = ParseSdyMeshes(kMeshes);
  TOROID_CHECK(meshes.ok(), meshes.status().message());
  return *meshes;
}

TEST(SdyMeshTest, ReadsAxesAndDeviceIds) {
  const SdyMeshes meshes = Meshes();
  ASSERT_EQ(meshes.size(), 4);
  const SdyMesh& mesh = meshes.at("mesh");
  ASSERT_EQ(mesh.axes.size(), 3);
  EXPECT_EQ(mesh.axes[1].name, "q");
  EXPECT_EQ(mesh.axes[1].size, 3);
  EXPECT_EQ(mesh.NumDevices(), 24);
  EXPECT_THAT(meshes.at("turned").device_ids, ElementsAre(3, 1, 2, 0));
  EXPECT_EQ(meshes.at("empty_mesh").NumDevices(), 1);
  EXPECT_THAT(meshes.at("maximal_mesh_1").device_ids, ElementsAre(1));
}

TEST(SdyMeshTest, ErrorsNameWhatWasExpected) {
  const auto invalid = [](const char* what) {
    return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(what));
  };
  EXPECT_THAT(ParseSdyMeshes("mesh"), invalid("expected '{'"));
  EXPECT_THAT(ParseSdyMeshes("{mesh = 3}"), invalid("expected '#sdy.mesh<'"));
  EXPECT_THAT(ParseSdyMeshes(R"({mesh = #sdy.mesh<["a"=0]>})"), invalid("size out of range"));
  EXPECT_THAT(ParseSdyMeshes(R"({mesh = #sdy.mesh<["a"=-2]>})"), invalid("size out of range"));
  EXPECT_THAT(ParseSdyMeshes(R"({mesh = #sdy.mesh<["a"=4294967296, "b"=4294967296]>})"),
              invalid("size out of range"));
  EXPECT_THAT(ParseSdyMeshes(R"({mesh = #sdy.mesh<["a"=99999999999999999999]>})"), invalid("out of range"));
  EXPECT_THAT(ParseSdyMeshes(R"({mesh = #sdy.mesh<["a"=2], device_ids=[0]>})"), invalid("every device"));
  EXPECT_THAT(ParseSdyMeshes(R"({mesh = #sdy.mesh<["a=2]>})"), invalid("unterminated"));
  EXPECT_THAT(ParseSdyMeshes(R"({mesh = #sdy.mesh<["a"=2])"), invalid("expected '>'"));
}

TEST(SdyShardingTest, ReadsDimensionsSubAxesPrioritiesAndSets) {
  ASSERT_OK_AND_ASSIGN(
      const auto shardings,
      ParseSdyShardings(
          R"(#sdy.sharding<@mesh, [{"q", "p"}, {"r":(2)2, ?}p3, {?}, {}], replicated={"r":(1)2}>)",
          Meshes()));
  ASSERT_EQ(shardings.size(), 1);
  const SdySharding& sharding = shardings[0];
  ASSERT_EQ(sharding.dims.size(), 4);
  ASSERT_EQ(sharding.dims[0].axes.size(), 2);
  EXPECT_EQ(sharding.dims[0].axes[0].name, "q");
  EXPECT_FALSE(sharding.dims[0].open);
  EXPECT_EQ(sharding.dims[0].priority, 0);
  EXPECT_EQ(sharding.dims[1].axes[0].pre, 2);
  EXPECT_EQ(sharding.dims[1].axes[0].size, 2);
  EXPECT_TRUE(sharding.dims[1].open);
  EXPECT_EQ(sharding.dims[1].priority, 3);
  EXPECT_TRUE(sharding.dims[2].open);
  EXPECT_FALSE(sharding.dims[3].open);
  ASSERT_EQ(sharding.replicated.size(), 1);
  EXPECT_EQ(sharding.replicated[0].name, "r");
}

TEST(SdyShardingTest, OneEntryPerValueOverAnyMesh) {
  ASSERT_OK_AND_ASSIGN(
      const auto shardings,
      ParseSdyShardings(
          R"(#sdy.sharding_per_value<[<@mesh, [{"p"}]>, <@turned, []>, <mesh<["z"=5]>, [{"z"}]>]>)",
          Meshes()));
  ASSERT_EQ(shardings.size(), 3);
  EXPECT_TRUE(shardings[1].dims.empty());
  EXPECT_EQ(shardings[2].mesh.NumDevices(), 5);
}

TEST(SdyShardingTest, EscapedQuotesAreUnescapedOnce) {
  ASSERT_OK_AND_ASSIGN(const auto shardings,
                       ParseSdyShardings(R"(#sdy.sharding<@mesh, [{\"p\"}]>)", Meshes()));
  EXPECT_EQ(shardings[0].dims[0].axes[0].name, "p");
}

TEST(SdyShardingTest, PrintedShardingsReadBack) {
  for (const char* text : {
           R"(#sdy.sharding<@mesh, [{"p"}, {"q"}]>)",
           R"(#sdy.sharding<@mesh, []>)",
           R"(#sdy.sharding<@mesh, [{"r":(1)2, ?}p2, {}], replicated={"q"}>)",
           R"(#sdy.sharding<@mesh, [{?}, {}], unreduced={"r", "p"}>)",
       }) {
    ASSERT_OK_AND_ASSIGN(const auto shardings, ParseSdyShardings(text, Meshes()));
    EXPECT_EQ(SdyShardingToString(shardings[0], "mesh"), text);
  }
}

TEST(SdyShardingTest, ErrorsNameWhatWasExpected) {
  const auto expect = [](const char* text, const char* what) {
    EXPECT_THAT(ParseSdyShardings(text, Meshes()),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(what)))
        << text;
  };
  expect("", "expected '#sdy.sharding<'");
  expect(R"(#sdy.sharding<@nowhere, [{}]>)", "no mesh @nowhere");
  expect(R"(#sdy.sharding<@mesh, [{"z"}]>)", "no axis \"z\"");
  expect(R"(#sdy.sharding<@mesh, [{"q":(2)2}]>)", "does not divide");
  expect(R"(#sdy.sharding<@mesh, [{"r":(0)2}]>)", "does not divide");
  expect(R"(#sdy.sharding<@mesh, [{"r":(3037000500)3037000500}]>)", "does not divide");
  expect(R"(#sdy.sharding<@mesh, [{?, "p"}]>)", "last entry");
  expect(R"(#sdy.sharding<@mesh, [{"p"}p-1]>)", "priority");
  expect(R"(#sdy.sharding<@mesh, [{"p"}]> x)", "text after");
  expect(R"(#sdy.sharding<@mesh, [{"p"})", "expected");
  expect(R"(#sdy.sharding_per_value<[<@mesh, [{"p"}]>)", "expected");
}

TEST(SdyManualAxesTest, ReadsNames) {
  EXPECT_THAT(ParseSdyManualAxes(R"(#sdy<manual_axes{"a", "b"}>)"), IsOkAndHolds(ElementsAre("a", "b")));
  EXPECT_THAT(ParseSdyManualAxes("#sdy<manual_axes{}>"), IsOkAndHolds(ElementsAre()));
  EXPECT_THAT(ParseSdyManualAxes(R"(#sdy<manual_axes{"a")"), StatusIs(absl::StatusCode::kInvalidArgument));
}

struct TileForm {
  const char* sdy;
  int rank;
  const char* tiles;
};

// Expected values are from Shardy's own conversion, over the mesh ["p"=2, "q"=3, "r"=4].
const TileForm kTileForms[] = {
    {R"([{"p"}, {"q"}])", 2, "{devices=[2,3,4]<=[24] last_tile_dim_replicate}"},
    {R"([{"r"}, {}])", 2, "{devices=[4,1,6]<=[6,4]T(1,0) last_tile_dim_replicate}"},
    {R"([{"q", "p"}, {"r"}])", 2, "{devices=[6,4]<=[2,3,4]T(1,0,2)}"},
    {R"([{"r":(1)2}, {"p"}])", 2, "{devices=[2,2,6]<=[6,2,2]T(1,0,2) last_tile_dim_replicate}"},
    {R"([{}, {?}])", 2, "{replicated}"},
    {R"([{"p"}, {}], unreduced={"r"})", 2,
     "{devices=[2,1,4,3]<=[2,3,4]T(0,2,1) last_tile_dims={unreduced, replicated}}"},
};

TEST(SdyShardingTest, GivesTheTileFormOfShardy) {
  for (const TileForm& form : kTileForms) {
    SCOPED_TRACE(form.sdy);
    std::string quoted;
    for (const char* c = form.sdy; *c != 0; ++c)
      absl::StrAppend(&quoted, *c == '"' ? "\\" : "", std::string(1, *c));
    const auto module = ParseModule(absl::StrCat(
        R"(HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["p"=2, "q"=3, "r"=4]>}}
ENTRY main {
  ROOT x = f32[48,48] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, )",
        quoted, ">\"}\n}\n"));
    ASSERT_TRUE(module.ok()) << module.status().message();
    const FlowGraph graph(**module);
    ASSERT_OK_AND_ASSIGN(const Annotations annotations, ReadAnnotations(**module, graph, 0));
    EXPECT_EQ(annotations.mesh.num_devices(), 24);
    const auto& annotation = annotations.tensor[graph.Leaves(*(*module)->entry()->parameter(0))[0]];
    ASSERT_TRUE(annotation.has_value());
    EXPECT_EQ(annotations.mesh.ToHlo(annotation->sharding).ToString(), form.tiles);
  }
}

}  // namespace
}  // namespace toroid
