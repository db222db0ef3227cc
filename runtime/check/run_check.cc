#include "runtime/check/run_check.h"

#include <utility>

#include "hlo/base/status.h"
#include "runtime/check/check_report.h"
#include "runtime/numerics/compare.h"
#include "runtime/numerics/float_chains.h"
#include "runtime/numerics/promote.h"

namespace toroid {
namespace {

nlohmann::ordered_json ReadingJson(const Comparison& comparison) {
  return {{"equal", comparison.equal}, {"max_rel_error", JsonNumber(comparison.max_rel_error)}};
}

const char* WhichHolds(bool rounded, bool chains) {
  if (rounded) return chains ? "both" : "rounded";
  return chains ? "f32_chains" : "neither";
}

}  // namespace

absl::StatusOr<CheckOutcome> CheckRun(const RunCheck& check, const Literal& result, ProgramRunner& runner) {
  const double run_seconds = runner.seconds();
  const std::vector<std::string> rounding = runner.rounding();
  double reference_seconds = 0;
  CheckReport report;
  std::optional<Literal> reference;
  if (check.reference != nullptr) {
    ASSIGN_OR_RETURN(reference, runner.Run(*check.reference, nullptr, "reference run"));
    reference_seconds = runner.seconds();
    report.Add(Compare(result, *reference, check.tolerances), "the unpartitioned run");
  }
  nlohmann::ordered_json readings;
  if (check.recorded != nullptr) {
    const Comparison rounded = Compare(result, *check.recorded, check.tolerances);
    std::optional<Comparison> chains;
    if (HasBf16(*check.program)) {
      ASSIGN_OR_RETURN(const Literal kept,
                       runner.RunChainsInF32(*check.program, check.global, "run with bf16 chains in f32"));
      chains = Compare(kept, *check.recorded, check.tolerances);
      readings = {{"holds", WhichHolds(rounded.equal, chains->equal)},
                  {"rounded", ReadingJson(rounded)},
                  {"f32_chains", ReadingJson(*chains)}};
    }
    const bool by_chains = !rounded.equal && chains.has_value() && chains->equal;
    report.Add(by_chains ? *chains : rounded, "the recorded result");
  }
  CheckOutcome outcome;
  outcome.difference = report.difference;
  outcome.json = {
      {"equal", report.equal},
      {"outputs", report.outputs},
      {"max_abs_error", JsonNumber(report.max_abs_error)},
      {"max_rel_error", JsonNumber(report.max_rel_error)},
      {"nonfinite", NonfiniteShares(result)},
      {"devices", rounding.empty() ? "equal" : "rounding"},
      {"num_partitions", check.num_partitions},
      {"seconds",
       {{"partition", check.partition_seconds}, {"run", run_seconds}, {"reference", reference_seconds}}}};
  if (!readings.is_null()) outcome.json["bf16"] = std::move(readings);
  if (!check.promote) return outcome;
  ASSIGN_OR_RETURN(const Literal promoted, runner.RunPromoted(*check.program, check.global, "run in f64"));
  // Like is compared with like: the unpartitioned run is promoted, too, what was recorded is as it is.
  const Literal& expected = check.recorded != nullptr ? *check.recorded : *reference;
  Literal wide = PromotedLiteral(expected);
  if (check.recorded == nullptr) {
    ASSIGN_OR_RETURN(wide, runner.RunPromoted(*check.reference, nullptr, "reference run in f64"));
  }
  outcome.json["promoted"] = PromotedReport(result, promoted, expected, wide, check.tolerances);
  return outcome;
}

}  // namespace toroid
