// Draws learning curves as pictures.
#pragma once

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
  std::vector<double> x, y;  // Equally long.
  bool points = false;       // Draws a mark at each point.
};

// A series of the curve; without points if the curve has none of this name. Smoothed over more than one step
// it is a line, else it has marks.
PlotLine CurveLine(const LearningCurve& curve, absl::string_view name, const std::string& title,
                   int64_t smoothing = 1);

struct PlotPanel {
  std::string title, x_label, y_label;
  bool log_x = false;
  std::vector<PlotLine> lines;
};

// Draws the panels as SVG, two a row. Errors: those of PlotSvg; kInvalidArgument if there is nothing to draw.
absl::Status PlotPanels(absl::Span<const PlotPanel> panels, const std::string& path);

// The script for gnuplot. A panel without points is left out.
std::string PanelsScript(absl::Span<const PlotPanel> panels);

}  // namespace toroid
