// iopddl: the solver of choices on the public benchmark of sharding search.
//
//   bazel run -c opt //benchmarks:iopddl -- A.json.gz --seconds=120 -o answer.json
//   bazel run -c opt //benchmarks:iopddl -- A.json.gz --check=answer.json
//   bazel run -c opt //benchmarks:iopddl -- --table=FOLDER [--time_factor=2]
// Prints the cost, the proven bound and the gap, and writes the strategies as a list. --table solves each instance that
// FOLDER/best_known.tsv names, in the contest's seconds times the factor, and writes benchmarks/results/iopddl.txt.
// Source: the contest on intra-operator parallelism of ASPLOS and EuroSys 2025, github.com/google/iopddl.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/gnuplot.h"
#include "benchmarks/iopddl_table.h"
#include "hlo/base/command_line.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "partitioner/choice/problem_json.h"
#include "partitioner/choice/solve.h"

namespace toroid {
namespace {

std::atomic<bool> interrupted = false;

void Interrupt(int) { interrupted = true; }

void ShowProgress(const SolveProgress& progress) {
  const std::string cost = progress.cost.has_value() ? absl::StrCat(*progress.cost) : "none yet";
  const double gap =
      progress.cost.has_value()
          ? 100.0 * (1 - static_cast<double>(progress.bound) / std::max<double>(1, *progress.cost))
          : 100;
  absl::FPrintF(stderr, "\r\033[K%6.1f s, step %d: cost %s, bound %d, gap %.3f %%", progress.seconds,
                progress.steps, cost, progress.bound, gap);
  std::fflush(stderr);
}

struct Flags {
  std::string input, answer, check, table;
  double seconds = 0;
  double time_factor = 2;
  SolveOptions solve;
};

absl::StatusOr<ChoiceProblem> ReadProblem(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadInput(path));
  absl::StatusOr<ChoiceProblem> problem = ParseChoiceProblem(text);
  if (!problem.ok()) return Annotate(problem.status(), path);
  return problem;
}

absl::Status Check(const Flags& flags, const ChoiceProblem& problem) {
  ASSIGN_OR_RETURN(const std::string text, ReadInput(flags.check));
  const absl::StatusOr<std::vector<int>> choice = ParseChoice(text, problem);
  if (!choice.ok()) return Annotate(choice.status(), flags.check);
  const ChoiceValue value = Evaluate(problem, *choice);
  absl::PrintF(
      "cost %s, peak %d%s\n", value.cost >= kForbidden ? "forbidden" : absl::StrCat(value.cost), value.peak,
      problem.usage_limit.has_value() && value.peak > *problem.usage_limit ? " (above the limit)" : "");
  return absl::OkStatus();
}

absl::Status Run(Flags flags) {
  if (flags.seconds > 0) flags.solve.seconds = flags.seconds;
  std::signal(SIGINT, Interrupt);
  flags.solve.cancelled = [] { return interrupted.load(); };
  const bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal) flags.solve.progress = ShowProgress;
  if (!flags.table.empty()) {
    ASSIGN_OR_RETURN(const std::string text, IopddlTable(flags.table, flags.time_factor, flags.solve));
    std::fputs(text.c_str(), stdout);
    return WriteFile(ResultPath("iopddl.txt"), text);
  }
  if (flags.input.empty())
    return absl::InvalidArgumentError("iopddl: give a file or --table=FOLDER; see --help");
  ASSIGN_OR_RETURN(const ChoiceProblem problem, ReadProblem(flags.input));
  if (!flags.check.empty()) return Check(flags, problem);
  const absl::StatusOr<Solution> solution = Solve(problem, flags.solve);
  if (terminal) std::fputs("\n", stderr);
  if (!solution.ok()) return Annotate(solution.status(), flags.input);
  absl::PrintF("cost %d, bound %d, peak %d, %d steps, ended by: %s\n", solution->cost, solution->bound,
               solution->peak, solution->steps, solution->ended_by);
  return flags.answer.empty() ? absl::OkStatus() : WriteOutput(flags.answer, PrintChoice(solution->choice));
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app("Chooses strategies for an instance of the benchmark of sharding search.", "iopddl");
  toroid::Flags flags;
  app.add_option("FILE", flags.input, "the problem, JSON, also compressed");
  app.add_option("-o", flags.answer, "where to write the strategies");
  app.add_option("--check", flags.check, "evaluate these strategies instead");
  app.add_option("--table", flags.table,
                 "a folder of instances with best_known.tsv: write the table of results");
  app.add_option("--time_factor", flags.time_factor, "with --table: times the contest's seconds")
      ->check(CLI::PositiveNumber);
  app.add_option("--seconds", flags.seconds, "end after this time")->check(CLI::PositiveNumber);
  app.add_option("--steps", flags.solve.steps, "end after so many steps of equal work (default 100)")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", flags.solve.seed, "of the random numbers (default 1)");
  app.add_option("--threads", flags.solve.threads, "at most so many (default: all cores)")
      ->check(CLI::NonNegativeNumber);
  return toroid::RunCommand(app, argc, argv, [&] { return toroid::Run(flags); });
}
