#include "benchmarks/iopddl_table.h"

#include <algorithm>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "partitioner/choice/problem_json.h"

namespace toroid {
namespace {

// Sums of best / own cost over the contest's 20 final instances.
constexpr char kContest[] =
    "In the contest, over 20 instances, 8 cores and the seconds above, the first three had 0.937, 0.692 and 0.660 points an\n"
    "instance, XLA's solver 0.109.\n";

std::string Row(const IopddlInstance& instance, const Solution& solution, double seconds, double points) {
  const double gap = 100 * (1 - static_cast<double>(solution.bound) /
                                    static_cast<double>(std::max<int64_t>(1, solution.cost)));
  return absl::StrFormat("%-3s %-21s %-6s | %5.0f %5.0f | %14d %14d %7.3f %% %-9s | %14d %14d %14d | %7.4f\n",
                         instance.name, instance.model, instance.mesh, instance.seconds, seconds,
                         solution.cost, solution.bound, gap, solution.ended_by, instance.best_in_contest,
                         instance.best_known, instance.bound, points);
}

}  // namespace

absl::StatusOr<std::vector<IopddlInstance>> ParseIopddlInstances(absl::string_view text) {
  std::vector<IopddlInstance> instances;
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (++number == 1 || line.empty()) continue;
    const std::vector<std::string> columns = absl::StrSplit(line, '\t');
    IopddlInstance instance;
    const bool good = columns.size() >= 9 && absl::SimpleAtod(columns[5], &instance.seconds) &&
                      absl::SimpleAtoi(columns[6], &instance.best_in_contest) &&
                      absl::SimpleAtoi(columns[7], &instance.best_known) &&
                      absl::SimpleAtoi(columns[8], &instance.bound);
    if (!good)
      return absl::InvalidArgumentError(absl::StrCat("line ", number, ": it has not the nine columns"));
    instance.name = columns[0];
    instance.model = columns[1];
    instance.mesh = columns[2];
    instances.push_back(std::move(instance));
  }
  return instances;
}

absl::StatusOr<std::string> IopddlTable(const std::string& folder, double time_factor,
                                        const SolveOptions& options) {
  ASSIGN_OR_RETURN(const std::string list, ReadInput(folder + "/best_known.tsv"));
  ASSIGN_OR_RETURN(const std::vector<IopddlInstance> instances, ParseIopddlInstances(list));
  std::string text = absl::StrFormat(
      "The benchmark of sharding search (ASPLOS and EuroSys 2025), %d threads, the contest's seconds times %.3g (it had 8 cores).\n"
      "Written by //benchmarks:iopddl --table. Points: best known / ours. Best known costs and bounds are as published, some\n"
      "rounded.\n\n"
      "                                 |     seconds |                                          ours |  best in            best       published |\n"
      "    model                 mesh   | theirs ours |           cost          bound       gap       |        contest          known          bound |  points\n",
      options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency()),
      time_factor);
  double sum = 0;
  for (const IopddlInstance& instance : instances) {
    ASSIGN_OR_RETURN(const std::string json, ReadInput(absl::StrCat(folder, "/", instance.name, ".json.gz")));
    const absl::StatusOr<ChoiceProblem> problem = ParseChoiceProblem(json);
    if (!problem.ok()) return Annotate(problem.status(), instance.name);
    SolveOptions timed = options;
    timed.seconds = instance.seconds * time_factor;
    const Stopwatch clock;
    const absl::StatusOr<Solution> solution = Solve(*problem, timed);
    if (!solution.ok()) return Annotate(solution.status(), instance.name);
    const double points =
        static_cast<double>(instance.best_known) / static_cast<double>(std::max<int64_t>(1, solution->cost));
    sum += points;
    absl::StrAppend(&text, Row(instance, *solution, clock.Seconds(), points));
  }
  absl::StrAppendFormat(&text, "\nPoints: %.4f of %d.\n%s", sum, static_cast<int>(instances.size()),
                        kContest);
  return text;
}

}  // namespace toroid
