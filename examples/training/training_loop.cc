#include "examples/training/training_loop.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "examples/progress_bar.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"

namespace toroid {
namespace {

constexpr absl::string_view kHeldOut = "held_out_";

bool IsScalar(const Literal& value) {
  return value.shape().IsScalar() && value.shape().element_type() == xla::F32;
}
bool IsShares(const Literal& value) {
  return value.shape().element_type() == xla::F32 && value.shape().rank() == 2 &&
         value.shape().NumElements() > 0;
}

void Record(const Metrics& metrics, absl::string_view prefix, int64_t step, LearningCurve* curve) {
  for (size_t i = 0; i < metrics.names.size(); ++i) {
    if (IsScalar(metrics.values[i])) {
      curve->Add(absl::StrCat(prefix, metrics.names[i]), step, metrics.values[i].data<float>()[0]);
    } else if (IsShares(metrics.values[i])) {
      curve->Add(absl::StrCat(prefix, metrics.names[i], "_peak"), step, LoadPeak(metrics.values[i]));
    }
  }
}

// "step 100  loss 2.31  held_out_loss 2.4": the last values of the series, the loss first.
std::string Line(const LearningCurve& curve, const LoopOptions& options, int64_t step,
                 double steps_per_second) {
  std::string line = absl::StrFormat("step %6d", step);
  const auto add = [&](const LearningCurve::Series& series) {
    if (!series.points.empty() && series.points.back().step == step) {
      absl::StrAppendFormat(&line, "  %s %.4f", series.name, series.points.back().value);
    }
  };
  const auto told = [&](const std::string& name) {
    return options.reported.empty() ||
           std::find(options.reported.begin(), options.reported.end(), name) != options.reported.end();
  };
  if (const LearningCurve::Series* series = curve.Find(options.loss)) add(*series);
  for (const LearningCurve::Series& series : curve.series()) {
    if (series.name != options.loss && told(series.name)) add(series);
  }
  absl::StrAppendFormat(&line, "  %.2f steps/s", steps_per_second);
  return line;
}

bool Due(int64_t every, int64_t step, int64_t last) {
  return step == last || (every > 0 && step % every == 0);
}

absl::Status CheckFinite(const LearningCurve& curve, const std::string& name, int64_t step) {
  const LearningCurve::Series* series = curve.Find(name);
  if (series == nullptr || series->points.empty() || std::isfinite(series->points.back().value))
    return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("step ", step, ": ", name, " is ", series->points.back().value,
                                          "; try a lower learning rate, or another seed"));
}

absl::StatusOr<LearningCurve> Begin(Trainer& trainer, const LoopOptions& options) {
  if (options.checkpoint.empty()) return LearningCurve();
  if (options.resume) {
    const std::string prefix(LearningCurve::kPrefix);
    ASSIGN_OR_RETURN(const Checkpoint checkpoint,
                     LoadCheckpoint(options.checkpoint, trainer.configuration(), trainer.arrays(), {prefix}));
    absl::StatusOr<LearningCurve> curve = LearningCurve::FromCheckpoint(checkpoint);
    if (!curve.ok()) return Annotate(curve.status(), options.checkpoint);
    RETURN_IF_ERROR(Annotate(trainer.Restore(checkpoint), options.checkpoint));
    return curve;
  }
  std::error_code ignored;
  if (std::filesystem::exists(options.checkpoint, ignored)) {
    return absl::AlreadyExistsError(absl::StrCat(
        options.checkpoint, ": exists; resume from it, or give another name or remove it to start anew"));
  }
  return LearningCurve();
}

absl::Status Save(const Trainer& trainer, const LearningCurve& curve, const std::string& path) {
  ASSIGN_OR_RETURN(Checkpoint checkpoint, trainer.Save());
  curve.AddTo(&checkpoint);
  return SaveCheckpoint(path, checkpoint);
}

}  // namespace

double LoadPeak(const Literal& shares) {
  const absl::Span<const float> values = shares.data<float>();
  const int64_t rows = shares.shape().dim(0), columns = shares.shape().dim(1);
  double peaks = 0;
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0, most = 0;
    for (const float share : values.subspan(r * columns, columns)) {
      sum += share;
      most = std::max<double>(most, share);
    }
    peaks += sum > 0 ? most * static_cast<double>(columns) / sum : 1;
  }
  return peaks / static_cast<double>(rows);
}

absl::StatusOr<Metrics> EvaluateAll(Trainer& trainer, absl::Span<const std::vector<Literal>> inputs,
                                    const std::string& weight) {
  Metrics mean;
  std::vector<std::vector<double>> sums;
  double total = 0;
  for (const std::vector<Literal>& input : inputs) {
    ASSIGN_OR_RETURN(const Metrics metrics, trainer.Evaluate(input));
    const Literal* given = metrics.Find(weight);
    const double w = given != nullptr && IsScalar(*given) ? given->data<float>()[0] : 1;
    if (sums.empty()) {
      mean = metrics;
      for (const Literal& value : mean.values) sums.emplace_back(value.shape().NumElements());
    }
    if (!(w > 0)) continue;  // The mean is over nothing.
    total += w;
    for (size_t i = 0; i < sums.size(); ++i) {
      if (metrics.values[i].shape().element_type() != xla::F32) continue;
      const absl::Span<const float> values = metrics.values[i].data<float>();
      for (size_t k = 0; k < sums[i].size(); ++k) sums[i][k] += w * values[k];
    }
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    if (mean.values[i].shape().element_type() != xla::F32 || total == 0) continue;
    const absl::Span<float> values = mean.values[i].mutable_data<float>();
    for (size_t k = 0; k < sums[i].size(); ++k) values[k] = static_cast<float>(sums[i][k] / total);
  }
  return mean;
}

absl::StatusOr<LearningCurve> RunTraining(Trainer& trainer, const TrainingData& data,
                                          const LoopOptions& options) {
  ASSIGN_OR_RETURN(LearningCurve curve, Begin(trainer, options));
  ProgressBar bar(options.steps);
  const int64_t first = trainer.steps_done();
  const Stopwatch stopwatch;
  while (trainer.steps_done() < options.steps) {
    ASSIGN_OR_RETURN(const Metrics metrics, trainer.Step(data.training(trainer.steps_done())));
    const int64_t step = trainer.steps_done();
    Record(metrics, "", step, &curve);
    RETURN_IF_ERROR(CheckFinite(curve, options.loss, step));
    if (trainer.can_evaluate() && !data.held_out.empty() &&
        Due(options.evaluate_every, step, options.steps)) {
      bar.Show(step, absl::StrCat("step ", step, " of ", options.steps, "  evaluating"));
      ASSIGN_OR_RETURN(const Metrics held_out, EvaluateAll(trainer, data.held_out, options.weight));
      Record(held_out, kHeldOut, step, &curve);
    }
    if (!options.checkpoint.empty() && Due(options.save_every, step, options.steps)) {
      RETURN_IF_ERROR(Save(trainer, curve, options.checkpoint));
    }
    const double rate = static_cast<double>(step - first) / stopwatch.Seconds();
    if (options.report && Due(options.report_every, step, options.steps)) {
      bar.Clear();
      options.report(Line(curve, options, step, rate));
    }
    const LearningCurve::Series* loss = curve.Find(options.loss);
    bar.Show(step, absl::StrFormat("step %d of %d  %s %.4f  %.0f s left", step, options.steps, options.loss,
                                   loss == nullptr ? 0.0 : loss->points.back().value,
                                   static_cast<double>(options.steps - step) / rate));
  }
  return curve;
}

}  // namespace toroid
