// Programs of the corpus beside what XLA makes of them, and beside themselves.
// BUILD: size = "medium"
// BUILD: data = ["//tests/corpus:jax", "//tests/corpus:xla_partitioned"]
#include "explain/diff/program_diff.h"

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "explain/diff/diff_text.h"
#include "explain/explanation.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/analysis/collective_records.h"
#include "hlo/analysis/peak_memory.h"
#include "hlo/analysis/program_statistics.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "tests/corpus_files.h"
#include "tests/hlo/diff/rearranged.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

HloFile Read(const std::string& path) {
  auto file = ReadHloFile(path);
  EXPECT_OK(file);
  return *std::move(file);
}

std::unique_ptr<Module> PartitionedModule(const Module& module, int64_t num_partitions = 0) {
  PartitionOptions options;
  options.num_partitions = num_partitions;
  auto partitioned = PartitionModule(module, options);
  EXPECT_OK(partitioned);
  return std::move(partitioned->module);
}

ProgramDiff Diff(const Module& a, const Module& b) {
  auto diff = DiffPrograms({a, "a"}, {b, "b"});
  EXPECT_OK(diff);
  return *std::move(diff);
}

void ExpectExplained(const CostDiff& costs) {
  int64_t a = costs.same, b = costs.same;
  for (const CostRow& row : costs.rows) {
    a += row.cost_a;
    b += row.cost_b;
  }
  EXPECT_EQ(a, costs.total_a);
  EXPECT_EQ(b, costs.total_b);
}

// The figures are those of other reports, and the rows add up to their differences.
void ExpectExplained(const ProgramDiff& diff, const Module& a, const Module& b) {
  EXPECT_EQ(diff.a.sent_bytes, Explain({.collectives = ListCollectives(a)}).sent_bytes);
  EXPECT_EQ(diff.b.sent_bytes, Explain({.collectives = ListCollectives(b)}).sent_bytes);
  EXPECT_EQ(static_cast<double>(diff.a.flops), WorkOfWholeRun(a).flops);
  EXPECT_EQ(static_cast<double>(diff.b.flops), WorkOfWholeRun(b).flops);
  ExpectExplained(diff.sent);
  ExpectExplained(diff.flops);
  ExpectExplained(diff.memory);
}

TEST(ProgramDiffTest, RearrangedProgramsOfTheCorpusAreTheSame) {
  std::mt19937_64 random(1);
  for (const char* suffix : {".gspmd.snapshot.pb", ".shardy.hlo.pb"}) {
    for (const std::string& path : CorpusFiles("jax", suffix)) {
      SCOPED_TRACE(path);
      const auto module = PartitionedModule(*Read(path).module);
      const auto other = Rearranged(*module, &random);
      const ProgramDiff diff = Diff(*module, *other);
      EXPECT_TRUE(diff.same);
      EXPECT_THAT(diff.sent.rows, IsEmpty());
      EXPECT_THAT(diff.flops.rows, IsEmpty());
      EXPECT_THAT(diff.memory.rows, IsEmpty());
      EXPECT_EQ(diff.sent.same, diff.a.sent_bytes);
      EXPECT_EQ(diff.instructions.alike + diff.instructions.changed + diff.instructions.only_a +
                    diff.instructions.only_b,
                0);
      EXPECT_THAT(DiffText(diff, 120), StartsWith("the same program: "));
      // A round trip through text, which holds less than a proto.
      ASSERT_OK_AND_ASSIGN(const auto read_back, ParseModule(PrintModule(*module)));
      EXPECT_TRUE(Diff(*module, *read_back).same);
    }
  }
}

TEST(ProgramDiffTest, DumpsOfXlaAreTheSameAsThemselves) {
  std::mt19937_64 random(2);
  for (const std::string& path : CorpusFiles("xla_partitioned", ".hlo.pb.gz")) {
    SCOPED_TRACE(path);
    const HloFile file = Read(path);
    EXPECT_TRUE(Diff(*file.module, *Rearranged(*file.module, &random)).same);
  }
}

