#include "partitioner/choice/feasible.h"

#include "hlo/base/status.h"
#include "partitioner/choice/reduction.h"
#include "partitioner/choice/rounds.h"

namespace toroid {
namespace {

constexpr int kRounds = 24;

}  // namespace

absl::StatusOr<Feasibility> FindFeasible(const ChoiceProblem& problem, const SolveOptions& options) {
  ASSIGN_OR_RETURN(const Reduction reduction, Reduce(problem));
  SolveRounds rounds(reduction.core, std::nullopt, options.seed, options.threads);
  const auto stop = [&] { return options.cancelled && options.cancelled(); };
  for (int k = 0; k < kRounds && !rounds.closed() && rounds.best().empty() && !stop(); ++k) rounds.Run(stop);
  Feasibility found;
  if (!rounds.best().empty()) {
    found.choice = Expand(reduction, rounds.best());
  } else {
    found.impossible = rounds.closed();
  }
  return found;
}

}  // namespace toroid
