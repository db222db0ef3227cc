// What a strategy proposes for the first plan of a program, without writing a module.
#ifndef TOROID_TESTS_PARTITIONER_SEARCH_PROPOSALS_H_
#define TOROID_TESTS_PARTITIONER_SEARCH_PROPOSALS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "partitioner/prepare/prepared_program.h"
#include "partitioner/search/strategy.h"

namespace toroid {

struct Proposals {
  std::unique_ptr<PreparedProgram> program;
  PricedPlan first;
  std::vector<PricedPlan> plans;
};

// `text`: a program for n devices (../equivalence.h). The strategy has its usual budget.
Proposals ProposalsOf(const Strategy& strategy, const std::string& text, int64_t n);

}  // namespace toroid

#endif  // TOROID_TESTS_PARTITIONER_SEARCH_PROPOSALS_H_