TEST(ProgramDiffTest, EveryDifferenceFromXlaIsInARow) {
  for (const std::string& path : CorpusFiles("xla_partitioned", ".hlo.pb.gz")) {
    SCOPED_TRACE(path);
    const HloFile theirs = Read(path);
    std::string global = absl::StrReplaceAll(
        path, {{"xla_partitioned", "jax"}, {".spmd.hlo.pb.gz", ""}, {".optimized.hlo.pb.gz", ""}});
    absl::StrAppend(&global, absl::EndsWith(global, "gspmd") ? ".snapshot.pb" : ".hlo.pb");
    const auto ours = PartitionedModule(*Read(global).module);
    const ProgramDiff diff = Diff(*ours, *theirs.module);
    ExpectExplained(diff, *ours, *theirs.module);
    EXPECT_FALSE(diff.same);
    EXPECT_NE(diff.a.sent_bytes, diff.b.sent_bytes);
    EXPECT_GT(diff.sent.same, 0);
    for (const CostRow& row : diff.sent.rows)
      EXPECT_THAT(absl::StrCat(row.place, row.place_in_a), HasSubstr("jax_programs.py"));
    // The way back.
    const ProgramDiff back = Diff(*theirs.module, *ours);
    EXPECT_EQ(back.sent.same, diff.sent.same);
    EXPECT_EQ(back.instructions.only_a, diff.instructions.only_b);
  }
}

// XLA sums gradients at the products that make them, Toroid where they are used: both are at the product's line.
TEST(ProgramDiffTest, ReduceScattersAreBesideTheAllReducesInTheirPlace) {
  const HloFile theirs = Read("tests/corpus/xla_partitioned/lm_fsdp_tensor_parallel.shardy.spmd.hlo.pb.gz");
  const auto ours = PartitionedModule(*Read("tests/corpus/jax/lm_fsdp_tensor_parallel.shardy.hlo.pb").module);
  const ProgramDiff diff = Diff(*ours, *theirs.module);
  const CostRow& largest = diff.sent.rows[0];
  EXPECT_EQ(largest.place, "programs/jax_programs.py:254");
  ASSERT_FALSE(largest.a.empty());
  ASSERT_FALSE(largest.b.empty());
  EXPECT_EQ(largest.a[0].what, "reduce-scatter over 4");
  EXPECT_EQ(largest.b[0].what, "all-reduce over 4");
}

// A compiler that combines collectives moves no bytes elsewhere.
TEST(ProgramDiffTest, CombinedCollectivesAreTheirArrays) {
  const std::string folder = "tests/corpus/xla_partitioned/lm_fsdp_tensor_parallel.shardy";
  const HloFile spmd = Read(folder + ".spmd.hlo.pb.gz"), optimized = Read(folder + ".optimized.hlo.pb.gz");
  const ProgramDiff diff = Diff(*spmd.module, *optimized.module);
  EXPECT_LT(diff.b.collectives, diff.a.collectives);
  EXPECT_EQ(diff.sent.total_a, diff.sent.total_b);
  EXPECT_THAT(diff.sent.rows, IsEmpty());
}

// A collective of an argument, or one that the compiler made without metadata, is at the line of what is near.
TEST(ProgramDiffTest, CollectivesWithoutLinesAreAtThoseNear) {
  const std::string text = R"(HloModule layer, num_partitions=8
ENTRY main {
  x = f32[8,128] parameter(0)
  all = f32[64,128] all-gather(x), dimensions={0}, replica_groups=[1,8]<=[8], channel_id=1, use_global_device_ids=true, metadata={op_name="x"}
  back = f32[64,128] copy(all)
  ROOT y = f32[64,128] negate(back)METADATA
})";
  const std::string line = R"(, metadata={op_name="f/neg" source_file="m.py" source_line=7})";
  ASSERT_OK_AND_ASSIGN(const auto gathers, ParseModule(absl::StrReplaceAll(text, {{"METADATA", line}})));
  ASSERT_OK_AND_ASSIGN(const auto before,
                       ParseModule(absl::StrReplaceAll(text, {{"METADATA", ""},
                                                              {"copy(all)", "copy(all)" + line},
                                                              {"parameter(0)", "parameter(0)" + line}})));
  ASSERT_OK_AND_ASSIGN(const auto none, ParseModule(R"(HloModule layer, num_partitions=8
ENTRY main { ROOT x = f32[8,128] parameter(0) })"));
  for (const Module* module : {gathers.get(), before.get()}) {
    const ProgramDiff diff = Diff(*module, *none);
    ASSERT_EQ(diff.sent.rows.size(), 1);
    EXPECT_EQ(diff.sent.rows[0].place, "m.py:7");
  }
}

