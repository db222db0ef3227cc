#include "runtime/check/check_outcome.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "hlo/base/text_table.h"

namespace toroid {
namespace {

using nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;  // docs/schemas/check.schema.json

// JSON has no infinity and no NaN: 1e308 stands for them.
double JsonNumber(double value) { return std::isfinite(value) ? value : 1e308; }

ordered_json ToJson(const RelativeErrors& errors) {
  return {{"rms", JsonNumber(errors.rms)}, {"max", JsonNumber(errors.max)}};
}

ordered_json ToJson(const Rounding& rounding) {
  ordered_json json = {{"allowed", rounding.allowed}, {"run", ToJson(rounding.run)}};
  if (rounding.reference.has_value()) {
    json["reference"] = ToJson(*rounding.reference);
    json["factor"] = JsonNumber(rounding.run_factor);
  }
  if (rounding.recorded.has_value()) {
    json["recorded"] = ToJson(*rounding.recorded);
    json["recorded_factor"] = JsonNumber(rounding.recorded_factor);
  }
  return json;
}

ordered_json NonfiniteJson(absl::Span<const double> shares, bool for_reading) {
  if (!for_reading) return std::vector<double>(shares.begin(), shares.end());
  auto some = ordered_json::object();
  for (size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] != 0) some[absl::StrCat("output ", i)] = shares[i];
  }
  return some;
}

std::string Count(int64_t n, absl::string_view noun) {
  return absl::StrCat(CountText(n), " ", noun, n == 1 ? "" : "s");
}

}  // namespace

absl::string_view VerdictText(Verdict verdict) {
  switch (verdict) {
    case Verdict::kEqual:
      return "equal";
    case Verdict::kProven:
      return "proven equal, rounding aside";
    case Verdict::kNotProven:
      return "equal within the tolerance, not proven";
    case Verdict::kDiffers:
      break;
  }
  return "differs";
}

ordered_json ToJson(const CheckOutcome& outcome, bool for_reading) {
  const CheckSeconds& seconds = outcome.seconds;
  ordered_json json = {{"schema_version", kSchemaVersion},
                       {"equal", outcome.equal()},
                       {"verdict", std::string(VerdictText(outcome.verdict))},
                       {"outputs", outcome.outputs},
                       {"max_abs_error", JsonNumber(outcome.max_abs_error)},
                       {"max_rel_error", JsonNumber(outcome.max_rel_error)},
                       {"nonfinite", NonfiniteJson(outcome.nonfinite, for_reading)},
                       {"devices", outcome.devices_round ? "rounding" : "equal"},
                       {"num_partitions", outcome.num_partitions},
                       {"seconds",
                        {{"partition", seconds.partition},
                         {"run", seconds.run},
                         {"reference", seconds.reference},
                         {"proof", seconds.proof}}}};
  if (outcome.proof.has_value()) {
    json["proof"] = {{"equal", outcome.proof->equal},
                     {"max_rel_error", JsonNumber(outcome.proof->max_rel_error)},
                     {"rounding_ops", outcome.proof->rounding_ops}};
  }
  if (!outcome.not_proven.empty()) json["proof"] = {{"skipped", outcome.not_proven}};
  if (outcome.rounding.has_value()) json["rounding"] = ToJson(*outcome.rounding);
  for (size_t i = 0; i < outcome.promoted.size(); ++i) {
    const OutputReport& output = outcome.promoted[i];
    json["promoted"].push_back({{"output", i},
                                {"type", std::string(TypeName(output.type))},
                                {"plain_error", JsonNumber(output.plain_error)},
                                {"promoted_error", JsonNumber(output.promoted_error)},
                                {"verdict", std::string(output.verdict)}});
  }
  return json;
}

std::string EqualText(const CheckOutcome& outcome) {
  std::string text =
      absl::StrCat(VerdictText(outcome.verdict), ": ", Count(outcome.outputs, "output"), " of ",
                   Count(outcome.num_partitions, "device"), ", largest relative error ",
                   absl::StrFormat("%.3g", outcome.max_rel_error));
  if (outcome.proof.has_value()) {
    absl::StrAppendFormat(&text, ", %.3g without rounding", outcome.proof->max_rel_error);
  }
  if (!outcome.not_proven.empty()) absl::StrAppend(&text, " (", outcome.not_proven, ")");
  return text;
}

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

}  // namespace toroid
