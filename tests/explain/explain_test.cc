// The table of collectives: its contents and its layout.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "explain/explain_json.h"
#include "explain/explain_table.h"
#include "explain/explanation.h"
#include "gtest/gtest.h"
#include "hlo/analysis/author_names.h"
#include "hlo/base/terminal.h"
#include "hlo/io/hlo_text.h"
#include "nlohmann/json.hpp"
#include "partitioner/provenance/program_names.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The report on a program.
std::string Explained(const std::string& text, bool full = false, int width = 200,
                      int64_t num_partitions = 0) {
  const auto module = ParseModule(text);
  EXPECT_OK(module);
  if (!module.ok()) return "";
  PartitionOptions options;
  options.num_partitions = num_partitions;
  const auto partitioned = PartitionModule(**module, options);
  EXPECT_OK(partitioned);
  if (!partitioned.ok()) return "";
  const std::vector<CollectiveRecord> collectives = ListCollectives(*partitioned->module);
  return ExplainTable(Explain({collectives, partitioned->full_replications, partitioned->cuts}, full),
                      nullptr, width);
}

// The table of such records.
std::string TableOf(const std::vector<CollectiveRecord>& records,
                    const std::vector<FullReplication>& replications = {}, bool full = false,
                    int width = 120) {
  return ExplainTable(Explain({records, replications}, full), nullptr, width);
}

CollectiveRecord Record(const std::string& cause, const std::string& source = "", int64_t bytes = 1000) {
  CollectiveRecord record;
  record.opcode = "all-gather";
  record.instruction = "all-gather.1";
  record.group_size = 4;
  record.operand_bytes = bytes;
  record.sent_bytes = 3 * bytes;
  record.executions.times = 1;
  record.cause = cause;
  record.source = source;
  return record;
}

std::vector<std::string> Lines(const std::string& text) {
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

TEST(ExplainTest, TimesOfAMachineOrderTheRows) {
  std::vector<CollectiveRecord> records = {Record("dot.1: [{\"x\"}] -> [{}]", "m.py:3", 9000),
                                           Record("dot.2: [{\"x\"}, {}] -> [{}, {}]", "m.py:4", 10),
                                           Record("dot.3: [{\"x\"}, {}] -> [{}, {}]", "m.py:4", 10)};
  const auto module =
      ParseModule("ENTRY main { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }");
  ASSERT_OK(module);
  for (int i = 0; i < 3; ++i) records[i].op = (*module)->entry()->instruction(i);
  PredictedTimes times;
  times.machine = "tpu-v3-16";
  times.step_seconds = 0.01;
  times.collective_seconds = 0.0035;
  times.of_collective = {{records[0].op, 0.0005}, {records[1].op, 0.001}, {records[2].op, 0.002}};
  const Explanation explanation = Explain({records, {}, {}, &times}, /*full=*/false);
  const std::vector<std::string> lines = Lines(ExplainTable(explanation, &times, /*width=*/140));
  ASSERT_EQ(lines.size(), 5);
  EXPECT_THAT(lines[0], AllOf(HasSubstr("sent      time  of step")));
  EXPECT_THAT(lines[1], AllOf(HasSubstr("3.00 ms   30.0 %"), HasSubstr("dot.2..3")));
  EXPECT_THAT(lines[2], AllOf(HasSubstr("500 us    5.0 %"), HasSubstr("dot.1")));
  EXPECT_EQ(lines[4], "predicted on tpu-v3-16: 10.0 ms a step, 35.0 % of it in collectives");
}

TEST(ExplainTest, TheJsonHasWhatTheTableHas) {
  std::vector<CollectiveRecord> records = {Record("layers.0/dot.3: [{\"x\"}] -> [{}]", "m.py:3"),
                                           Record("layers.1/dot.9: [{\"x\"}] -> [{}]", "m.py:3"),
                                           Record("add.1: partial over {\"x\"} -> []", "m.py:9", 4)};
  records[2].executions = {.times = 1, .in_loop = true, .known = false};
  const Explanation explanation = Explain({records, {}, {}}, /*full=*/false);
  const nlohmann::json json = nlohmann::json::parse(
      ExplainJson(explanation, /*num_partitions=*/4, nullptr, ExplainTable(explanation, nullptr, 120)));
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["num_partitions"], 4);
  EXPECT_EQ(json["sent_bytes"], 2 * 3000 + 12);
  EXPECT_EQ(json["all_trips_known"], false);
  ASSERT_EQ(json["rows"].size(), 2);
  EXPECT_EQ(json["rows"][0]["name"], "layers.0..1/dot.*");
  EXPECT_EQ(json["rows"][0]["names"], nlohmann::json({"layers.0/dot.3", "layers.1/dot.9"}));
  EXPECT_EQ(json["rows"][0]["step"], "[{\"x\"}] -> [{}]");
  EXPECT_EQ(json["rows"][0]["source"], "m.py:3");
  EXPECT_EQ(json["rows"][0]["count"], 2);
  EXPECT_EQ(json["rows"][0]["sent_bytes"], 6000);
  EXPECT_EQ(json["rows"][0]["trips"], 1);
  EXPECT_TRUE(json["rows"][1]["trips"].is_null());
  EXPECT_FALSE(json["rows"][1].contains("seconds"));
  EXPECT_THAT(json["table"].get<std::string>(), HasSubstr("layers.0..1/dot.*"));
}

