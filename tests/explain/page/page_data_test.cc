// The data of the page of an explanation, and the page as text.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "explain/page/mesh_section.h"
#include "explain/page/page.h"
#include "explain/page/program_section.h"
#include "explain/page/whole_arrays.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/files.h"
#include "hlo/io/hlo_text.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "tests/fresh_path.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::ordered_json;

// A layer over 4 devices; `file`: where the source of its last line is.
std::string LayerText(const std::string& file) {
  return absl::StrReplaceAll(R"(HloModule layer
ENTRY main {
  x = f32[6,8] parameter(0), metadata={op_name="x"}
  w = f32[8,8] parameter(1), sharding={devices=[4,1]<=[4]}, metadata={op_name="params['</script>']"}
  ROOT y = f32[6,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={replicated},
    metadata={op_name="layer/dot" source_file="FILE" source_line=2}
})",
                             {{"FILE", file}});
}

struct Page {
  std::unique_ptr<Module> global;
  Partitioned partitioned;
  std::vector<CollectiveRecord> collectives;
  Explanation explanation;
};

absl::StatusOr<Page> Explained(const std::string& text) {
  Page page;
  ASSIGN_OR_RETURN(page.global, ParseModule(text));
  ASSIGN_OR_RETURN(page.partitioned, PartitionModule(*page.global, {}));
  page.collectives = ListCollectives(*page.partitioned.module);
  page.explanation = Explain({page.collectives, page.partitioned.full_replications, page.partitioned.cuts});
  return page;
}

ExplainPage PageOf(const Page& page, bool shows_sources = true) {
  return {.title = "layer.hlo",
          .module = *page.partitioned.module,
          .global = page.global.get(),
          .num_partitions = page.partitioned.num_partitions,
          .collectives = page.collectives,
          .explanation = page.explanation,
          .made_up_axes = page.partitioned.made_up_axes,
          .shows_sources = shows_sources};
}

TEST(PageDataTest, EveryRowNamesItsCollectivesAndTheirInstructions) {
  ASSERT_OK_AND_ASSIGN(const Page page, Explained(LayerText("layer.py")));
  const Json json = ExplainPageJson(PageOf(page));
  ASSERT_EQ(json["rows"].size(), page.explanation.rows.size());
  ASSERT_EQ(json["rows"][0], Json({0}));
  const Json& record = json["records"][0];
  EXPECT_EQ(record["opcode"], "all-reduce");
  EXPECT_EQ(record["sent_bytes"], 2 * 6 * 8 * 4 * 3 / 4);
  const Json& program = json["program"];
  const int op = record["op"];
  EXPECT_EQ(program["opcodes"][program["opcode"][op].get<int>()], "all-reduce");
  EXPECT_EQ(program["shapes"][program["shape"][op].get<int>()], "f32[6,8]");
  ASSERT_EQ(program["operands"][op].size(), 1u);
  ASSERT_EQ(program["sharding"].size(), 2u);  // Of x and w.
  EXPECT_EQ(program["shardings"][program["sharding"][1][1].get<int>()], "{devices=[4,1]<=[4]}");
  const int operand = program["operands"][op][0];
  EXPECT_EQ(program["opcodes"][program["opcode"][operand].get<int>()], "dot");
  EXPECT_EQ(json["memory"]["parameters"], 6 * 2 * 4 + 2 * 8 * 4);
}

TEST(PageDataTest, AMergedRowListsTheCollectivesOfAllLayers) {
  std::string text =
      "HloModule layers\nENTRY main {\n  x0 = f32[8,8] parameter(0)\n"
      "  w = f32[8,8] parameter(1), sharding={devices=[4,1]<=[4]}\n";
  for (int i = 0; i < 3; ++i) {
    absl::StrAppend(&text, i == 2 ? "  ROOT x" : "  x", i + 1, " = f32[8,8] dot(x", i,
                    ", w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={replicated}\n");
  }
  ASSERT_OK_AND_ASSIGN(const Page page, Explained(text + "}"));
  const Json json = ExplainPageJson(PageOf(page));
  std::vector<int> listed;
  for (const Json& row : json["rows"]) {
    for (const Json& record : row) listed.push_back(record);
  }
  EXPECT_THAT(listed, ::testing::UnorderedElementsAre(0, 1, 2));
}

TEST(PageDataTest, TheMeshTellsTheShardsOfArguments) {
  ASSERT_OK_AND_ASSIGN(const Page page, Explained(LayerText("layer.py")));
  const Json mesh = ExplainPageJson(PageOf(page))["mesh"];
  EXPECT_EQ(mesh["devices"], 4);
  const Json& w = mesh["tensors"][1];
  EXPECT_EQ(w["name"], "params['</script>']");
  EXPECT_EQ(w["dims"], Json({8, 8}));
  EXPECT_EQ(w["dims_are_exact"], true);
  const Json& sharding = mesh["shardings"][w["sharding"].get<int>()];
  EXPECT_EQ(sharding["tiles"], Json({4, 1}));
  EXPECT_EQ(sharding["reshape"], Json({4}));
  EXPECT_EQ(mesh["groups"], Json::parse(R"([{"group": [0, 0, 0, 0]}])"));
}

