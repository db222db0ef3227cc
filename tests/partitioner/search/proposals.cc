#include "tests/partitioner/search/proposals.h"

#include "partitioner/search/strategies.h"
#include "tests/partitioner/equivalence.h"

namespace toroid {

Proposals ProposalsOf(const Strategy& strategy, const std::string& text, int64_t n) {
  Proposals proposals;
  PartitionOptions options;
  options.num_partitions = n;
  proposals.program = PrepareProgram(*ProgramFor(text, n), options).value();
  PlanMemo memo(*proposals.program);
  proposals.first = *Propagated(CheapestAssignments(), &memo);
  const SearchProblem problem = {
      &memo, {Objective::kBytes, &DefaultCostModel(), proposals.first.price.sent_bytes}, strategy.steps};
  proposals.plans = strategy.propose(problem, proposals.first);
  return proposals;
}

}  // namespace toroid