TEST(ExplainTest, RowsThatDifferByNumbersInTheirNamesAreOne) {
  std::vector<CollectiveRecord> records;
  for (int layer = 0; layer < 36; ++layer) {
    records.push_back(
        Record(absl::StrCat("layers.", layer, "/mlp/dot.", 7 * layer, ": [{\"x\"}] -> [{}]"), "m.py:3"));
  }
  const std::vector<std::string> lines = Lines(TableOf(records, {}, false, 140));
  ASSERT_EQ(lines.size(), 3);
  EXPECT_EQ(lines[1],
            "all-gather             36      4    36.0 kB   108.0 kB  "
            "layers.0..35/mlp/dot.*: [{\"x\"}] -> [{}] (m.py:3)");
  EXPECT_EQ(lines[2], "sent per device in all: 108.0 kB");
  EXPECT_EQ(Lines(TableOf(records, {}, true, 140)).size(), 38);
}

TEST(ExplainTest, RowsThatDifferOtherwiseStayApart) {
  const std::vector<CollectiveRecord> records = {
      Record("dot.1: [{\"x\"}] -> [{}]", "m.py:3"), Record("dot.2: [{\"y\"}] -> [{}]", "m.py:3"),
      Record("dot.3: [{\"x\"}] -> [{}]", "m.py:4"), Record("dot.4: [{\"x\"}] -> [{}]", "m.py:3", 2000),
      Record("mul.5: [{\"x\"}] -> [{}]", "m.py:3")};
  EXPECT_EQ(Lines(TableOf(records)).size(), 7);
}

TEST(ExplainTest, NumbersThatDifferAreRangesOrStars) {
  EXPECT_EQ(
      NameOfAll({"params['layers'][0]['w1']", "params['layers'][1]['w1']", "params['layers'][2]['w1']"}),
      "params['layers'][0..2]['w1']");
  EXPECT_EQ(NameOfAll({"fusion.12", "fusion.31"}), "fusion.*");
  EXPECT_EQ(NameOfAll({"fusion.12"}), "fusion.12");
  EXPECT_EQ(NameOfAll({"a99999999999999999999", "a99999999999999999998"}), "a*");
  EXPECT_EQ(NameOfAll({}), "");
}

