// Why values are cut as they are.
// BUILD: data = ["//tests/corpus:jax"]
#include "explain/why.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "explain/origins.h"
#include "explain/why_json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "nlohmann/json.hpp"
#include "partitioner/stages/spmd_partitioner.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Partitioned PartitionText(const std::string& text) {
  const auto module = ParseModule(text);
  EXPECT_OK(module);
  auto partitioned = PartitionModule(**module, PartitionOptions());
  EXPECT_OK(partitioned);
  return *std::move(partitioned);
}

std::string WhyOf(const std::string& text, const std::string& name) {
  const auto answers = Why(PartitionText(text), name);
  EXPECT_OK(answers);
  return answers.ok() ? WhyText(*answers) : "";
}

constexpr char kLayer[] =
    R"(HloModule layer, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["data"=4, "model"=2]>}}
ENTRY main {
  x = f32[64,32] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"data\"}, {?}]>"}
  w = f32[32,16] parameter(1), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{}, {\"model\"}]>"}
  product = f32[64,16] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  a = f32[64,16] tanh(product)
  b = f32[64,16] exponential(a)
  c = f32[64,16] negate(b)
  d = f32[64,16] sine(c)
  ROOT e = f32[64,16] cosine(d)
})";

TEST(WhyTest, TheWayLeadsToTheAnnotation) {
  EXPECT_EQ(WhyOf(kLayer, "a"),
            "a f32[64,16] is cut [{\"data\"}, {\"model\"}]\n"
            "  {\"data\"} in dimension 0: the module asks for it at x\n"
            "    through product, a\n"
            "  {\"model\"} in dimension 1: the module asks for it at w\n"
            "    through product, a\n");
  EXPECT_THAT(WhyOf(kLayer, "x"), HasSubstr("{\"data\"} in dimension 0: the module asks for it here\n"));
}

// At most three ops, the contraction among them.
TEST(WhyTest, OfALongWayThreeOpsAreShown) {
  EXPECT_THAT(WhyOf(kLayer, "d"), HasSubstr("through product, c, d and 2 other ops\n"));
}

TEST(WhyTest, NamesAreThoseOfInstructionsParametersOutputsAndGlobs) {
  EXPECT_EQ(WhyOf(kLayer, "parameter(1)"), WhyOf(kLayer, "w"));
  EXPECT_EQ(WhyOf(kLayer, "output{}"), WhyOf(kLayer, "output{0}"));
  EXPECT_EQ(WhyOf(kLayer, "pro*"), WhyOf(kLayer, "product"));
  EXPECT_THAT(WhyOf(kLayer, "?"), HasSubstr("and 2 others of that name\n"));
}

TEST(WhyTest, ANameThatMeansNothingIsAnError) {
  const Partitioned layer = PartitionText(kLayer);
  EXPECT_THAT(Why(layer, "produkt").status().message(),
              HasSubstr("no array is named 'produkt'; did you mean product?"));
  EXPECT_EQ(Why(layer, "produkt").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Why(Partitioned(), "x").status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(WhyTest, ANeighboursCutThatIsNotTakenHasAReason) {
  EXPECT_THAT(
      WhyOf(R"(HloModule m
ENTRY main {
  x = f32[64,32] parameter(0), sharding={devices=[8,1]<=[8]}
  t = f32[64,32] tanh(x)
  whole = f32[64,32] custom-call(t), custom_call_target="Sharding", sharding={replicated}
  ROOT y = f32[64,32] exponential(whole), sharding={devices=[8,1]<=[8]}
})",
            "whole"),
      HasSubstr("whole f32[64,32] is whole on every device\n"
                "  not by {a8}, which cuts t at whole: the module asks for another cut of dimension 0\n"));
  EXPECT_THAT(
      WhyOf(
          "HloModule m\nENTRY main {\n  x = f32[16] parameter(0), sharding={devices=[8]<=[8]}\n"
          "  k = f32[4] parameter(1)\n  e = f32[16] exponential(x)\n  ROOT t = (f32[16], f32[4]) tuple(e, k)\n}",
          "k"),
      HasSubstr("  no annotation reaches it: it shares no dimension with an array that is cut\n"));
}

TEST(WhyTest, WhatIsNotObeyedIsSaid) {
  EXPECT_THAT(WhyOf(R"(HloModule m
ENTRY main {
  x = f32[64,32] parameter(0), sharding={devices=[8,1]<=[8]}
  t = f32[64,32] tanh(x), sharding={devices=[1,8]<=[8]}
  ROOT y = f32[64,32] exponential(t), sharding={devices=[8,1]<=[8]}
})",
                    "t"),
              HasSubstr("  not obeyed: asked for [{}, {a8}]: all that read it take [{a8}, {}]\n"));
}

// A glob that means every array of a long program is answered for the first few alone: the ways of all are quadratic in number.
TEST(WhyTest, NamesOfRowsAndLinesMeanTheirValues) {
  const std::string text = R"(ENTRY main {
  x = f32[8,4] parameter(0), sharding={devices=[4,1]<=[4]}
  dot.2 = f32[8,4] tanh(x), metadata={source_file="lib/model.py" source_line=25}
  dot.3 = f32[8,4] negate(dot.2), metadata={source_file="lib/model.py" source_line=26}
  dot.5 = f32[8,4] sine(dot.3), metadata={source_file="lib/model.py" source_line=26}
  ROOT r = (f32[8,4], f32[8,4]) tuple(dot.5, dot.3)
})";
  const Partitioned partitioned = PartitionText("HloModule m\n" + text);
  const auto names = [&](absl::string_view name) {
    std::vector<std::string> all;
    const absl::StatusOr<WhyAnswers> answers = Why(partitioned, name);
    if (!answers.ok()) return std::vector<std::string>{std::string(answers.status().message())};
    for (const WhyAnswer& answer : answers->answers) all.push_back(answer.name);
    return all;
  };
  EXPECT_THAT(names("dot.2..4"), ElementsAre("dot.2", "dot.3 for output{1}"));
  EXPECT_THAT(names("dot.5 of x"), ElementsAre("dot.5 for output{0}"));
  EXPECT_THAT(names("model.py:26"), ElementsAre("dot.3 for output{1}", "dot.5 for output{0}"));
  EXPECT_THAT(names("output{*}"), ElementsAre("output{0}", "output{1}"));
}