constexpr char kLayer[] = R"(HloModule layer, num_partitions=8
ENTRY main {
  x = f32[64,128] parameter(0), sharding={replicated}, metadata={op_name="x"}
  w = f32[128,512] parameter(1), sharding={devices=[8,1]<=[8]}, metadata={op_name="w"}
  ROOT y = f32[64,512] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="f/dot" source_file="m.py" source_line=7}
})";

TEST(ProgramDiffTest, ArgumentsThatAreCutDifferentlyAreNamed) {
  ASSERT_OK_AND_ASSIGN(const auto rows, ParseModule(kLayer));
  ASSERT_OK_AND_ASSIGN(const auto columns, ParseModule(absl::StrReplaceAll(kLayer, {{"[8,1]", "[1,8]"}})));
  const ProgramDiff diff = Diff(*PartitionedModule(*rows), *PartitionedModule(*columns));
  ASSERT_FALSE(diff.shardings.empty());
  EXPECT_EQ(diff.shardings[0].name, "w");
  EXPECT_EQ(diff.shardings[0].shape_a, "f32[16,512]");
  EXPECT_EQ(diff.shardings[0].sharding_b, "{devices=[1,8]<=[8]}");
  EXPECT_THAT(DiffText(diff, 120),
              HasSubstr("  w: f32[16,512] by {devices=[8,1]<=[8]} in A, f32[128,64] by"));
  // A narrow terminal breaks the sentence and hides nothing of it.
  const std::string narrow = absl::StrReplaceAll(DiffText(diff, 40), {{"\n    ", " "}});
  EXPECT_THAT(
      narrow,
      HasSubstr("  w: f32[16,512] by {devices=[8,1]<=[8]} in A, f32[128,64] by {devices=[1,8]<=[8]} in B\n"));
}

// The same instructions for devices in another order are another program.
TEST(ProgramDiffTest, AnotherOrderOfDevicesIsADifference) {
  ASSERT_OK_AND_ASSIGN(const auto one,
                       ParseModule(absl::StrReplaceAll(kLayer, {{"[8,1]<=[8]", "[1,8]<=[8]"}})));
  ASSERT_OK_AND_ASSIGN(const auto other,
                       ParseModule(absl::StrReplaceAll(kLayer, {{"[8,1]<=[8]", "[1,8]<=[2,4]T(1,0)"}})));
  const ProgramDiff diff = Diff(*PartitionedModule(*one), *PartitionedModule(*other));
  EXPECT_FALSE(diff.same);
  EXPECT_THAT(DiffSummary(diff), HasSubstr("arguments or results are cut differently"));
}

TEST(ProgramDiffTest, OtherDonatedArgumentsAreADifference) {
  const std::string text = "HloModule m\nENTRY e { x = f32[8] parameter(0) ROOT y = f32[8] negate(x) }";
  ASSERT_OK_AND_ASSIGN(const auto kept, ParseModule(text));
  ASSERT_OK_AND_ASSIGN(const auto donated,
                       ParseModule(absl::StrReplaceAll(
                           text, {{"m\n", "m, input_output_alias={ {}: (0, {}, may-alias) }\n"}})));
  EXPECT_THAT(DiffSummary(Diff(*kept, *donated)), HasSubstr("donated arguments differ"));
}