TEST(ExplainTest, NoLineIsWiderThanAsked) {
  const std::string name = "a_very_long_scope/of_a_model/with_many_parts/and_then_some/dot_general.12";
  const std::string step =
      "[{\"replica\", \"data\"}, {\"model\"}, {}] partial over {\"expert\"} -> [{}, {}, {}]";
  std::vector<CollectiveRecord> records = {
      Record(absl::StrCat(name, ": ", step), "/home/me/projects/model/layers.py:12"), Record("y")};
  const std::vector<FullReplication> replications = {
      {name, "/home/me/projects/model/layers.py:12", 4096, "operand 0 is replicated"}};
  for (const int width : {40, 80, 100, 120, 140, 160, 250}) {
    for (const std::string& line : Lines(TableOf(records, replications, false, width))) {
      EXPECT_LE(TextWidth(line), std::max(width, 80)) << line;
    }
  }
  // The numbers are on one line, the cause is on the next ones.
  const std::vector<std::string> lines = Lines(TableOf(records, {}, false, 80));
  ASSERT_EQ(lines.size(), 7);
  EXPECT_EQ(lines[1], "all-gather              1      4     1.0 kB     3.0 kB");
  EXPECT_THAT(lines[2],
              AllOf(testing::StartsWith("    a_very_"), HasSubstr("…"), testing::EndsWith("py:12)")));
  EXPECT_EQ(lines[3], "    " + step);
  EXPECT_EQ(lines[5], "    y");
  // Short texts need no second line.
  EXPECT_EQ(Lines(TableOf({Record("y")}, {}, false, 80)).size(), 3);
}

TEST(ExplainTest, ANoteLosesNoWordOfItsSentence) {
  const std::string reason =
      "used again 5,513 ops later, in the backward pass, by dot_general.9 of the same line";
  const std::vector<FullReplication> replications = {
      {"params['layers'][0]['w_gate']", "/home/me/projects/a_model_of_mine/layers.py:110", 4096, reason}};
  for (const int width : {60, 80, 140}) {
    std::string text = TableOf({}, replications, false, width);
    for (const std::string& line : Lines(text)) EXPECT_LE(TextWidth(line), width) << line;
    text = absl::StrReplaceAll(text, {{"\n  ", " "}});
    EXPECT_THAT(text,
                HasSubstr(absl::StrCat("replicated: params['layers'][0]['w_gate'] 4.1 kB, ", reason, " (…")));
    EXPECT_THAT(text, HasSubstr("layers.py:110)"));
  }
}

TEST(ExplainTest, WhatIsReplicatedAlikeIsOneLine) {
  const std::vector<FullReplication> replications = {
      {"dot.1", "m.py:3", 4096, "reason"},
      {"dot.5", "m.py:3", 4096, "reason"},
      {"sort.5", "", 8, "sort is computed on replicated arrays"}};
  EXPECT_EQ(TableOf({}, replications, false, 120),
            "no collectives\nsent per device in all: 0 B\nreplicated: dot.* 2 x 4.1 kB, reason (m.py:3)\n"
            "replicated: sort.5 8 B, sort is computed on replicated arrays\n");
}

const char kLoop[] =
    R"(HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["data"=2, "model"=4]>}}
cond {
  p = (s32[], f32[512,16], f32[12,16,16]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(12)
  ROOT c = pred[] compare(i, n), direction=LT
}
body {
  p = (s32[], f32[512,16], f32[12,16,16]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[512,16] get-tuple-element(p), index=1
  w = f32[12,16,16] get-tuple-element(p), index=2
  zero = s32[] constant(0)
  slice = f32[1,16,16] dynamic-slice(w, i, zero, zero), dynamic_slice_sizes={1,16,16}
  wi = f32[16,16] reshape(slice)
  y = f32[512,16] dot(x, wi), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/jvp()/while/body/closed_call/mlp/dot_general"}
  t = f32[512,16] tanh(y)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT r = (s32[], f32[512,16], f32[12,16,16]) tuple(next, t, w)
}
ENTRY e {
  x = f32[512,16] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"data\"}, {}]>"}, metadata={op_name="batch"}
  w = f32[12,16,16] parameter(1), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{}, {\"data\"}, {}]>"}, metadata={op_name="params['w']"}
  zero = s32[] constant($0)
  t = (s32[], f32[512,16], f32[12,16,16]) tuple(zero, x, w)
  l = (s32[], f32[512,16], f32[12,16,16]) while(t), condition=cond, body=body
  ROOT o = f32[512,16] get-tuple-element(l), index=1
}
)";

