// Learning curves as pictures.
#ifndef TOROID_EXAMPLES_TRAINING_CURVE_PLOT_H_
#define TOROID_EXAMPLES_TRAINING_CURVE_PLOT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "examples/training/learning_curve.h"

namespace toroid {

struct PlotLine {
  std::string title;
  std::vector<double> x, y;  // Equally many.
  bool points = false;       // With a mark at each point.
};

// A series of the curve, no points if it has none of this name; with smoothing over more than one step a line, else with marks.
PlotLine CurveLine(const LearningCurve& curve, absl::string_view name, const std::string& title,
                   int64_t smoothing = 1);

struct PlotPanel {
  std::string title, x_label, y_label;
  bool log_x = false;
  std::vector<PlotLine> lines;
};

// The panels as SVG, two a row. Errors: those of PlotSvg; kInvalidArgument if there is nothing to draw.
absl::Status PlotPanels(absl::Span<const PlotPanel> panels, const std::string& path);

// What gnuplot is told. A panel without points is left out.
std::string PanelsScript(absl::Span<const PlotPanel> panels);

}  // namespace toroid

#endif  // TOROID_EXAMPLES_TRAINING_CURVE_PLOT_H_
