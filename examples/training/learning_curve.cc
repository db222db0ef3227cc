#include "examples/training/learning_curve.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "hlo/base/status.h"

namespace toroid {

void LearningCurve::Add(absl::string_view name, int64_t step, double value) {
  auto it = std::find_if(series_.begin(), series_.end(), [&](const Series& s) { return s.name == name; });
  if (it == series_.end()) it = series_.insert(series_.end(), {std::string(name), {}});
  if (!it->points.empty() && it->points.back().step == step) {
    it->points.back().value = value;
  } else {
    it->points.push_back({step, value});
  }
}

const LearningCurve::Series* LearningCurve::Find(absl::string_view name) const {
  const auto it =
      std::find_if(series_.begin(), series_.end(), [&](const Series& s) { return s.name == name; });
  return it == series_.end() ? nullptr : &*it;
}

std::string LearningCurve::ToTsv() const {
  std::map<int64_t, std::vector<std::string>> rows;
  std::string table = "step";
  for (size_t i = 0; i < series_.size(); ++i) {
    absl::StrAppend(&table, "\t", series_[i].name);
    for (const Point& point : series_[i].points) {
      std::vector<std::string>& row = rows[point.step];
      row.resize(series_.size());
      row[i] = absl::StrFormat("%.9g", point.value);
    }
  }
  table += '\n';
  for (const auto& [step, row] : rows) {
    absl::StrAppend(&table, step);
    for (const std::string& cell : row) absl::StrAppend(&table, "\t", cell);
    table += '\n';
  }
  return table;
}

void LearningCurve::AddTo(Checkpoint* checkpoint) const {
  for (const Series& series : series_) {
    Literal array(Shape(xla::F64, {static_cast<int64_t>(series.points.size()), 2}));
    const absl::Span<double> values = array.mutable_data<double>();
    for (size_t i = 0; i < series.points.size(); ++i) {
      values[2 * i] = static_cast<double>(series.points[i].step);
      values[2 * i + 1] = series.points[i].value;
    }
    checkpoint->names.push_back(absl::StrCat(kPrefix, series.name));
    checkpoint->arrays.push_back(std::move(array));
  }
}

absl::StatusOr<LearningCurve> LearningCurve::FromCheckpoint(const Checkpoint& checkpoint) {
  constexpr double kMostSteps = 1e15;  // Doubles up to here hold whole numbers exactly.
  LearningCurve curve;
  for (size_t i = 0; i < checkpoint.names.size(); ++i) {
    if (!absl::StartsWith(checkpoint.names[i], kPrefix)) continue;
    const Literal& array = checkpoint.arrays[i];
    const std::string name = checkpoint.names[i].substr(kPrefix.size());
    const auto bad = [&](absl::string_view why) {
      return absl::InvalidArgumentError(absl::StrCat("array ", checkpoint.names[i], " ", why));
    };
    if (array.shape().element_type() != xla::F64 || array.shape().rank() != 2 || array.shape().dim(1) != 2) {
      return bad(absl::StrCat("is ", array.shape().ToString(), ", should be f64[points,2]"));
    }
    const absl::Span<const double> values = array.data<double>();
    double last = -1;
    for (size_t p = 0; p < values.size(); p += 2) {
      if (!(values[p] > last) || values[p] > kMostSteps || values[p] != std::floor(values[p])) {
        return bad("has steps that do not ascend");
      }
      curve.Add(name, static_cast<int64_t>(last = values[p]), values[p + 1]);
    }
  }
  return curve;
}

LearningCurve::Series Smoothed(const LearningCurve::Series& series, int64_t window) {
  LearningCurve::Series smooth = {series.name, {}};
  double sum = 0;
  size_t first = 0;
  for (size_t i = 0; i < series.points.size(); ++i) {
    sum += series.points[i].value;
    while (series.points[first].step <= series.points[i].step - window) sum -= series.points[first++].value;
    smooth.points.push_back({series.points[i].step, sum / static_cast<double>(i - first + 1)});
  }
  return smooth;
}

}  // namespace toroid