TEST(ExplainTest, NamesParametersScopesAxesAndTrips) {
  const std::string text = Explained(absl::StrReplaceAll(kLoop, {{"$0", "0"}}));
  // Each trip sends 16/2 rows of 16 floats.
  EXPECT_THAT(text, HasSubstr("all-gather              1 x 12 trips      2     6.1 kB     6.1 kB  "
                              "mlp/y of params['w']: [{\"data\"}, {}] -> [{}, {}]"))
      << text;
  EXPECT_THAT(text, HasSubstr("sent per device in all: 6.1 kB\n"));
}

// The tuple of all that a body returns has neither a name nor a line of the author's.
TEST(ExplainTest, WhatLeavesALoopsBodyHasTheNameAndLineOfItsValue) {
  const std::string text =
      Explained(R"(HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["data"=4]>}}
cond { p = (s32[], f32[512,16]) parameter(0) i = s32[] get-tuple-element(p), index=0 n = s32[] constant(12) ROOT c = pred[] compare(i, n), direction=LT }
body {
  p = (s32[], f32[512,16]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[512,16] get-tuple-element(p), index=1
  s = f32[512,16] custom-call(x), custom_call_target="Sharding", sharding={devices=[4,1]<=[4]}
  y = f32[512,16] tanh(s), metadata={op_name="jit(f)/while/body/closed_call/tanh" source_file="m.py" source_line=7}
  k = f32[512,16] custom-call(y), custom_call_target="Sharding", sharding={devices=[1,4]<=[4]}, metadata={op_name="jit(f)/while/body/closed_call/kept" source_file="m.py" source_line=8}
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT out = (s32[], f32[512,16]) tuple(j, k)
}
ENTRY main {
  x = f32[512,16] parameter(0), sharding={devices=[4,1]<=[4]}
  zero = s32[] constant(0)
  t = (s32[], f32[512,16]) tuple(zero, x)
  w = (s32[], f32[512,16]) while(t), condition=cond, body=body
  r = f32[512,16] get-tuple-element(w), index=1
  ROOT z = f32[512,16] custom-call(r), custom_call_target="Sharding", sharding={devices=[4,1]<=[4]}
}
)");
  EXPECT_THAT(text, HasSubstr("k: [{}, {\"data\"}] -> [{\"data\"}, {}] (m.py:8)"));
  EXPECT_THAT(text, Not(HasSubstr("out: ")));
}

TEST(ExplainTest, LoopsOfUnknownLengthAreSaidToBeSuch) {
  const std::string text = Explained(absl::StrReplaceAll(kLoop, {{"constant($0)", "parameter(2)"}}));
  EXPECT_THAT(text, HasSubstr("all-gather              1 in a loop      2      512 B      512 B  ")) << text;
  EXPECT_THAT(text, HasSubstr("sent per device in all: 512 B, loops of unknown length counted once\n"));
}

TEST(ExplainTest, GroupsOfUnknownSizeAreSaidToBeSuch) {
  CollectiveRecord record = Record("y");
  record.group_size = 0;
  record.sent_bytes = 0;
  EXPECT_EQ(TableOf({record}),
            "collective          count  group   operands       sent  needed by\n"
            "all-gather              1      ?     1.0 kB        0 B  y\n"
            "sent per device in all: 0 B, groups of unknown size as of one device\n");
}

TEST(ExplainTest, PartialSumsAndMadeUpAxesAreSpelledOut) {
  const std::string text = Explained(R"(HloModule m
ENTRY e {
  x = f32[8,16] parameter(0), sharding={devices=[2,4]<=[8]}
  w = f32[16,4] parameter(1), sharding={devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}
  ROOT y = f32[8,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}
})");
  EXPECT_THAT(text, HasSubstr("[{a2}, {}] partial over {b4} -> [{a2}, {}]"));
}

TEST(ExplainTest, PartsOfAxesAreSpelledAsShardyDoes) {
  const std::string text = Explained(R"(HloModule m
ENTRY e {
  x = f32[8,16] parameter(0), sharding={mesh['data'=8], [{'data'}, {}]}
  ROOT y = f32[8,16] copy(x), sharding={mesh['data'=8], [{'data':(1)2}, {}]}
})");
  EXPECT_THAT(text, HasSubstr("[{\"data\"}, {}] -> [{\"data\":(1)2}, {}]"));
}

TEST(ExplainTest, OutputsAreNamedByNumberAndByWhatTheyReplace) {
  const std::string text = Explained(R"(HloModule m, input_output_alias={ {1}: (0, {}, may-alias) }
ENTRY e {
  w = f32[8,16] parameter(0), sharding={devices=[8,1]<=[8]}, metadata={op_name="params['w']"}
  v = f32[8,16] parameter(1), sharding={devices=[8,1]<=[8]}
  u = f32[8,16] parameter(2), sharding={devices=[8,1]<=[8]}
  a = f32[8,16] negate(v), metadata={op_name="neg" source_file="model.py" source_line=12}
  b = f32[8,16] tanh(w)
  ROOT t = (f32[8,16], f32[8,16], f32[8,16]) tuple(a, b, u), sharding={{replicated}, {replicated}, {replicated}}
})");
  // The line is that of the op that makes the output.
  EXPECT_THAT(text, AllOf(HasSubstr("output{0}: [{a8}, {}] -> [{}, {}] (model.py:12)"),
                          HasSubstr("output{1} in place of params['w']: [{a8}, {}] -> [{}, {}]"),
                          HasSubstr("output{2} of u: [{a8}, {}] -> [{}, {}]\n")));
}

TEST(ExplainTest, OutputsOfAStepThatDonatesItsStateAreNamedByIt) {
  const std::string donors = R"(HloModule m, buffer_donor={ (0, {}), (1, {}) }

sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY main {
  w = f32[8,8] parameter(0), sharding={devices=[4,1]<=[4]}, metadata={op_name="state['w']"}
  v = f32[8] parameter(1), metadata={op_name="state['v']"}
  x = f32[8,8] parameter(2)
  y = f32[8,8] add(w, x)
  z = f32[] constant(0)
  r = f32[8] reduce(y, z), dimensions={0}, to_apply=sum
  l = f32[] constant(1)
  ROOT t = (f32[], f32[8,8], f32[8]) tuple(l, y, r), sharding={{replicated}, {devices=[4,1]<=[4]}, {replicated}}
})";
  EXPECT_THAT(Explained(donors), HasSubstr("output{2} in place of state['v']"));
}

