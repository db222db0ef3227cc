#include "partitioner/choice/solve.h"

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "partitioner/choice/first_solution.h"
#include "partitioner/choice/least_peak.h"
#include "partitioner/choice/reduction.h"
#include "partitioner/choice/rounds.h"

namespace toroid {
namespace {

// A gap above this part of the one before is the same.
constexpr double kSameGap = 0.9;

class Solver {
 public:
  Solver(const ChoiceProblem& problem, const SolveOptions& options) : problem_(problem), options_(options) {
    if (options_.threads <= 0)
      options_.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }

  absl::StatusOr<Solution> Run() {
    ASSIGN_OR_RETURN(Reduction reduction, Reduce(problem_));
    const auto stop = [this] { return Cancelled() || TimeIsUp(); };
    for (const std::vector<int>& start : options_.starts) TakeStart(start);
    // With the cost of any solution the problem becomes smaller, and its numbers more exact.
    if (const std::vector<int> first = FirstSolution(reduction.core, options_.seed, stop); !first.empty()) {
      Take(Expand(reduction, first));
    }
    if (found_) {
      ASSIGN_OR_RETURN(reduction, ReduceBelow(problem_, solution_.cost));
    }
    std::optional<int64_t> upper;
    if (found_) upper = solution_.cost;
    SolveRounds rounds(reduction.core, upper, options_.seed, options_.threads);
    // The first solution is far from the best one: searches would only be drawn to it.
    if (found_ && !options_.starts.empty()) rounds.Offer(Contract(reduction, solution_.choice));
    closed_ = rounds.closed();
    while (!closed_ && !Ended()) {
      rounds.Run(stop);
      ++solution_.steps;
      closed_ = rounds.closed();
      if (!rounds.best().empty()) Take(Expand(reduction, rounds.best()));
      solution_.bound = std::max(solution_.bound, rounds.bound());
      if (found_) solution_.bound = std::min(solution_.bound, solution_.cost);
      NoteGap();
      Report();
    }
    if (!found_) return Failure();
    if (closed_) solution_.bound = solution_.cost;
    solution_.ended_by = closed_                        ? "optimal"
                         : Cancelled()                  ? "cancelled"
                         : IsClose()                    ? "gap"
                         : StandsStill()                ? "standstill"
                         : options_.seconds.has_value() ? "seconds"
                                                        : "steps";
    return solution_;
  }

 private:
  bool Cancelled() const { return options_.cancelled && options_.cancelled(); }
  bool TimeIsUp() const { return options_.seconds.has_value() && clock_.Seconds() >= *options_.seconds; }
  bool IsClose() const {
    const double cost = static_cast<double>(solution_.cost);
    return found_ && options_.gap > 0 && cost - static_cast<double>(solution_.bound) <= options_.gap * cost;
  }
  void NoteGap() {
    const double gap = static_cast<double>(solution_.cost) - static_cast<double>(solution_.bound);
    if (found_ && gap > kSameGap * gap_before_) {
      ++idle_steps_;
      return;
    }
    idle_steps_ = 0;
    gap_before_ = found_ ? gap : gap_before_;
  }
  bool StandsStill() const { return options_.patience > 0 && idle_steps_ >= options_.patience; }
  bool Ended() const {
    return Cancelled() || IsClose() || StandsStill() || TimeIsUp() ||
           (!options_.seconds.has_value() && solution_.steps >= options_.steps);
  }

  void TakeStart(const std::vector<int>& start) {
    if (start.size() != problem_.nodes.size()) return;
    for (size_t i = 0; i < start.size(); ++i) {
      if (start[i] < 0 || start[i] >= static_cast<int>(problem_.nodes[i].costs.size())) return;
    }
    if (!problem_.usage_limit.has_value() || Evaluate(problem_, start).peak <= *problem_.usage_limit)
      Take(start);
  }

  void Take(std::vector<int> choice) {
    const ChoiceValue value = Evaluate(problem_, choice);
    TOROID_CHECK(!problem_.usage_limit.has_value() || value.peak <= *problem_.usage_limit,
                 "a choice of peak ", value.peak);
    if (value.cost >= kForbidden || (found_ && value.cost >= solution_.cost)) return;
    found_ = true;
    solution_.choice = std::move(choice);
    solution_.cost = value.cost;
    solution_.peak = value.peak;
  }

  void Report() const {
    if (!options_.progress) return;
    SolveProgress progress{clock_.Seconds(), solution_.steps, std::nullopt, solution_.bound};
    if (found_) progress.cost = solution_.cost;
    options_.progress(progress);
  }

  absl::Status Failure() {
    if (Cancelled()) return absl::CancelledError("cancelled before a choice that fits was found");
    const bool proven = closed_;
    if (!options_.explains_failure) return absl::ResourceExhaustedError("no choice that fits was found");
    ASSIGN_OR_RETURN(const LeastPeak least, FindLeastPeak(problem_, options_));
    const int64_t limit = problem_.usage_limit.value_or(0);
    if (!proven && least.peak <= limit) {
      return absl::ResourceExhaustedError(absl::StrCat("no choice that fits ", limit, " bytes was found in ",
                                                       solution_.steps, " steps; allow more"));
    }
    return absl::ResourceExhaustedError(
        absl::StrCat("a memory of ", limit, " bytes ",
                     proven ? "is too small: " : "seems too small: ", Describe(problem_, least)));
  }

  const ChoiceProblem& problem_;
  SolveOptions options_;
  Stopwatch clock_;
  Solution solution_;
  bool found_ = false;
  bool closed_ = false;
  double gap_before_ = std::numeric_limits<double>::infinity();  // When it last shrank.
  int64_t idle_steps_ = 0;                                       // Since then.
};

}  // namespace

absl::StatusOr<Solution> Solve(const ChoiceProblem& problem, const SolveOptions& options) {
  RETURN_IF_ERROR(VerifyChoiceProblem(problem));
  if (problem.nodes.empty()) return Solution{.ended_by = "optimal"};
  return Solver(problem, options).Run();
}

}  // namespace toroid
