// What `hlo-run --check` says of two results.
#ifndef TOROID_RUNTIME_CHECK_CHECK_REPORT_H_
#define TOROID_RUNTIME_CHECK_CHECK_REPORT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "nlohmann/json.hpp"
#include "runtime/numerics/compare.h"

namespace toroid {

// The worst of several comparisons with one result.
struct CheckReport {
  bool equal = true;
  int outputs = 0;  // Array leaves of the result.
  double max_abs_error = 0, max_rel_error = 0;
  std::string difference;  // "output 2 differs from WHAT at [0,1]: 1.5 instead of 1.25": the first one.

  // `what` is what the result was compared with.
  void Add(const Comparison& comparison, absl::string_view what);
};

// JSON has no infinity and no NaN: 1e308 stands for them.
double JsonNumber(double value);

// A line that warns of results which say little because so much of them is NaN or infinite; empty if none is.
// `shares` as NonfiniteShares gives them.
std::string NonfiniteWarning(absl::Span<const double> shares);

// What a check found, without a list of every output: "equal: 776 outputs of 8 devices, largest relative error 1.2e-06", and the
// line of JSON with `nonfinite` as {"output 3": SHARE} of those outputs that have such elements.
std::string EqualText(const nlohmann::ordered_json& outcome);
nlohmann::ordered_json ForReading(nlohmann::ordered_json outcome);

// Of each output how far the plain and the promoted result (promote.h) are from the expected one, relative to
// its largest element: the plain one from `expected`, the promoted one from `wide`, the expected one
// promoted. What comes within the tolerance in f64 (for each array leaf, or one for all), or differs by nearly nothing of what it
// differed by, is a matter of rounding; what does not is something else:
//   {"output", "type", "plain_error", "promoted_error", "verdict": "equal" | "rounding" | "differs"}
nlohmann::ordered_json PromotedReport(const Literal& plain, const Literal& promoted, const Literal& expected,
                                      const Literal& wide, absl::Span<const double> tolerances);

}  // namespace toroid

#endif  // TOROID_RUNTIME_CHECK_CHECK_REPORT_H_