TEST(PageDataTest, ArraysInsideAreListedOnceForAllLayers) {
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(R"(HloModule layers
    ENTRY main {
      x = f32[8,4] parameter(0), sharding={devices=[4,1]<=[4]}
      h.1 = f32[8,4] tanh(x), sharding={devices=[4,1]<=[4]}, metadata={op_name="jit(step)/layers_0/tanh"}
      h.2 = f32[8,4] tanh(h.1), sharding={devices=[4,1]<=[4]}, metadata={op_name="jit(step)/layers_1/tanh"}
      h.3 = f32[8,4] tanh(h.2), sharding={replicated}, metadata={op_name="jit(step)/layers_2/tanh"}
      ROOT y = f32[4,8,4] broadcast(h.3), dimensions={1,2}, sharding={devices=[1,1,4]<=[4]}
    })"));
  const std::vector<WholeArray> arrays = ListWholeArrays(*module);
  std::vector<std::string> names;
  for (const WholeArray& array : arrays) names.push_back(array.name);
  EXPECT_THAT(names, ElementsAre("y", "layers_0..1/h.1..2", "layers_2/h.3"));
  EXPECT_EQ(arrays[1].sharding.ToString(), "{devices=[4,1]<=[4]}");
  EXPECT_EQ(ListWholeArrays(*module, 1).size(), 1u);

  const Json mesh = MakeMeshSection(*module, module.get(), 4, {}, arrays).json;
  EXPECT_EQ(mesh["tensors"].back()["name"], "layers_2/h.3");
  EXPECT_EQ(mesh["tensors"].back()["kind"], "value");
}

TEST(PageDataTest, ManyDevicesAreNotListed) {
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(R"(HloModule m
    add { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT c = f32[] add(a, b) }
    ENTRY main { x = f32[8] parameter(0)
      ROOT y = f32[8] all-reduce(x), channel_id=1, replica_groups=[1,1048576]<=[1048576], use_global_device_ids=true,
        to_apply=add })"));
  const Instruction* y = module->entry()->root();
  const MeshSection mesh = MakeMeshSection(*module, nullptr, 1 << 20, {y});
  EXPECT_THAT(mesh.groups, ElementsAre(-1));
  EXPECT_LT(mesh.json.dump().size(), 1000u);
}

// The names of the instructions from which `to` gets what is carried into it.
std::vector<std::string> CarriedTo(const Json& program, const std::string& to) {
  std::vector<std::string> from;
  for (const Json& pair : program["carried"]) {
    if (program["name"][pair[1].get<int>()] == to) from.push_back(program["name"][pair[0].get<int>()]);
  }
  return from;
}

TEST(ProgramSectionTest, TheStateOfALoopIsCarriedElementByElement) {
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(R"(HloModule loop
    body {
      state = (s32[], f32[8]) parameter(0)
      i = s32[] get-tuple-element(state), index=0
      v = f32[8] get-tuple-element(state), index=1
      one = s32[] constant(1)
      next_i = s32[] add(i, one)
      next_v = f32[8] tanh(v)
      ROOT next = (s32[], f32[8]) tuple(next_i, next_v)
    }
    condition {
      seen = (s32[], f32[8]) parameter(0)
      j = s32[] get-tuple-element(seen), index=0
      four = s32[] constant(4)
      ROOT more = pred[] compare(j, four), direction=LT
    }
    ENTRY main {
      zero = s32[] constant(0)
      x = f32[8] parameter(0)
      first = (s32[], f32[8]) tuple(zero, x)
      loop = (s32[], f32[8]) while(first), condition=condition, body=body
      ROOT out = f32[8] get-tuple-element(loop), index=1
    })"));
  const Json program = MakeProgramSection(*module, {}).json;
  EXPECT_THAT(CarriedTo(program, "v"), ElementsAre("x"));
  EXPECT_THAT(CarriedTo(program, "j"), ElementsAre("zero"));
  EXPECT_THAT(CarriedTo(program, "out"), ElementsAre("next_v"));
}

TEST(ProgramSectionTest, OfALargeProgramTheInstructionsAroundACollectiveAreTaken) {
  std::string text = "HloModule chain\nENTRY main {\n  x0 = f32[8] parameter(0)\n";
  for (int i = 1; i <= 100; ++i) {
    absl::StrAppend(&text, i == 100 ? "  ROOT x" : "  x", i, " = f32[8] tanh(x", i - 1, ")\n");
  }
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(text + "}"));
  const Instruction* middle = module->entry()->instruction(50);
  const ProgramSection section = MakeProgramSection(*module, {middle}, /*most=*/5);
  EXPECT_EQ(section.json["instructions"], 101);
  EXPECT_EQ(section.json["name"], Json({"x48", "x49", "x50", "x51", "x52"}));
  EXPECT_EQ(section.json["operands"], Json::parse("[[], [0], [1], [2], [3]]"));
  EXPECT_EQ(section.place.at(middle), 2);
}