TEST(ProgramDiffTest, AsynchronousPairsAndCallsAreWhatTheyCarryOut) {
  const std::string head =
      "HloModule m, num_partitions=8\nf { p = f32[64] parameter(0) ROOT n = f32[64] negate(p) }\n";
  ASSERT_OK_AND_ASSIGN(const auto plain, ParseModule(head + R"(ENTRY e { x = f32[8] parameter(0)
  g = f32[64] all-gather(x), channel_id=1, replica_groups=[1,8]<=[8], dimensions={0}, use_global_device_ids=true
  ROOT n = f32[64] negate(g) })"));
  ASSERT_OK_AND_ASSIGN(const auto pairs, ParseModule(head + R"(ENTRY e { x = f32[8] parameter(0)
  s = (f32[8], f32[64]) all-gather-start(x), channel_id=1, replica_groups=[1,8]<=[8], dimensions={0}, use_global_device_ids=true
  g = f32[64] all-gather-done(s)
  ROOT n = f32[64] call(g), to_apply=f })"));
  EXPECT_TRUE(Diff(*plain, *pairs).same);
}

TEST(ProgramDiffTest, LoopsCountWithTheirTrips) {
  const std::string text = R"(HloModule m, num_partitions=8
add { p = f32[] parameter(0) q = f32[] parameter(1) ROOT s = f32[] add(p, q) }
body { t = (s32[], f32[8]) parameter(0) i = s32[] get-tuple-element(t), index=0 v = f32[8] get-tuple-element(t), index=1
  one = s32[] constant(1) j = s32[] add(i, one)
  w = f32[8] all-reduce(v), channel_id=1, replica_groups=[1,8]<=[8], use_global_device_ids=true, to_apply=add, metadata={op_name="f/sum"}
  ROOT r = (s32[], f32[8]) tuple(j, w) }
condition { t = (s32[], f32[8]) parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant(12)
  ROOT c = pred[] compare(i, n), direction=LT }
ENTRY main { x = f32[8] parameter(0) zero = s32[] constant(0) t = (s32[], f32[8]) tuple(zero, x)
  ROOT l = (s32[], f32[8]) while(t), condition=condition, body=body })";
  ASSERT_OK_AND_ASSIGN(const auto a, ParseModule(text));
  ASSERT_OK_AND_ASSIGN(const auto b,
                       ParseModule(absl::StrReplaceAll(text, {{"constant(12)", "constant(20)"}})));
  const ProgramDiff diff = Diff(*a, *b);
  EXPECT_EQ(diff.a.sent_bytes, 12 * 56);
  EXPECT_EQ(diff.b.sent_bytes, 20 * 56);
  ASSERT_THAT(diff.sent.rows, SizeIs(1));
  EXPECT_EQ(diff.sent.rows[0].b[0].times, 8);
  EXPECT_EQ(diff.sent.rows[0].difference(), 8 * 56);
}

// The condition does not show how often such a loop runs; its backend config may.
TEST(ProgramDiffTest, StatedTripCountsAreADifference) {
  const std::string text = R"(HloModule m, num_partitions=8
add { p = f32[] parameter(0) q = f32[] parameter(1) ROOT s = f32[] add(p, q) }
body { t = f32[8] parameter(0)
  ROOT w = f32[8] all-reduce(t), channel_id=1, replica_groups=[1,8]<=[8], use_global_device_ids=true, to_apply=add }
condition { t = f32[8] parameter(0) z = f32[] constant(0) s = f32[] reduce(t, z), dimensions={0}, to_apply=add
  ROOT c = pred[] compare(s, z), direction=LT }
ENTRY main { x = f32[8] parameter(0)
  ROOT l = f32[8] while(x), condition=condition, body=body, backend_config={"known_trip_count":{"n":"5"}} })";
  ASSERT_OK_AND_ASSIGN(const auto five, ParseModule(text));
  ASSERT_OK_AND_ASSIGN(const auto six, ParseModule(absl::StrReplaceAll(text, {{"\"5\"", "\"6\""}})));
  EXPECT_TRUE(Diff(*five, *five).same);
  const ProgramDiff diff = Diff(*five, *six);
  EXPECT_FALSE(diff.same);
  EXPECT_EQ(diff.b.sent_bytes - diff.a.sent_bytes, 14 * 4);
  EXPECT_THAT(DiffSummary(diff), HasSubstr(" more than A (a)"));
}

