#include "partitioner/search/strategies.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace toroid {

std::vector<int> BoundaryTensors(const PreparedProgram& program) {
  std::vector<int> tensors;
  for (const Instruction* parameter : program.flat->entry()->parameters()) {
    for (const int leaf : program.graph->Leaves(*parameter)) tensors.push_back(leaf);
  }
  tensors.insert(tensors.end(), program.graph->outputs().begin(), program.graph->outputs().end());
  return tensors;
}

std::optional<PricedPlan> Propagated(const AssignmentPolicy& policy, PlanMemo* memo,
                                     const std::vector<bool>& even) {
  const PreparedProgram& program = memo->program();
  std::vector<bool> at_boundary(program.graph->num_tensors(), false);
  for (const int t : BoundaryTensors(program)) at_boundary[t] = true;
  Plan plan;
  plan.shardings = ProposeShardings(program, program.annotations, even);
  policy.AdjustPlan(at_boundary, &plan.shardings);
  return DecideGreedily(std::move(plan), policy, /*fixed_outputs=*/false, memo);
}

absl::Span<const Strategy> Strategies() {
  static constexpr Strategy kStrategies[] = {
      {"even_cuts", "parameters and outputs in equal parts", CutEvenly, 0, /*is_preferred=*/true},
      {"idle_axes", "contractions cut over axes that they leave idle", CutOverIdleAxes, 0, false,
       /*adds=*/true},
      {"neighbours", "other shardings of tensors around ops that move data", ChangeNeighbours, 20000},
      {"frontier", "neighbouring ops decided together", DecideTogether, 100000},
  };
  return kStrategies;
}

absl::StatusOr<std::vector<ListedStrategy>> ListStrategies(absl::Span<const std::string> entries) {
  std::vector<ListedStrategy> listed;
  for (const std::string& entry : entries) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(entry, absl::MaxSplits(':', 1));
    if (entry == kForms) continue;
    const absl::Span<const Strategy> known = Strategies();
    const auto strategy =
        std::find_if(known.begin(), known.end(), [&](const Strategy& s) { return s.name == parts.first; });
    if (strategy == known.end()) {
      const auto append = [](std::string* out, const Strategy& s) { absl::StrAppend(out, s.name); };
      return absl::InvalidArgumentError(absl::StrCat("there is no strategy '", parts.first, "'; there are ",
                                                     absl::StrJoin(known, ", ", append), ", ", kForms));
    }
    int64_t steps = strategy->steps;
    absl::string_view number = parts.second;
    if (entry.find(':') != std::string::npos &&
        (strategy->steps == 0 || !absl::ConsumePrefix(&number, "steps=") ||
         !absl::SimpleAtoi(number, &steps) || steps < 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("strategy '", entry,
                       "': ", strategy->steps == 0 ? "it has no budget" : "expected NAME:steps=NUMBER"));
    }
    listed.push_back({&*strategy, steps});
  }
  return listed;
}

}  // namespace toroid
