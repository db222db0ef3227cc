// BUILD: size = "small"
// BUILD: data = ["//tests/corpus:jax", "//tests/corpus:full_size"]
// Statistics of small modules, computed by hand, and of the corpus, by its sums.
#include "hlo/analysis/module_stats.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/analysis/module_stats_report.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "nlohmann/json.hpp"
#include "tests/corpus_files.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr char kModule[] = R"(HloModule step, num_partitions=4

add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }

fused { p = f32[8,4] parameter(0) n = f32[8,4] negate(p) ROOT e = f32[8,4] exponential(n) }

more { s = (s32[], f32[8,4]) parameter(0) i = s32[] get-tuple-element(s), index=0 ten = s32[] constant(10)
  ROOT c = pred[] compare(i, ten), direction=LT }

body {
  s = (s32[], f32[8,4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[8,4] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[8,4] fusion(x), kind=kLoop, calls=fused
  ROOT t = (s32[], f32[8,4]) tuple(j, y)
}

ENTRY main {
  x = f32[8,16] parameter(0), sharding={devices=[4,1]<=[4]}
  w = f32[16,4] parameter(1), sharding={mesh['m'=8], [{}, {'m'}]}
  d = f32[8,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={source_file="a.py" source_line=7}
  zero = s32[] constant(0)
  t = (s32[], f32[8,4]) tuple(zero, d)
  l = (s32[], f32[8,4]) while(t), condition=more, body=body
  y = f32[8,4] get-tuple-element(l), index=1
  g = f32[32,4] all-gather(y), dimensions={0}, replica_groups=[1,4]<=[4], channel_id=1, use_global_device_ids=true
  h = f32[8,4] all-gather(f32[4,4] custom-call(y)), dimensions={0}, replica_groups=[2,2]<=[4], channel_id=1, use_global_device_ids=true
  z = f32[] constant(0)
  r = f32[4] reduce(g, z), dimensions={0}, to_apply=add
  q = f32[4] reduce(h, z), dimensions={0}, to_apply=add
  ROOT o = (f32[4], f32[4]) tuple(r, q), sharding={{devices=[4]<=[4]}, {replicated}}
})";

std::string Text() {
  std::string text = kModule;
  const std::string nested = "f32[4,4] custom-call(y)";
  text.replace(text.find(nested), nested.size(), "half");
  const std::string at = "  h = ";
  return text.insert(text.find(at), "  half = f32[4,4] custom-call(y), custom_call_target=\"half\"\n");
}

ModuleStats Stats() { return ComputeModuleStats(*ParseModule(Text()).value()); }

TEST(ModuleStatsTest, CountsAndWork) {
  const ModuleStats stats = Stats();
  EXPECT_EQ(stats.name, "step");
  EXPECT_EQ(stats.computations, 5);
  EXPECT_EQ(stats.instructions, 31);
  EXPECT_EQ(stats.opcodes.at("get-tuple-element"), 4);
  EXPECT_EQ(stats.flops, 2 * 8 * 4 * 16);
  // compare 8, add 8, fusion 128, dot 512 + 256, all-gathers 128 + 64, half 128, reduces 512 + 4 and 128 + 4.
  EXPECT_EQ(stats.bytes_read, 8 + 8 + 128 + 768 + 128 + 64 + 128 + 516 + 132);
  EXPECT_EQ(stats.bytes_written, 1 + 4 + 128 + 128 + 512 + 128 + 64 + 16 + 16);
}

TEST(ModuleStatsTest, ArraysByTypeAndSize) {
  const ModuleStats stats = Stats();
  ASSERT_EQ(stats.element_types.size(), 3u);
  EXPECT_EQ(stats.element_types.at("pred").bytes, 1);
  // Constants 10, 1 and 0; j; the counters of two loop parameters and of the loop.
  EXPECT_EQ(stats.element_types.at("s32").count, 3 + 1 + 3);
  ASSERT_EQ(stats.largest.size(), 10u);
  EXPECT_EQ(stats.largest[0].instruction, "x");
  EXPECT_EQ(stats.largest[1].instruction, "g");
  EXPECT_EQ(stats.largest[1].shape, "f32[32,4]");
  EXPECT_EQ(stats.largest[1].bytes, 512);
  EXPECT_EQ(stats.largest[2].instruction, "w");
  EXPECT_EQ(stats.largest[3].computation, "fused");  // 128 bytes each, in the order of the module.
  EXPECT_EQ(stats.largest[6].instruction, "s{1}");
  EXPECT_EQ(stats.largest[0].source, "");
  bool found = false;
  for (const ModuleStats::Tensor& tensor : stats.largest) {
    if (tensor.instruction != "d") continue;
    found = true;
    EXPECT_EQ(tensor.source, "a.py:7");
    EXPECT_EQ(tensor.opcode, "dot");
  }
  EXPECT_TRUE(found);
}

TEST(ModuleStatsTest, ParametersAndResult) {
  const ModuleStats stats = Stats();
  ASSERT_EQ(stats.parameters.size(), 2u);
  EXPECT_EQ(stats.parameters[0].name, "x");
  EXPECT_EQ(stats.parameters[0].shape, "f32[8,16]");
  EXPECT_EQ(stats.parameters[0].sharding, "{devices=[4,1]<=[4]}");
  EXPECT_EQ(stats.parameter_bytes, 512 + 256);
  EXPECT_EQ(stats.result_shape, "(f32[4], f32[4])");
  EXPECT_EQ(stats.result_bytes, 32);
}

TEST(ModuleStatsTest, CallsCollectivesAndShardings) {
  const ModuleStats stats = Stats();
  std::vector<std::string> calls;
  for (const ModuleStats::Call& call : stats.calls) {
    calls.push_back(absl::StrCat(call.caller, " ", call.opcode, " ", call.callee, " ", call.count));
  }
  EXPECT_THAT(calls, ElementsAre("body fusion fused 1", "main reduce add 2", "main while more 1",
                                 "main while body 1"));
  EXPECT_THAT(stats.custom_calls, ElementsAre(Pair("half", 1)));
  ASSERT_EQ(stats.collectives.size(), 1u);
  EXPECT_EQ(stats.collectives.at("all-gather").count, 2);
  EXPECT_EQ(stats.collectives.at("all-gather").operand_bytes, 128 + 64);
  EXPECT_THAT(stats.collectives.at("all-gather").group_sizes, ElementsAre(2, 4));
  EXPECT_THAT(stats.shardings.distinct,
              ElementsAre(Pair("{devices=[4,1]<=[4]}", 1), Pair("{mesh['m'=8], [{}, {'m'}]}", 1),
                          Pair("{{devices=[4]<=[4]}, {replicated}}", 1)));
  EXPECT_EQ(stats.shardings.annotated, 3);
  EXPECT_EQ(stats.shardings.unannotated, 28);
  EXPECT_THAT(stats.shardings.meshes, ElementsAre(Pair("mesh['m'=8]", 1)));
  EXPECT_EQ(stats.shardings.devices, 8);
}

TEST(ModuleStatsTest, ShardyModulesHaveMeshesAndShardings) {
  ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHloFile("tests/corpus/jax/moe_layer_forward.shardy.hlo.pb"));
  const ModuleStats stats = ComputeModuleStats(*file.module);
  EXPECT_EQ(stats.shardings.devices, 8);
  EXPECT_EQ(stats.shardings.meshes.size(), 1u);
  EXPECT_GT(stats.shardings.annotated, 0);
  EXPECT_THAT(stats.parameters[0].sharding, HasSubstr("#sdy.sharding"));
}

TEST(ModuleStatsTest, TheCorpusAddsUp) {
  for (const std::string& folder : {std::string("jax"), std::string("full_size")}) {
    for (const std::string& path : CorpusFiles(folder, ".pb")) {
      SCOPED_TRACE(path);
      ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHloFile(path));
      const ModuleStats stats = ComputeModuleStats(*file.module);
      int64_t instructions = 0, sharded = 0, parameter_bytes = 0;
      for (const auto& [opcode, count] : stats.opcodes) instructions += count;
      for (const auto& [sharding, count] : stats.shardings.distinct) sharded += count;
      for (const auto& parameter : stats.parameters) parameter_bytes += parameter.bytes;
      EXPECT_EQ(instructions, stats.instructions);
      EXPECT_EQ(sharded, stats.shardings.annotated);
      EXPECT_EQ(stats.shardings.annotated + stats.shardings.unannotated, stats.instructions);
      EXPECT_EQ(parameter_bytes, stats.parameter_bytes);
      EXPECT_GT(stats.shardings.devices, 1);
      for (size_t i = 1; i < stats.largest.size(); ++i)
        EXPECT_GE(stats.largest[i - 1].bytes, stats.largest[i].bytes);
    }
  }
}

