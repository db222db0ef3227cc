// What `hlo-run --check` says of two results.
#ifndef TOROID_RUNTIME_CHECK_REPORT_H_
#define TOROID_RUNTIME_CHECK_REPORT_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "hlo/ir/literal.h"
#include "nlohmann/json.hpp"

namespace toroid {

// The worst of several comparisons with one result.
struct CheckReport {
  bool equal = true;
  int outputs = 0;  // Array leaves of the result.
  double max_abs_error = 0, max_rel_error = 0;
  std::string difference;  // "output 2 differs from WHAT at [0,1]: 1.5 instead of 1.25": the first one.

  // `tolerance` replaces those of the types; see compare.h.
  void Add(const Literal& actual, const Literal& expected, std::optional<double> tolerance,
           absl::string_view what);
};

// JSON has no infinity and no NaN: 1e308 stands for them.
double JsonNumber(double value);

// Of each output how far the plain and the promoted result (promote.h) are from the expected one, relative to
// its largest element. What comes within the rounding of its type in f64 is a matter of rounding; what does
// not is something else:
//   {"output", "type", "plain_error", "promoted_error", "verdict": "equal" | "rounding" | "differs"}
nlohmann::ordered_json PromotedReport(const Literal& plain, const Literal& promoted, const Literal& expected,
                                      std::optional<double> tolerance);

}  // namespace toroid

#endif  // TOROID_RUNTIME_CHECK_REPORT_H_
