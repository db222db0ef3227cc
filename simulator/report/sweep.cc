// BUILD: embed "sweep.html", "sweep.js", "@d3//:d3.min.js"
#include "simulator/report/sweep.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/page/embedded_file.h"
#include "nlohmann/json.hpp"
#include "simulator/report/prediction_json.h"

namespace toroid {
namespace {

constexpr int64_t kMostPoints = 10000;

constexpr EmbeddedFile kFiles[] = {
#include "simulator/report/sweep_embedded.inc"
};

// A field of CSV, quoted where it has to be.
std::string Field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

std::string SecondsText(double picoseconds) { return absl::StrFormat("%.9g", picoseconds * 1e-12); }

// All classes that some point has, in the order of their largest time.
std::vector<std::string> ClassesOf(const Sweep& sweep) {
  std::vector<std::pair<double, std::string>> classes;
  for (const Sweep::Point& point : sweep.points) {
    for (const Prediction::Class& c : point.prediction.breakdown) {
      const auto found =
          std::find_if(classes.begin(), classes.end(), [&](const auto& own) { return own.second == c.name; });
      if (found == classes.end()) {
        classes.push_back({c.picoseconds, c.name});
      } else {
        found->first = std::max(found->first, c.picoseconds);
      }
    }
  }
  std::stable_sort(classes.begin(), classes.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> names;
  for (auto& c : classes) names.push_back(std::move(c.second));
  return names;
}

double TimeOfClass(const Prediction& prediction, const std::string& name) {
  for (const Prediction::Class& c : prediction.breakdown) {
    if (c.name == name) return c.picoseconds;
  }
  return 0;
}

}  // namespace

absl::StatusOr<SweepAxis> ParseSweepAxis(absl::string_view text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == absl::string_view::npos || equals + 1 == text.size()) {
    return absl::InvalidArgumentError(absl::StrCat(text, ": give NAME=VALUE,VALUE"));
  }
  SweepAxis axis;
  axis.name = std::string(text.substr(0, equals));
  const absl::string_view values = text.substr(equals + 1);
  const bool has_bars = absl::StrContains(values, '|') || axis.name == "shard" || axis.name == "mesh";
  for (const absl::string_view value : absl::StrSplit(values, has_bars ? '|' : ',')) {
    if (value.empty()) return absl::InvalidArgumentError(absl::StrCat(text, ": a value is empty"));
    axis.values.push_back(std::string(value));
  }
  return axis;
}

absl::StatusOr<Sweep> RunSweep(std::vector<SweepAxis> axes, const PredictPoint& predict) {
  Sweep sweep;
  sweep.axes = std::move(axes);
  std::set<std::string> names;
  int64_t count = 1;
  for (const SweepAxis& axis : sweep.axes) {
    if (!names.insert(axis.name).second && axis.name != "shard") {
      return absl::InvalidArgumentError(absl::StrCat("the sweep names ", axis.name, " twice"));
    }
    count = SaturatingMultiply(count, static_cast<int64_t>(axis.values.size()));
  }
  if (count > kMostPoints) {
    return absl::InvalidArgumentError(
        absl::StrCat("the sweep has ", count, " combinations; at most ", kMostPoints));
  }
  for (int64_t p = 0; p < count; ++p) {
    Sweep::Point point;
    int64_t rest = count, at = p;
    for (const SweepAxis& axis : sweep.axes) {
      rest /= static_cast<int64_t>(axis.values.size());
      point.values.push_back(axis.values[at / rest]);
      at %= rest;
    }
    absl::StatusOr<Prediction> prediction = predict(point.values);
    if (!prediction.ok()) return Annotate(prediction.status(), absl::StrJoin(point.values, ", "));
    point.prediction = *std::move(prediction);
    point.prediction.groups.clear();
    point.prediction.collectives.clear();
    point.prediction.events.clear();
    point.prediction.network.link_loads.clear();
    sweep.points.push_back(std::move(point));
  }
  return sweep;
}

std::string SweepCsv(const Sweep& sweep) {
  const std::vector<std::string> classes = ClassesOf(sweep);
  std::vector<std::string> header;
  for (const SweepAxis& axis : sweep.axes) header.push_back(Field(axis.name));
  for (const char* name : {"machine_name", "devices", "step_seconds", "roofline_seconds",
                           "communication_seconds", "max_link_utilization", "peak_bytes", "fits"}) {
    header.push_back(name);
  }
  for (const std::string& c : classes) header.push_back(Field(absl::StrCat(c, " seconds")));
  std::string text = absl::StrCat(absl::StrJoin(header, ","), "\n");
  for (const Sweep::Point& point : sweep.points) {
    const Prediction& prediction = point.prediction;
    std::vector<std::string> row;
    for (const std::string& value : point.values) row.push_back(Field(value));
    row.push_back(Field(prediction.machine));
    row.push_back(absl::StrCat(prediction.devices));
    row.push_back(SecondsText(static_cast<double>(prediction.step_ps)));
    row.push_back(SecondsText(static_cast<double>(prediction.roofline_ps)));
    row.push_back(SecondsText(prediction.communication_share * static_cast<double>(prediction.step_ps)));
    row.push_back(absl::StrFormat("%.6g", prediction.network.max_utilization));
    row.push_back(absl::StrCat(prediction.memory.peak));
    row.push_back(prediction.memory.peak <= prediction.memory.capacity ? "yes" : "no");
    for (const std::string& c : classes) row.push_back(SecondsText(TimeOfClass(prediction, c)));
    absl::StrAppend(&text, absl::StrJoin(row, ","), "\n");
  }
  return text;
}

std::string SweepPage(const Sweep& sweep) {
  nlohmann::json points = nlohmann::json::array();
  for (const Sweep::Point& point : sweep.points) {
    nlohmann::json json = PredictionJson(point.prediction);
    json["values"] = point.values;
    points.push_back(std::move(json));
  }
  std::vector<std::string> names;
  for (const SweepAxis& axis : sweep.axes) names.push_back(axis.name);
  const nlohmann::json data = {{"axes", names}, {"classes", ClassesOf(sweep)}, {"points", std::move(points)}};
  return FillTemplate(TextOf(kFiles, "sweep.html"), {{"/*D3*/", std::string(TextOf(kFiles, "d3.min.js"))},
                                                     {"/*SCRIPT*/", std::string(TextOf(kFiles, "sweep.js"))},
                                                     {"/*DATA*/", ScriptSafe(JsonText(data, -1))}});
}

}  // namespace toroid