TEST(SourceSectionTest, LinesOfAFileAreReadWithTheirBytes) {
  const std::string file = FreshPath("layer.py");
  ASSERT_OK(WriteFile(file, "def layer(x, w):\n  return x @ w\n"));
  ASSERT_OK_AND_ASSIGN(const Page page, Explained(LayerText(file)));
  const Json json = ExplainPageJson(PageOf(page));
  ASSERT_EQ(json["files"].size(), 1u);
  EXPECT_EQ(json["files"][0]["lines"], Json::parse("[[2, 288]]"));
  EXPECT_EQ(json["files"][0]["parts"],
            Json::parse(R"([{"first": 1, "lines": ["def layer(x, w):", "  return x @ w"]}])"));

  const Json without = ExplainPageJson(PageOf(page, /*shows_sources=*/false));
  EXPECT_EQ(without["files"][0]["parts"], Json::array());
  EXPECT_THAT(std::string(without["files"][0]["missing"]), HasSubstr("left out"));
  EXPECT_THAT(without.dump(), Not(HasSubstr("return x @ w")));
}

TEST(SourceSectionTest, OfALongFileTheLinesAroundTheNamedOneAreRead) {
  const std::string file = FreshPath("long.py");
  std::string text;
  for (int i = 1; i <= 1000; ++i) absl::StrAppend(&text, "line ", i, "\n");
  ASSERT_OK(WriteFile(file, text));
  ASSERT_OK_AND_ASSIGN(const Page page, Explained(LayerText(file)));
  const Json parts = ExplainPageJson(PageOf(page))["files"][0]["parts"];
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0]["first"], 1);
  EXPECT_EQ(parts[0]["lines"].size(), 14u);
}

TEST(SourceSectionTest, AFileThatLacksTheLineIsAnotherOne) {
  const std::string file = FreshPath("stale.py");
  for (const char* text : {"", "one line\n"}) {
    ASSERT_OK(WriteFile(file, text));
    ASSERT_OK_AND_ASSIGN(const Page page, Explained(LayerText(file)));
    const Json one = ExplainPageJson(PageOf(page))["files"][0];
    EXPECT_EQ(one["parts"], Json::array());
    EXPECT_THAT(std::string(one["missing"]), HasSubstr("lacks a line"));
  }
}

TEST(SourceSectionTest, WhatIsNoSourceFileIsNotRead) {
  const std::string secret = FreshPath("passwd");
  const std::string binary = FreshPath("binary.py");
  const std::string large = FreshPath("large.py");
  ASSERT_OK(WriteFile(secret, "secret\nsecret\n"));
  ASSERT_OK(WriteFile(binary, std::string("secret\n\0secret\n", 15)));
  ASSERT_OK(WriteFile(large, std::string(1 << 21, 's') + "secret"));
  for (const std::string& file : {secret, binary, large, std::string("/dev/zero.py"), std::string("/tmp")}) {
    SCOPED_TRACE(file);
    ASSERT_OK_AND_ASSIGN(const Page page, Explained(LayerText(file)));
    const Json one = ExplainPageJson(PageOf(page))["files"][0];
    EXPECT_EQ(one["parts"], Json::array());
    EXPECT_TRUE(one.contains("missing"));
  }
}

TEST(PageTextTest, NoNameEndsTheScriptElement) {
  ASSERT_OK_AND_ASSIGN(const Page page, Explained(LayerText("</script><!--")));
  const std::string text = ExplainPageText(PageOf(page));
  EXPECT_TRUE(absl::StrContains(text, "\\u003c/script>"));
  const size_t begin = text.find("id=\"toroid-data\">"), end = text.find("</script>", begin);
  const std::string json = text.substr(begin + 17, end - begin - 17);
  const Json data = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  ASSERT_FALSE(data.is_discarded());
  EXPECT_EQ(data["title"], "layer.hlo");
  EXPECT_EQ(data["files"][0]["name"], "</script><!--");
  for (const char* placeholder : {"/*STYLE*/", "/*THEME*/", "/*DAGRE*/", "/*DATA*/", "/*SCRIPT*/"}) {
    EXPECT_THAT(text, Not(HasSubstr(placeholder)));
  }
}

TEST(PageTextTest, BytesThatAreNoUtf8AreReplaced) {
  ASSERT_OK_AND_ASSIGN(Page page, Explained(LayerText("layer.py")));
  page.partitioned.module->entry()->parameter(0)->set_name("x\xff");
  const std::string text = ExplainPageText(PageOf(page));
  EXPECT_THAT(text, HasSubstr("</html>"));
  EXPECT_THAT(text, Not(HasSubstr("\xff")));
}

}  // namespace
}  // namespace toroid
