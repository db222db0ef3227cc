// BUILD: size = "small"
// Shardings that a search finds for programs whose best ones are known.
#include "partitioner/sharding_search/find_shardings.h"

#include <atomic>
#include <initializer_list>
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/analysis/peak_memory.h"
#include "hlo/io/hlo_text.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "tests/partitioner/sharding_search/models.h"
#include "tests/partitioner/sharding_search/runs_as.h"
#include "tests/partitioner/sharding_search/searched_program.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The shardings of arguments by name; those that are not named are whole, or follow from the others.
std::map<std::string, std::string> OfArguments(const FoundShardings& found) {
  std::map<std::string, std::string> shardings;
  for (const FoundAnnotation& annotation : found.annotations) {
    for (const std::string& name : annotation.names) {
      if (annotation.is_argument) shardings[name] = annotation.sharding;
    }
  }
  return shardings;
}

// How the program that was written takes its arguments.
std::string TakenAs(const FoundShardings& found, int argument) {
  const Instruction& parameter = *found.partitioned.module->entry()->parameter(argument);
  std::string dims;
  for (const int64_t dim : parameter.shape().dims()) absl::StrAppend(&dims, dims.empty() ? "" : ",", dim);
  return dims;
}

TEST(FindShardingsTest, OfSmallWeightsAndManyRowsTheRowsAreCut) {
  const auto module = OnMesh(MlpStep(131072, 64, 64), "data=4");
  ASSERT_OK_AND_ASSIGN(const FoundShardings found, FindShardings(*module, FewSteps()));
  // One annotation of rows suffices, of x or of what is made of it.
  int named = 0;
  for (const FoundAnnotation& annotation : found.annotations) {
    if (absl::StartsWith(annotation.names[0], "output")) continue;
    ++named;
    EXPECT_EQ(annotation.sharding, "[{\"data\"}, {}]");
  }
  EXPECT_EQ(named, 1);
  EXPECT_EQ(TakenAs(found, 0), "64,64");
  EXPECT_EQ(TakenAs(found, 2), "32768,64");
  EXPECT_LE(found.bound_seconds, found.priced_seconds * (1 + 1e-9));
}

// A sum over rows: cut by columns it sends nothing, cut by rows it all-reduces a little.
std::string SumOfRows(int64_t rows, int64_t columns) {
  return absl::StrCat("add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n",
                      "ENTRY e {\n x = f32[", rows, ",", columns, "] parameter(0)\n t = f32[", rows, ",",
                      columns, "] tanh(x)\n zero = f32[] constant(0)\n ROOT r = f32[", columns,
                      "] reduce(t, zero), dimensions={0}, to_apply=add }");
}

TEST(FindShardingsTest, TheBoundIsThatOfAllChoicesWhicheverProgramWins) {
  const auto module = OnMesh(SumOfRows(65536, 4096), "x=4");
  ShardingSearchOptions options = FewSteps();
  ASSERT_OK_AND_ASSIGN(const PricedShardings best, PriceShardings(*module, options));
  // Whatever is written last is measured as the fastest: a program that prices call slower.
  double seconds = 1;
  options.measure = [&](const Module&) -> absl::StatusOr<MeasuredProgram> {
    return MeasuredProgram{.seconds = seconds *= 0.5, .peak_bytes = 1};
  };
  ASSERT_OK_AND_ASSIGN(const FoundShardings found, FindShardings(*module, options));
  EXPECT_GT(found.rounds, 1);
  EXPECT_GT(found.priced_seconds, best.seconds);
  EXPECT_NEAR(found.bound_seconds, best.bound_seconds, 1e-3 * best.seconds);
}

TEST(FindShardingsTest, RowsThatNothingDividesAreCutInsideTheProgram) {
  const auto module = OnMesh(SumOfRows(4099, 16), "x=4,y=2");
  ASSERT_OK_AND_ASSIGN(const FoundShardings found, FindShardings(*module, FewSteps()));
  ExpectRunsAs(*module, *found.partitioned.module, {}, 1e-4);
  // 7 divides neither dimension, so even the argument is cut into unequal parts.
  const auto odd = OnMesh(SumOfRows(1 << 20, 99), "x=7");
  ASSERT_OK_AND_ASSIGN(const FoundShardings cut, FindShardings(*odd, FewSteps()));
  EXPECT_NE(TakenAs(cut, 0), "1048576,99");
  EXPECT_TRUE(cut.annotations[0].is_uneven);
}