TEST(ExplainTest, WhatFollowsTheArrowOfALongStepHasALineOfItsOwn) {
  const std::string from =
      absl::StrCat("[{\"", std::string(30, 'a'), "\"}, {\"", std::string(30, 'b'), "\"}]");
  const std::string table =
      TableOf({Record(absl::StrCat("dot.1: ", from, " -> [{}, {}] of w"))}, {}, false, 80);
  EXPECT_THAT(table, AllOf(HasSubstr(from + "\n"), HasSubstr("    -> [{}, {}] of w\n")));
}

TEST(ExplainTest, ScopesAreThoseOfTheAuthor) {
  EXPECT_EQ(AuthorScopes("jit(step)/jvp(model)/while/body/closed_call/layers_3/dot_general"),
            "model/layers_3");
  EXPECT_EQ(AuthorScopes("jit(f)/transpose(jvp(Net))/checkpoint/rematted_computation/mlp/mul"), "Net/mlp");
  EXPECT_EQ(AuthorScopes("jit(f)/jvp()/jit(_where)/select_n"), "");
  EXPECT_EQ(AuthorScopes("model/dense/MatMul"), "model/dense");
  EXPECT_EQ(AuthorScopes("params['w/x']"), "params['w");  // A slash in a name ends a scope too.
  EXPECT_EQ(AuthorScopes("a(b/c)/d)/((e"), "a(b/c)/d)");
  EXPECT_EQ(AuthorScopes(""), "");
}

