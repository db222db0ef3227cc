#include "runtime/check/check_report.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "hlo/base/text_table.h"
#include "runtime/numerics/compare.h"
#include "runtime/numerics/promote.h"

namespace toroid {
namespace {

void AppendLeafTypes(const Shape& shape, std::vector<PrimitiveType>* types) {
  for (const Shape& element : shape.tuple_shapes()) AppendLeafTypes(element, types);
  if (shape.IsArray()) types->push_back(shape.element_type());
}

}  // namespace

void CheckReport::Add(const Comparison& comparison, absl::string_view what) {
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

std::string NonfiniteWarning(absl::Span<const double> shares) {
  size_t outputs = 0, worst = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    outputs += shares[i] > 0;
    if (shares[i] > shares[worst]) worst = i;
  }
  if (outputs == 0) return "";
  return absl::StrCat("warning: ", outputs, outputs == 1 ? " output has" : " outputs have",
                      " NaN or infinite elements, output ", worst,
                      " the most: ", absl::StrFormat("%.3g", 100 * shares[worst]),
                      " %; such elements show little");
}

std::string EqualText(const nlohmann::ordered_json& outcome) {
  const int64_t outputs = outcome["outputs"], devices = outcome["num_partitions"];
  return absl::StrCat("equal: ", CountText(outputs), outputs == 1 ? " output" : " outputs", " of ",
                      CountText(devices), devices == 1 ? " device" : " devices", ", largest relative error ",
                      absl::StrFormat("%.3g", outcome["max_rel_error"].get<double>()));
}

nlohmann::ordered_json ForReading(nlohmann::ordered_json outcome) {
  auto some = nlohmann::ordered_json::object();
  for (size_t i = 0; i < outcome["nonfinite"].size(); ++i) {
    if (outcome["nonfinite"][i] != 0) some[absl::StrCat("output ", i)] = outcome["nonfinite"][i];
  }
  outcome["nonfinite"] = std::move(some);
  return outcome;
}

// Of a difference of f32, what f64 leaves of it if it is rounding: 2^-29, with room.
constexpr double kVanishing = 1e-5;

nlohmann::ordered_json PromotedReport(const Literal& plain, const Literal& promoted, const Literal& expected,
                                      const Literal& wide, absl::Span<const double> tolerances) {
  const Comparison from_plain = Compare(PromotedLiteral(plain), PromotedLiteral(expected)),
                   from_promoted = Compare(promoted, wide);
  // Infinities and NaNs that do not match are no small error; where they match, a tolerance decides.
  const Comparison kinds = Compare(promoted, wide, 1e300);
  std::vector<PrimitiveType> types;
  AppendLeafTypes(expected.shape(), &types);
  auto report = nlohmann::ordered_json::array();
  for (size_t i = 0; i < types.size() && i < from_plain.outputs.size() && i < from_promoted.outputs.size();
       ++i) {
    const size_t leaf = tolerances.size() == 1 ? 0 : i;
    const double allowed = leaf < tolerances.size() ? tolerances[leaf] : Tolerance(types[i]);
    const double plain_error = from_plain.outputs[i].max_rel_error,
                 error = from_promoted.outputs[i].max_rel_error;
    const bool equal = from_plain.outputs[i].equal && plain_error == 0;
    // Of what is zero but for rounding, such as the gradient of a bias before a norm, nothing is left of the difference but its
    // share of the longer mantissa.
    const bool vanishes =
        from_promoted.outputs[i].max_abs_error <= kVanishing * from_plain.outputs[i].max_abs_error;
    const bool rounding = kinds.outputs[i].equal && (error <= allowed || vanishes);
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
