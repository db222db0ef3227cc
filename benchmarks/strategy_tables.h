// Tables of what each strategy of the search adds over many programs.
#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "benchmarks/strategy_runs.h"

namespace toroid {

// Costs of one program with something, divided by those without it; below 1: it saves. 1 where both are 0. A ratio is at most
// 100 and at least 1/100, so that no program that stops sending outweighs all others.
struct CostRatios {
  double sent = 1, flops = 1, written = 1, seconds = 1;
  bool other_plan = false;

  bool operator==(const CostRatios& other) const = default;
};
CostRatios RatiosOf(const ProgramCost& with, const ProgramCost& without);

// By strategy, beside all others and alone: the programs whose plan it changes, geometric means of ratios over all programs,
// the programs with the lowest and the highest ratio of predicted seconds.
std::string GainsTable(absl::Span<const StrategyRuns> runs);
// By strategy: the processor time that it adds.
std::string TimesTable(absl::Span<const StrategyRuns> runs);
// By strategy: the `most` programs whose predicted seconds it changes most, beside all others and, among equals, alone. Of
// programs that it changes alike, such as one in two dialects, only the first is listed.
std::string ChangesTable(absl::Span<const StrategyRuns> runs, int most);

}  // namespace toroid