TEST(WhyTest, AGlobThatMeansAllOfALongProgramIsAnsweredForTheFirst) {
  std::string text = "HloModule m\nENTRY main {\n  v0 = f32[16] parameter(0), sharding={devices=[8]<=[8]}\n";
  constexpr int kOps = 20000;
  for (int i = 1; i <= kOps; ++i) absl::StrAppend(&text, "  v", i, " = f32[16] negate(v", i - 1, ")\n");
  absl::StrAppend(&text, "  ROOT r = f32[16] tanh(v", kOps, ")\n}");
  const auto answers = Why(PartitionText(text), "*");
  ASSERT_OK(answers);
  EXPECT_EQ(answers->answers.size(), 5u);
  EXPECT_EQ(answers->others, kOps + 2 - 5);
}

// Every axis of every array has a way, which ends where its kind says.
TEST(WhyTest, AllAxesOfTheCorpusHaveAWay) {
  for (const std::string name : {"lm_fsdp_tensor_parallel.shardy.hlo.pb", "lm_scan_layers.gspmd.snapshot.pb",
                                 "moe_layer_forward.gspmd.snapshot.pb"}) {
    SCOPED_TRACE(name);
    const auto file = ReadHloFile("tests/corpus/jax/" + name);
    ASSERT_OK(file);
    const auto partitioned = PartitionModule(*file->module, PartitionOptions());
    ASSERT_OK(partitioned);
    const PreparedProgram& program = *partitioned->program;
    const Origins origins(program, partitioned->shardings);
    int asked = 0, all = 0;
    for (int t = 0; t < program.graph->num_tensors(); ++t) {
      AxisSet explained = 0;
      for (const AxisOrigin& origin : origins.Of(t)) {
        explained |= origin.axes.Set();
        ASSERT_EQ(origin.hops.front().tensor, t);
        ++all;
        if (origin.kind != AxisOrigin::Kind::kAsked) continue;
        ++asked;
        const OriginHop& end = origin.hops.back();
        ASSERT_TRUE(program.annotations.tensor[end.tensor].has_value());
        EXPECT_EQ(origin.axes.Set() & ~program.annotations.tensor[end.tensor]->sharding.dims[end.dim].Set(),
                  0u);
      }
      EXPECT_EQ(explained, partitioned->shardings[t].DimAxes());
    }
    // The search and cheapest assignments decide little.
    EXPECT_GT(asked, all * 9 / 10) << "of " << all;
  }
}

// The annotation of a result comes before what the operands have, as in Shardy.
TEST(WhyTest, AResultsOwnAnnotationIsItsOrigin) {
  const auto partitioned =
      PartitionText(R"(HloModule step, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["data"=4]>}}
ENTRY main {
  w = f32[64,32] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"data\"}, {}]>"}
  x = f32[64,32] parameter(1), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{?}, {?}]>"}
  g = f32[64,32] tanh(x)
  n = f32[64,32] subtract(w, g)
  ROOT r = f32[64,32] custom-call(n), custom_call_target="xla.sdy.FuncResultSharding", frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"data\"}, {}]>]>"}
})");
  const auto text = WhyJson(partitioned);
  ASSERT_OK(text);
  const nlohmann::json json = nlohmann::json::parse(*text);
  int seen = 0;
  for (const auto& value : json["values"]) {
    const auto& cut = value["cuts"][0];
    EXPECT_EQ(cut["kind"], "asked");
    EXPECT_EQ(cut["axes"], "{\"data\"}");
    if (value["instruction"] == "n" || value["instruction"] == "g" || value["instruction"] == "x") {
      ++seen;
      EXPECT_EQ(cut["origin"]["result"], 0) << value;
    } else if (value["instruction"] == "w") {
      ++seen;
      EXPECT_EQ(cut["origin"]["argument"], 0) << value;
      EXPECT_EQ(cut["hops"], 0);
    }
  }
  EXPECT_EQ(seen, 4);
}

// An op hands axes back before others hand them on, if nothing else uses its operands.
TEST(WhyTest, WhatAValueGoesToComesBeforeWhatItIsMadeOfIfItIsUsedOnce) {
  const std::string before =
      R"(HloModule step, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["data"=4]>}}
ENTRY main {
  x = f32[64,32] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"data\"}, {}]>"}
  h = f32[64,32] tanh(x)
  k = f32[64,32] sine(h)
  s = f32[64,32] custom-call(k), custom_call_target="Sharding", frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"data\"}, {}]>]>"}
)";
  EXPECT_THAT(WhyOf(before + "  ROOT t = f32[64,32] cosine(s)\n}", "h"),
              HasSubstr("the module asks for it at s\n"));
  EXPECT_THAT(WhyOf(before + "  ROOT t = f32[64,32] add(s, h)\n}", "h"),
              HasSubstr("the module asks for it at x\n"));
}

}  // namespace
}  // namespace toroid