TEST(FindShardingsTest, OfLargeWeightsAndFewRowsTheHiddenDimensionIsCut) {
  const auto module = OnMesh(MlpStep(64, 1024, 4096), "model=4");
  ASSERT_OK_AND_ASSIGN(const FoundShardings found, FindShardings(*module, FewSteps()));
  EXPECT_EQ(TakenAs(found, 0), "1024,1024") << "w1 by columns";
  EXPECT_EQ(TakenAs(found, 1), "1024,1024") << "w2 by rows";
}

TEST(FindShardingsTest, TheProgramComputesWhatTheModuleDoes) {
  for (const char* mesh : {"data=4", "data=2,model=2"}) {
    const auto module = OnMesh(MlpStep(64, 16, 32, true), mesh);
    ASSERT_OK_AND_ASSIGN(const FoundShardings found, FindShardings(*module, FewSteps()));
    ExpectRunsAs(*module, *found.partitioned.module, {}, 1e-5);
  }
}

constexpr char kExperts[] = R"(
ENTRY main {
  x = f32[64,512] parameter(0)
  dispatch = f32[64,8,16] parameter(1)
  wi = f32[8,512,4096] parameter(2)
  wo = f32[8,4096,512] parameter(3)
  in = f32[8,16,512] dot(dispatch, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  h = f32[8,16,4096] dot(in, wi), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  z = f32[] constant(0)
  zs = f32[8,16,4096] broadcast(z), dimensions={}
  a = f32[8,16,4096] maximum(h, zs)
  out = f32[8,16,512] dot(a, wo), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  ROOT y = f32[64,512] dot(dispatch, out), lhs_contracting_dims={1,2}, rhs_contracting_dims={0,1}
})";

TEST(FindShardingsTest, ExpertsAreCut) {
  const auto module = OnMesh(kExperts, "e=8");
  ASSERT_OK_AND_ASSIGN(const FoundShardings found, FindShardings(*module, FewSteps()));
  EXPECT_EQ(TakenAs(found, 2), "1,512,4096");
  EXPECT_EQ(TakenAs(found, 3), "1,4096,512");
}

// Prices know nothing of what measures say; the program whose input alone is cut is among those that are measured.
TEST(FindShardingsTest, TheLargestInputIsCutInEveryWay) {
  const auto module = OnMesh(MlpStep(64, 1024, 4096), "d=4");
  for (const int dim : {0, 1}) {
    ShardingSearchOptions options = FewSteps();
    options.measure = [&](const Module& written) -> absl::StatusOr<MeasuredProgram> {
      const Shape& x = written.entry()->parameter(2)->shape();
      return MeasuredProgram{x.dim(dim) < std::vector<int64_t>({64, 1024})[dim] ? 1.0 : 2.0, 0.5, 1};
    };
    ASSERT_OK_AND_ASSIGN(const FoundShardings found, FindShardings(*module, options));
    EXPECT_EQ(found.measured.seconds, 1) << dim;
    EXPECT_EQ(TakenAs(found, 2), dim == 0 ? "16,1024" : "64,256");
    EXPECT_LE(found.bound_seconds, found.priced_seconds);
  }
}

TEST(FindShardingsTest, AsMemoryFallsMoreOfTheStateIsCut) {
  const auto module = OnMesh(MlpStep(4096, 512, 512, true), "data=4");
  ASSERT_OK_AND_ASSIGN(const FoundShardings free, FindShardings(*module, FewSteps()));
  const int64_t most = ComputeCompiledPeakMemory(*free.partitioned.module).bytes;
  EXPECT_EQ(free.measured.peak_bytes, most);
  const auto bytes_of = [](const FoundShardings& found, std::initializer_list<int> arguments) {
    int64_t bytes = 0;
    for (const int i : arguments)
      bytes += found.partitioned.module->entry()->parameter(i)->shape().ByteSize();
    return bytes;
  };
  constexpr int64_t kWeight = 512 * 512 * 4;
  EXPECT_EQ(bytes_of(free, {0, 1, 2, 3}), 4 * kWeight) << "the state is whole";
  double seconds = free.measured.seconds;
  int64_t state = 4 * kWeight;
  for (const int64_t saved : {kWeight / 2, kWeight, 2 * kWeight}) {
    SCOPED_TRACE(absl::StrCat(saved, " bytes less than ", most));
    ShardingSearchOptions options = FewSteps();
    options.memory = most - saved;
    ASSERT_OK_AND_ASSIGN(const FoundShardings found, FindShardings(*module, options));
    EXPECT_LE(found.measured.peak_bytes, *options.memory);
    EXPECT_LE(ComputeCompiledPeakMemory(*found.partitioned.module).bytes, *options.memory);
    EXPECT_LE(bytes_of(found, {0, 1, 2, 3}), state);
    EXPECT_GE(found.measured.seconds, seconds) << "memory has its price";
    state = bytes_of(found, {0, 1, 2, 3});
    seconds = found.measured.seconds;
  }
  EXPECT_EQ(state, kWeight) << "at last each device holds a quarter";
}

