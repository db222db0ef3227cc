#include "runtime/check_report.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/compare.h"
#include "runtime/promote.h"

namespace toroid {
namespace {

void AppendLeafTypes(const Shape& shape, std::vector<PrimitiveType>* types) {
  for (const Shape& element : shape.tuple_shapes()) AppendLeafTypes(element, types);
  if (shape.IsArray()) types->push_back(shape.element_type());
}

}  // namespace

void CheckReport::Add(const Literal& actual, const Literal& expected, std::optional<double> tolerance,
                      absl::string_view what) {
  const Comparison comparison = Compare(actual, expected, tolerance);
  equal &= comparison.equal;
  outputs = static_cast<int>(comparison.outputs.size());
  max_abs_error = std::max(max_abs_error, comparison.max_abs_error);
  max_rel_error = std::max(max_rel_error, comparison.max_rel_error);
  for (size_t i = 0; i < comparison.outputs.size() && difference.empty(); ++i) {
    if (comparison.outputs[i].equal) continue;
    difference = absl::StrCat("output ", i, " differs from ", what, " at ", comparison.outputs[i].difference);
  }
}

double JsonNumber(double value) { return std::isfinite(value) ? value : 1e308; }

nlohmann::ordered_json PromotedReport(const Literal& plain, const Literal& promoted, const Literal& expected,
                                      std::optional<double> tolerance) {
  const Literal wide = PromotedLiteral(expected);
  const Comparison from_plain = Compare(PromotedLiteral(plain), wide),
                   from_promoted = Compare(promoted, wide);
  // Infinities and NaNs that do not match are no small error; where they match, a tolerance decides.
  const Comparison kinds = Compare(promoted, wide, 1e300);
  std::vector<PrimitiveType> types;
  AppendLeafTypes(expected.shape(), &types);
  auto report = nlohmann::ordered_json::array();
  for (size_t i = 0; i < types.size() && i < from_plain.outputs.size() && i < from_promoted.outputs.size();
       ++i) {
    const double allowed = tolerance.value_or(Tolerance(types[i]));
    const double plain_error = from_plain.outputs[i].max_rel_error,
                 error = from_promoted.outputs[i].max_rel_error;
    const bool equal = from_plain.outputs[i].equal && plain_error == 0;
    const bool rounding = kinds.outputs[i].equal && error <= allowed;
    report.push_back({{"output", i},
                      {"type", std::string(TypeName(types[i]))},
                      {"plain_error", JsonNumber(plain_error)},
                      {"promoted_error", JsonNumber(error)},
                      {"verdict", equal      ? "equal"
                                  : rounding ? "rounding"
                                             : "differs"}});
  }
  return report;
}

}  // namespace toroid
