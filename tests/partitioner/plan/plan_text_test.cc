// BUILD: data = ["//tests/corpus:forms", "//tests/corpus:jax", "//tests/corpus:wasteful"]
// Plans are printed, read, replayed and edited: the same plan writes the same program, another one equal values, and a plan
// that does not fit is refused by name.
#include "partitioner/plan/plan_text.h"

#include <random>
#include <string>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "tests/corpus_files.h"
#include "tests/partition_and_run.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

const char kTwoProducts[] = R"(ENTRY main {
  x = f32[8,16] parameter(0), sharding={devices=[4,1]<=[4]}
  w = f32[16,12] parameter(1), sharding={replicated}
  h = f32[8,12] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  a = f32[8,12] tanh(h)
  v = f32[12,8] parameter(2), sharding={devices=[4,1]<=[4]}
  ROOT y = f32[8,8] dot(a, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={replicated}
})";

absl::StatusOr<Partitioned> PartitionBy(const Module& module, const std::string& plan) {
  PartitionOptions options;
  options.plan = plan;
  options.states_plan = true;
  return PartitionModule(module, options);
}

std::string PlanOf(const Module& module) {
  PartitionOptions options;
  options.states_plan = true;
  auto partitioned = PartitionModule(module, options);
  EXPECT_OK(partitioned.status());
  return partitioned.ok() ? partitioned->plan : "";
}

// The row of a value with its sharding replaced.
std::string WithRow(const std::string& plan, absl::string_view value, absl::string_view from,
                    absl::string_view to) {
  std::vector<std::string> lines = absl::StrSplit(plan, '\n');
  bool found = false;
  for (std::string& line : lines) {
    if (!absl::StartsWith(line, absl::StrCat(value, " "))) continue;
    found = absl::StrReplaceAll({{from, to}}, &line) > 0;
  }
  EXPECT_TRUE(found) << value << " without " << from << " in\n" << plan;
  return absl::StrJoin(lines, "\n");
}

// The cut of a product of rows, columns and contracted elements, in the order of `factors`, along its 12 columns.
std::string CutOfColumns(const std::string& factors) {
  std::vector<std::string> cut;
  for (const absl::string_view size : absl::StrSplit(factors, ", "))
    cut.push_back(size == "12" ? "{a4}" : "{}");
  return absl::StrCat("[", absl::StrJoin(cut, ", "), "]");
}

TEST(PlanTextTest, APlanIsATableInTheAxesOfTheModule) {
  const auto module = ProgramFor(kTwoProducts, 4);
  const std::string plan = PlanOf(*module);
  EXPECT_THAT(plan, HasSubstr("# form: as given\n"));
  EXPECT_THAT(plan, ::testing::ContainsRegex(R"(main/x +f32\[8,16\] +\[\{a4\}, \{\}\] +- +- +-)"));
  EXPECT_THAT(plan,
              ::testing::ContainsRegex(R"(main/h +f32\[8,12\] +\[.*\] +[0-9]+, [0-9]+, [0-9]+ +\[.*\] +-)"));
}

TEST(PlanTextTest, WhatIsReadIsWhatWasPrinted) {
  const auto module = ProgramFor(kTwoProducts, 4);
  ASSERT_OK_AND_ASSIGN(const auto program, PrepareProgram(*module, PartitionOptions()));
  const ProgramNames names(*program->flat, *program->graph, program->annotations, false);
  const std::string text = PlanOf(*module);
  ASSERT_OK_AND_ASSIGN(const Plan plan, ReadPlan(text, *program, names));
  EXPECT_EQ(PlanText(*program, names, plan), text);
  ASSERT_OK_AND_ASSIGN(Plan again, ReadPlan(text, *program, names));
  EXPECT_EQ(plan, again);
  EXPECT_EQ(absl::HashOf(plan), absl::HashOf(again));
  again.shardings[0] = Sharding::Replicated(2);
  EXPECT_FALSE(plan == again);
}

TEST(PlanTextTest, AReplayedPlanWritesTheSameProgram) {
  std::vector<std::string> files = CorpusFiles("forms", ".hlo");
  for (const absl::string_view folder : {"jax", "wasteful"}) {
    for (const std::string& file : CorpusFiles(folder, "")) files.push_back(file);
  }
  int replayed = 0;
  for (const std::string& path : files) {
    SCOPED_TRACE(path);
    auto file = ReadHloFile(path);
    if (!file.ok()) continue;  // A folder's README.
    PartitionOptions options;
    options.states_plan = true;
    options.num_partitions = path.find("/forms/") != std::string::npos ? 4 : 0;
    auto first = PartitionModule(*file->module, options);
    if (!first.ok()) continue;  // Refused as the tests of these files say.
    options.plan = first->plan;
    auto second = PartitionModule(*file->module, options);
    ASSERT_OK(second.status());
    EXPECT_EQ(PrintModule(*first->module), PrintModule(*second->module)) << first->plan;
    ++replayed;
  }
  EXPECT_GE(replayed, 50);
}

