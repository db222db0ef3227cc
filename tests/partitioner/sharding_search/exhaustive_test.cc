// BUILD: size = "medium"
// BUILD: shard_count = 3
// Random small programs: the solver's choice costs what the best of all choices costs, and the program that is found computes
// what the unpartitioned one does.
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "partitioner/choice/solve.h"
#include "partitioner/plan/greedy_plan.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "tests/partitioner/search/small_programs.h"
#include "tests/partitioner/sharding_search/enumerate_choices.h"
#include "tests/partitioner/sharding_search/runs_as.h"
#include "tests/partitioner/sharding_search/searched_program.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

constexpr int kPrograms = 320;
constexpr int64_t kMostTried = 300'000;

// The text of a random program of at most 12 ops without its shardings.
std::string ProgramText(uint64_t seed) {
  std::string text = MakeSmallProgram(seed).text, bare;
  for (size_t at = 0; at < text.size();) {
    const size_t found = text.find(", sharding={", at);
    bare += text.substr(at, found - at);
    if (found == std::string::npos) break;
    int depth = 1;
    for (at = found + sizeof(", sharding={") - 1; depth > 0; ++at)
      depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
  }
  return bare;
}

// Meshes of 2 to 4 devices; one axis, so that most programs can be enumerated, and now and then two.
std::string MeshOf(uint64_t seed) { return seed % 5 == 0 ? "x=2,y=2" : seed % 5 == 1 ? "x=2" : "x=4"; }

SolveOptions Exactly() {
  SolveOptions options;
  options.threads = 1;
  return options;
}

TEST(ExhaustiveTest, TheChoiceCostsWhatTheBestOfAllCosts) {
  int known = 0, limited = 0;
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed, "\n", ProgramText(seed)));
    const SearchedProgram on = PrepareForSearch(ProgramText(seed), MeshOf(seed));
    ASSERT_OK_AND_ASSIGN(ShardingProblem problem, ShardingProblem::Make(on.base, on.space, on.memo.get()));
    ASSERT_OK(VerifyChoiceProblem(problem.problem()));
    const BestChoice best = EnumerateChoices(problem.problem(), kMostTried);
    if (!best.known) continue;
    ++known;
    ASSERT_OK_AND_ASSIGN(const Solution solution, Solve(problem.problem(), Exactly()));
    EXPECT_EQ(solution.cost, best.cost);
    EXPECT_EQ(solution.bound, best.cost);

    const BestChoice least = EnumeratePeaks(problem.problem(), kMostTried);
    if (!least.known) continue;
    ++limited;
    // Halfway from the peak of the cheapest choice to the least of all.
    problem.problem().usage_limit = (solution.peak + least.peak) / 2;
    const BestChoice smaller = EnumerateChoices(problem.problem(), kMostTried);
    if (smaller.known) {
      ASSERT_OK_AND_ASSIGN(const Solution kept, Solve(problem.problem(), Exactly()));
      EXPECT_EQ(kept.cost, smaller.cost);
      EXPECT_LE(kept.peak, *problem.problem().usage_limit);
    }
    problem.problem().usage_limit = least.peak;
    EXPECT_OK(Solve(problem.problem(), Exactly()));
    problem.problem().usage_limit = least.peak - 1;
    EXPECT_THAT(
        Solve(problem.problem(), Exactly()),
        StatusIs(absl::StatusCode::kResourceExhausted, ::testing::HasSubstr(absl::StrCat(least.peak))));
  }
  EXPECT_GE(known, 200);
  EXPECT_GE(limited, 150);
}

TEST(ExhaustiveTest, EveryChoiceIsAPlan) {
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed, "\n", ProgramText(seed)));
    const SearchedProgram on = PrepareForSearch(ProgramText(seed), MeshOf(seed));
    ASSERT_OK_AND_ASSIGN(const ShardingProblem problem,
                         ShardingProblem::Make(on.base, on.space, on.memo.get()));
    ASSERT_OK_AND_ASSIGN(const Solution solution, Solve(problem.problem(), Exactly()));
    // The best choice, and one that a hash picks where no combination is forbidden.
    std::vector<int> other = solution.choice;
    for (size_t i = 0; i < other.size(); ++i)
      other[i] = static_cast<int>((seed * 31 + i * 7) % problem.problem().nodes[i].costs.size());
    for (const std::vector<int>& choice : {solution.choice, other}) {
      if (Evaluate(problem.problem(), choice).cost >= kForbidden) continue;
      const Plan plan = problem.PlanOf(choice);
      EXPECT_OK(CheckPlan(*on.program, plan));
      EXPECT_TRUE(
          DecideGreedily(plan, CheapestAssignments(), /*fixed_outputs=*/true, on.memo.get()).has_value());
    }
  }
}

TEST(ExhaustiveTest, TheProgramThatIsFoundComputesWhatTheUnpartitionedOneDoes) {
  int cut = 0;
  for (uint64_t seed = 0; seed < kPrograms; seed += 3) {
    const std::string text = ProgramText(seed);
    SCOPED_TRACE(absl::StrCat("seed ", seed, "\n", text));
    const std::unique_ptr<Module> module = OnMesh(text, MeshOf(seed));
    ShardingSearchOptions options = FewSteps();
    // Where nothing but sums and products of few bytes is to be done, whole arrays are best: sending is for nothing here.
    class Free : public CostModel {
     public:
      double CollectiveTime(CollectiveKind, int64_t bytes, const Mesh&, const AxisList&) const override {
        return static_cast<double>(bytes);
      }
      double PermuteDelay(int64_t) const override { return 0; }
      double MemoryTime(double bytes) const override { return 4 * bytes; }
      double MatrixTime(double flops) const override { return flops; }
      double OpTime(const Work&) const override { return 0; }
      double SecondsPerLinkByte() const override { return 1e-9; }
    };
    const Free cost;
    options.partition.cost = &cost;
    ASSERT_OK_AND_ASSIGN(const FoundShardings found, FindShardings(*module, options));
    if (!found.annotations.empty()) ++cut;
    ExpectRunsAs(*module, *found.partitioned.module, {}, 1e-5);
    // The annotations alone make the same program.
    const std::unique_ptr<Module> annotated = OnMesh(text, MeshOf(seed));
    ASSERT_OK(GiveAnnotations(found.annotations, annotated.get()));
    ASSERT_OK_AND_ASSIGN(const Partitioned again, PartitionModule(*annotated, options.partition));
    EXPECT_EQ(PrintModule(*again.module), PrintModule(*found.partitioned.module));
  }
  EXPECT_GE(cut, 80);
}

}  // namespace
}  // namespace toroid