TEST(ProgramDiffTest, MemoryWithoutArraysIsNone) {
  ASSERT_OK_AND_ASSIGN(const auto empty, ParseModule("HloModule m\nENTRY e { ROOT t = () tuple() }"));
  ASSERT_OK_AND_ASSIGN(const auto token,
                       ParseModule("HloModule m\nENTRY e { ROOT t = token[] after-all() }"));
  const ProgramDiff diff = Diff(*empty, *token);
  EXPECT_FALSE(diff.same);
  EXPECT_EQ(diff.memory.total_b, 0);
  EXPECT_THAT(DiffText(diff, 80), HasSubstr("neither sends anything"));
}

TEST(ProgramDiffTest, ProgramsForOtherNumbersOfDevicesAreRefused) {
  ASSERT_OK_AND_ASSIGN(
      const auto eight,
      ParseModule("HloModule m, num_partitions=8\nENTRY e { ROOT x = f32[8] parameter(0) }"));
  ASSERT_OK_AND_ASSIGN(
      const auto four,
      ParseModule("HloModule m, num_partitions=4\nENTRY e { ROOT x = f32[8] parameter(0) }"));
  EXPECT_EQ(DiffPrograms({*eight, "a.hlo"}, {*four, "b.hlo"}).status().message(),
            "a.hlo is for 8 devices, b.hlo for 4; compare programs for one number of devices");
}

// The author inserted three lines: a difference is at the new line, once.
TEST(ProgramDiffTest, LinesThatMovedAreRecognized) {
  std::string before =
      "HloModule m, num_partitions=8\nadd { p = f32[] parameter(0) q = f32[] parameter(1) ROOT s = f32[] add(p, q) }\n"
      "ENTRY e { x = f32[8] parameter(0)\n";
  std::string after = before;
  for (int i = 0; i < 4; ++i) {
    const auto line = [&](int number) {
      return absl::StrCat("metadata={op_name=\"f/op", i, "\" source_file=\"m.py\" source_line=", number,
                          "}\n");
    };
    const std::string x = i == 0 ? "x" : absl::StrCat("r", i - 1);
    absl::StrAppend(&before, "n", i, " = f32[8] negate(", x, "), ", line(10 + i), "r", i,
                    " = f32[8] all-reduce(n", i, "), replica_groups=[", i == 3 ? "1,8" : "2,4",
                    "]<=[8], channel_id=", i + 1, ", use_global_device_ids=true, to_apply=add, ",
                    line(10 + i));
    absl::StrAppend(&after, "n", i, " = f32[8] negate(", x, "), ", line(13 + i), "r", i,
                    " = f32[8] all-reduce(n", i, "), replica_groups=[2,4]<=[8], channel_id=", i + 1,
                    ", use_global_device_ids=true, to_apply=add, ", line(13 + i));
  }
  ASSERT_OK_AND_ASSIGN(const auto a, ParseModule(before + "ROOT y = f32[8] negate(r3) }"));
  ASSERT_OK_AND_ASSIGN(const auto b, ParseModule(after + "ROOT y = f32[8] negate(r3) }"));
  const ProgramDiff diff = Diff(*a, *b);
  ASSERT_THAT(diff.sent.rows, SizeIs(1));
  EXPECT_EQ(diff.sent.rows[0].place, "m.py:16");
  EXPECT_EQ(diff.sent.rows[0].place_in_a, "m.py:13");
  EXPECT_EQ(diff.sent.rows[0].kind, CostRowKind::kChanged);
}

}  // namespace
}  // namespace toroid