TEST(PlanTextTest, AnEditedPlanGivesEqualValues) {
  const auto module = ProgramFor(kTwoProducts, 4);
  const std::vector<Literal> arguments = IntegerArguments(*module);
  // The first product is computed in columns, so that its result is where the second needs it.
  std::string plan = PlanOf(*module);
  ASSERT_OK_AND_ASSIGN(const Literal usual, PartitionAndRun(*module, PartitionOptions(), arguments));
  PartitionOptions options;
  for (const absl::string_view value : {"main/h", "main/a"}) {
    std::vector<std::string> lines = absl::StrSplit(plan, '\n');
    for (std::string& line : lines) {
      if (!absl::StartsWith(line, absl::StrCat(value, " "))) continue;
      const std::vector<std::string> cells = absl::StrSplit(line, "  ", absl::SkipWhitespace());
      ASSERT_EQ(cells.size(), 6);
      line = absl::StrJoin(
          {cells[0], cells[1], std::string("[{}, {a4}]"), cells[3],
           std::string(value == "main/a" ? "[{}, {a4}]" : CutOfColumns(cells[3])), std::string("-")},
          "  ");
    }
    plan = absl::StrJoin(lines, "\n");
  }
  options.plan = plan;
  ASSERT_OK_AND_ASSIGN(const Literal as_planned, PartitionAndRun(*module, options, arguments));
  EXPECT_EQ(as_planned, usual);
}

// Shardings of values that the module leaves open, at random: refused with one line, or equal.
TEST(PlanTextTest, RandomPlansAreRefusedOrGiveEqualValues) {
  const auto module = ProgramFor(kTwoProducts, 4);
  const std::vector<Literal> arguments = IntegerArguments(*module);
  ASSERT_OK_AND_ASSIGN(const Literal usual, PartitionAndRun(*module, PartitionOptions(), arguments));
  const std::string plan = PlanOf(*module);
  const std::vector<std::string> cuts = {"{}", "{a4}"};
  std::mt19937 random(7);
  int equal = 0, refused = 0;
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<std::string> lines = absl::StrSplit(plan, '\n');
    for (std::string& line : lines) {
      if (!absl::StartsWith(line, "main/") || absl::StrContains(line, "parameter")) continue;
      std::string changed;
      for (size_t i = 0; i < line.size();) {
        const size_t end = line[i] == '{' ? line.find('}', i) + 1 : i + 1;
        const bool replace = line[i] == '{' && random() % 3 == 0;
        changed += replace ? cuts[random() % cuts.size()] : line.substr(i, end - i);
        i = end;
      }
      line = changed;
    }
    PartitionOptions options;
    options.plan = absl::StrJoin(lines, "\n");
    const auto result = PartitionAndRun(*module, options, arguments);
    if (!result.ok()) {
      EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument)
          << result.status() << options.plan;
      ++refused;
      continue;
    }
    EXPECT_EQ(*result, usual) << options.plan;
    ++equal;
  }
  EXPECT_GT(equal, 3);
  EXPECT_GT(refused, 3);
}

TEST(PlanTextTest, APlanThatDoesNotFitIsRefusedByName) {
  const auto module = ProgramFor(kTwoProducts, 4);
  const std::string plan = PlanOf(*module);
  const auto refused = [&](const std::string& edited) {
    const auto result = PartitionBy(*module, edited);
    EXPECT_FALSE(result.ok());
    return std::string(result.status().message());
  };
  EXPECT_THAT(refused("hello"), HasSubstr("the plan: there is no line \"# form: as given\""));
  EXPECT_THAT(refused(WithRow(plan, "main/a", "f32[8,12]", "f32[8,13]")),
              HasSubstr("main/a is f32[8,12], not f32[8,13]"));
  EXPECT_THAT(refused(WithRow(plan, "main/a", "main/a", "main/b")),
              HasSubstr("the program has no value main/b"));
  EXPECT_THAT(refused(WithRow(plan, "main/a", "main/a", "#     ")),
              HasSubstr("the plan has no row for main/a"));
  EXPECT_THAT(refused(WithRow(plan, "main/x", "{a4}", "{b2}")), HasSubstr("the program has no axis b2"));
  EXPECT_THAT(refused(WithRow(plan, "main/x", "[{a4}, {}]", "[{a4}, {a4}]")),
              HasSubstr("main/x: an axis cuts it twice"));
  EXPECT_THAT(refused(WithRow(plan, "main/x", "[{a4}, {}]", "[{}, {a4}]")),
              HasSubstr("main/x: the module states how dimension 0 is cut"));
  EXPECT_THAT(refused(WithRow(plan, "main/x", "[{a4}, {}]", "[{a4}]")),
              HasSubstr("not a sharding of 2 dimensions"));
  // A plan of another module.
  const auto other =
      ProgramFor(absl::StrReplaceAll(kTwoProducts, {{"f32[8,16]", "f32[4,16]"}, {"f32[8,", "f32[4,"}}), 4);
  const auto result = PartitionBy(*other, plan);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("main/x is f32[4,16], not f32[8,16]"));
}

}  // namespace
}  // namespace toroid