TEST(ModuleStatsTest, JsonHasTheDocumentedKeys) {
  const std::string text = ModuleStatsJson(Stats(), {"HLO text", true});
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const nlohmann::json json = nlohmann::json::parse(text);
  EXPECT_EQ(json["name"], "step");
  EXPECT_EQ(json["container"], "HLO text");
  EXPECT_EQ(json["arguments"], true);
  EXPECT_EQ(json["parameters"], 2);
  EXPECT_EQ(json["opcodes"]["dot"], 1);
  EXPECT_EQ(json["element_types"]["pred"]["arrays"], 1);
  EXPECT_EQ(json["parameter_list"][1]["sharding"], "{mesh['m'=8], [{}, {'m'}]}");
  EXPECT_EQ(json["largest"][0]["bytes"], 512);
  EXPECT_EQ(json["calls"][1]["count"], 2);
  EXPECT_EQ(json["custom_calls"]["half"], 1);
  EXPECT_EQ(json["collectives"]["all-gather"]["group_sizes"][1], 4);
  EXPECT_EQ(json["shardings"]["meshes"]["mesh['m'=8]"], 1);
  EXPECT_EQ(json["result"]["bytes"], 32);
}

TEST(ModuleStatsTest, TablesCutLongLists) {
  ModuleStats stats = Stats();
  EXPECT_THAT(ModuleStatsTable(stats, {"HLO text", false}, 120),
              HasSubstr("\nlargest arrays\n  512 B  f32[8,16]  main/x"));
  for (int i = 0; i < 100; ++i)
    stats.parameters.push_back({absl::StrCat("p", i), absl::StrCat("params[", i, "]"), "f32[]", 4, ""});
  EXPECT_THAT(ModuleStatsTable(stats, {"HLO text", false}, 120),
              HasSubstr("  and 82 more, listed by --stats=json\n"));
}

}  // namespace
}  // namespace toroid