TEST(ExplainTest, UnequalPartsAreSaidToBeSuch) {
  const std::string text = Explained(R"(HloModule m, num_partitions=8
ENTRY main {
  x = f32[17,4] parameter(0)
  y = f32[17,4] multiply(x, x)
  s = f32[17,4] custom-call(y), custom_call_target="Sharding", sharding={devices=[8,1]<=[8]}
  ROOT r = f32[4] custom-call(s), custom_call_target="f", sharding={replicated}
})");
  EXPECT_THAT(
      text, HasSubstr("uneven: s f32[17,4], dimension 0 over 8 devices in shards of 3: 5 full, 1 of 2, 2 of "
                      "padding alone\n"));
  EXPECT_THAT(
      Explained(R"(HloModule m, num_partitions=4
ENTRY main {
  x = f32[3,6] parameter(0), sharding={devices=[1,4]<=[4]}
  ROOT r = f32[3,6] negate(x), sharding={devices=[1,4]<=[4]}
})"),
      AllOf(
          HasSubstr(
              "uneven: x f32[3,6], dimension 1 over 4 devices in shards of 2: 3 full, 1 of padding alone\n"),
          HasSubstr("uneven: output f32[3,6], dimension 1 over 4")));
  EXPECT_THAT(
      Explained("HloModule m\nENTRY main { ROOT x = f32[16] parameter(0), sharding={devices=[8]<=[8]} }"),
      Not(HasSubstr("uneven")));
}

TEST(ExplainTest, CutsThatAreAskedForInVainAreListed) {
  const std::string program =
      R"(HloModule m, num_partitions=8, allow_spmd_sharding_propagation_to_output={true}
ENTRY main {
  i = f32[17,4] iota(), iota_dimension=0
  ROOT s = f32[17,4] custom-call(i), custom_call_target="Sharding", sharding={devices=[8,1]<=[8]}
})";
  EXPECT_THAT(
      Explained(program),
      HasSubstr("not obeyed: output f32[17,4], asked for [{a8}, {}]: every device makes all of it\n"));
  // The op could be computed in columns; in rows it needs no exchange.
  EXPECT_THAT(
      Explained(R"(HloModule m
ENTRY main {
  x = f32[64,32] parameter(0), sharding={devices=[8,1]<=[8]}
  t = f32[64,32] tanh(x), sharding={devices=[1,8]<=[8]}
  ROOT y = f32[64,32] exponential(t), sharding={devices=[8,1]<=[8]}
})"),
      HasSubstr("not obeyed: t f32[64,32], asked for [{}, {a8}]: all that read it take [{a8}, {}]\n"));
}

// The trip of a loop begins when all devices know that it does.
TEST(ExplainTest, CollectivesInTheConditionOfALoopAreSaidToBeThere) {
  EXPECT_THAT(Explained(R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
small { s = f32[64] parameter(0)
  zero = f32[] constant(0)
  sum = f32[] reduce(s, zero), dimensions={0}, to_apply=add
  limit = f32[] constant(100)
  ROOT r = pred[] compare(sum, limit), direction=LT }
twice { s = f32[64] parameter(0)
  ROOT y = f32[64] add(s, s) }
ENTRY main {
  x = f32[64] parameter(0), sharding={devices=[8]<=[8]}
  ROOT w = f32[64] while(x), condition=small, body=twice
})"),
              HasSubstr("1 in a loop's condition      8        4 B"));
}

TEST(ExplainTest, TheSmallestOfManyRowsAreOneLine) {
  std::vector<CollectiveRecord> records;
  for (int i = 0; i < 40; ++i) records.push_back(Record(std::string(i + 1, 'n'), "", 1000 * (40 - i)));
  const std::string folded = TableOf(records);
  EXPECT_EQ(std::count(folded.begin(), folded.end(), '\n'), 1 + 24 + 1 + 1);
  // Rows of 1 to 16 kB, each sent to three others: 3 x 136 kB of 3 x 820 kB.
  EXPECT_THAT(
      folded,
      HasSubstr("and 16 smaller rows: 16 collectives, 408.0 kB, 16.6 % of all bytes (--explain=full"));
  records.resize(25);
  EXPECT_THAT(TableOf(records), Not(HasSubstr("smaller rows")));
  records.resize(40, records[0]);
  EXPECT_THAT(TableOf(records, {}, /*full=*/true), Not(HasSubstr("smaller rows")));
}

}  // namespace
}  // namespace toroid
