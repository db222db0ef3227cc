#include "partitioner/sharding_search/step_prices.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "partitioner/plan/program_steps.h"

namespace toroid {
namespace {

// A small weight, so that values that are not written decide only between choices that cost the same.
constexpr double kMemoryWeight = 1e-3;
constexpr double kPicoseconds = 1e12;

}  // namespace

double StepPrices::Picoseconds(double cost) const { return cost * cost_.SecondsPerLinkByte() * kPicoseconds; }

double StepPrices::OfCollectives(double time, double count) const {
  return scales_.collectives * Picoseconds(time + count * cost_.StartTime());
}

double StepPrices::OfOp(const FlowOp& op, const OpChoice& choice) const {
  const ExchangePrices::Exchanges& own = *choice.exchanges;
  return OfCollectives(own.time + own.delay, own.collectives) + ComputeOf(op, choice);
}

double StepPrices::ComputeOf(const FlowOp& op, const OpChoice& choice) const {
  if (program_.read_through.contains(op.instruction)) return 0;
  const bool is_written = absl::c_any_of(op.results, [&](int t) { return lives_[t].is_written; });
  double bytes = choice.written_bytes;
  for (size_t k = 0; is_written && k < op.operands.size(); ++k) {
    const int t = op.operands[k];
    if (!program_.graph->shape(t).IsArray()) continue;
    bytes += static_cast<double>(LocalBytes(
        program_, t,
        ShardingUnder(program_.annotations.mesh, *op.rule, op.rule->operands[k], choice.factor_axes)));
  }
  const double memory = cost_.MemoryTime(bytes) * (is_written ? 1 : kMemoryWeight);
  const double products = choice.flops > 0 ? cost_.MatrixTime(choice.flops) : 0;
  return scales_.compute * Picoseconds(std::max(memory, products));
}

PricedRun StepPrices::OfPlan(const PricedPlan& plan, PlanMemo* memo) const {
  const ProgramSteps steps(plan.plan, memo);
  // What the price has of contractions is counted op by op.
  const double sent = plan.price.time - cost_.ContractionTime(plan.price.flops).value_or(0);
  PricedRun run;
  run.collectives = OfCollectives(std::max(0.0, sent), plan.price.collectives);
  for (const ProgramStep& step : steps.steps()) {
    if (step.choice != nullptr && !step.op->results.empty())
      run.compute += step.times * ComputeOf(*step.op, *step.choice);
  }
  return run;
}

}  // namespace toroid