TEST(FindShardingsTest, ALimitThatNothingKeepsIsAnsweredWithTheLeast) {
  const auto module = OnMesh(MlpStep(64, 32, 32), "data=2");
  ShardingSearchOptions options = FewSteps();
  options.memory = 1000;
  EXPECT_THAT(FindShardings(*module, options),
              StatusIs(absl::StatusCode::kResourceExhausted, AllOf(HasSubstr("1000"), HasSubstr("least"))));
  options.memory = 0;
  EXPECT_THAT(FindShardings(*module, options), StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST(FindShardingsTest, OnOneDeviceThereIsNothingToCut) {
  EXPECT_THAT(FindShardings(*OnMesh(MlpStep(8, 8, 8), ""), FewSteps()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("one device")));
  EXPECT_THAT(FindShardings(*OnMesh(MlpStep(8, 8, 8), "x=1"), FewSteps()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("one device")));
}

TEST(FindShardingsTest, WithoutAnArrayThereIsNothingToCut) {
  for (const char* text : {"ENTRY e { ROOT c = f32[] constant(0) }", "ENTRY e { ROOT c = () tuple() }",
                           "ENTRY e { x = f32[] parameter(0) ROOT y = f32[] negate(x) }"}) {
    const auto found = FindShardings(*OnMesh(text, "x=2"), FewSteps());
    EXPECT_THAT(found, StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("nothing"))) << text;
  }
}

TEST(FindShardingsTest, WhatIsAnnotatedStays) {
  const auto module = OnMesh(R"(
HloModule m, frontend_attributes={xla.sdy.meshes="{mesh = #sdy.mesh<[\"a\"=2, \"b\"=2]>}"}
ENTRY main {
  x = f32[4096,64] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{}, {\"a\"}]>"}
  w = f32[64,64] parameter(1)
  ROOT y = f32[4096,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
                             "");
  ASSERT_OK_AND_ASSIGN(const FoundShardings found, FindShardings(*module, FewSteps()));
  EXPECT_EQ(TakenAs(found, 0), "4096,32");
  EXPECT_EQ(OfArguments(found).count("x"), 0u);
}

TEST(FindShardingsTest, AllAnnotatedThereIsNothingToChoose) {
  const auto module = OnMesh(R"(
HloModule m, frontend_attributes={xla.sdy.meshes="{mesh = #sdy.mesh<[\"a\"=2]>}"}
ENTRY main {
  x = f32[4] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"a\"}]>"}
  ROOT y = f32[4] negate(x), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"a\"}]>"}
})",
                             "");
  EXPECT_THAT(FindShardings(*module, FewSteps()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("nothing")));
}

TEST(FindShardingsTest, AMeshThatDividesNothingLeavesAllWhole) {
  const auto module = OnMesh(MlpStep(16, 8, 32), "x=7");
  ASSERT_OK_AND_ASSIGN(const FoundShardings found, FindShardings(*module, FewSteps()));
  EXPECT_THAT(OfArguments(found), IsEmpty());
  EXPECT_EQ(TakenAs(found, 2), "16,8");
  ExpectRunsAs(*module, *found.partitioned.module, {}, 1e-5);
}

TEST(FindShardingsTest, TheGivenShardingsAreTheAnswerIfNothingIsBetter) {
  const auto module = OnMesh(MlpStep(131072, 64, 64), "data=4");
  ASSERT_OK_AND_ASSIGN(const FoundShardings found, FindShardings(*module, FewSteps()));
  const auto given = OnMesh(MlpStep(131072, 64, 64), "data=4");
  ASSERT_OK(GiveAnnotations(found.annotations, given.get()));
  ShardingSearchOptions options = FewSteps();
  options.given = given.get();
  ASSERT_OK_AND_ASSIGN(const FoundShardings again, FindShardings(*module, options));
  EXPECT_LE(again.measured.seconds, found.measured.seconds);
  // Bad ones are not.
  const auto bad = OnMesh(MlpStep(131072, 64, 64), "data=4");
  ASSERT_OK(GiveAnnotations({{.names = {"x"}, .given = "{devices=[1,4]<=[4]}"}}, bad.get()));
  options.given = bad.get();
  ASSERT_OK_AND_ASSIGN(const FoundShardings better, FindShardings(*module, options));
  EXPECT_FALSE(better.is_given);
  EXPECT_LE(better.measured.seconds, found.measured.seconds);
}

TEST(FindShardingsTest, CancelledFromTheStartItSaysSo) {
  ShardingSearchOptions options = FewSteps();
  options.solve.cancelled = [] { return true; };
  EXPECT_THAT(FindShardings(*OnMesh(MlpStep(64, 32, 32), "x=2"), options),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("cancelled")));
}

TEST(FindShardingsTest, CancelledLaterItGivesTheBestSoFar) {
  for (const int after : {1, 2, 3}) {
    std::atomic<int> seen = 0;
    ShardingSearchOptions options = FewSteps();
    options.solve.gap = 0;
    options.solve.progress = [&](const SolveProgress& progress) { seen += progress.cost.has_value(); };
    options.solve.cancelled = [&] { return seen >= after; };
    const auto module = OnMesh(Layers(3, 64, 64), "x=2,y=2");
    const absl::StatusOr<FoundShardings> found = FindShardings(*module, options);
    if (!found.ok()) {
      EXPECT_THAT(found, StatusIs(absl::StatusCode::kCancelled));
      continue;
    }
    ExpectRunsAs(*module, *found->partitioned.module, {}, 1e-5);
  }
}

TEST(FindShardingsTest, TwoRunsFindTheSame) {
  const auto module = OnMesh(MlpStep(512, 128, 256, true), "x=2,y=2");
  std::string text;
  for (const int threads : {1, 1, 2}) {
    ShardingSearchOptions options = FewSteps();
    options.solve.threads = threads;
    ASSERT_OK_AND_ASSIGN(const FoundShardings found, FindShardings(*module, options));
    std::string now;
    for (const FoundAnnotation& one : found.annotations) {
      absl::StrAppend(&now, one.sharding, one.given);
      for (const std::string& name : one.names) absl::StrAppend(&now, " ", name);
      absl::StrAppend(&now, "\n");
    }
    absl::StrAppend(&now, PrintModule(*found.partitioned.module));
    if (text.empty()) text = now;
    EXPECT_EQ(now, text);
  }
}

// Calls are inlined, and both computations have an instruction "p": its name means neither.
TEST(FindShardingsTest, ANameThatMeansTwoValuesIsNotUsed) {
  const auto module = OnMesh(R"(
f {
  a = f32[64,64] parameter(0)
  ROOT p = f32[64,64] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
ENTRY main {
  x = f32[64,64] parameter(0)
  w = f32[64,8,32] parameter(1)
  c = f32[64,64] call(x), to_apply=f
  p = f32[64,8,32] dot(c, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (f32[64,64], f32[64,8,32]) tuple(c, p)
})",
                             "x=2,y=2");
  ASSERT_OK_AND_ASSIGN(const FoundShardings found, FindShardings(*module, FewSteps()));
  for (const FoundAnnotation& annotation : found.annotations)
    EXPECT_THAT(annotation.names, ::testing::Not(::testing::Contains("p")));
  ExpectRunsAs(*module, *found.partitioned.module, {}, 1e-5);
}

TEST(FindShardingsTest, WhatIsManualIsNotAnnotated) {
  const auto module = OnMesh(R"(
ENTRY main {
  x = f32[4] parameter(0), sharding={manual}
  ROOT y = f32[4] negate(x)
})",
                             "x=2");
  const auto found = FindShardings(*module, FewSteps());
  if (!found.ok()) {
    EXPECT_THAT(found, StatusIs(absl::StatusCode::kFailedPrecondition));
    return;
  }
  for (const FoundAnnotation& annotation : found->annotations)
    EXPECT_THAT(annotation.names, ::testing::Not(::testing::Contains("x")));
}

}  // namespace
}  // namespace toroid
