#include "examples/training/curve_plot.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "hlo/base/svg_plot.h"

namespace toroid {
namespace {

constexpr int kPanelWidth = 430, kPanelHeight = 380;

int Columns(size_t panels) { return panels == 1 ? 1 : 2; }
int Rows(size_t panels) { return static_cast<int>((panels + 1) / 2); }

bool IsEmpty(const PlotPanel& panel) {
  return std::all_of(panel.lines.begin(), panel.lines.end(), [](const PlotLine& line) {
    return std::none_of(line.y.begin(), line.y.end(), [](double y) { return std::isfinite(y); });
  });
}

std::vector<PlotPanel> WithContent(absl::Span<const PlotPanel> panels) {
  std::vector<PlotPanel> kept;
  for (const PlotPanel& panel : panels) {
    if (!IsEmpty(panel)) kept.push_back(panel);
  }
  return kept;
}

// The line as gnuplot's data block $dP_L.
std::string Data(const PlotLine& line, size_t panel, size_t number) {
  std::string text = absl::StrFormat("$d%d_%d << EOD\n", panel, number);
  for (size_t i = 0; i < line.y.size(); ++i) {
    if (std::isfinite(line.y[i])) absl::StrAppendFormat(&text, "%.9g %.9g\n", line.x[i], line.y[i]);
  }
  return absl::StrCat(text, "EOD\n");
}

}  // namespace

PlotLine CurveLine(const LearningCurve& curve, absl::string_view name, const std::string& title,
                   int64_t smoothing) {
  PlotLine line = {title, {}, {}, /*points=*/smoothing <= 1};
  const LearningCurve::Series* series = curve.Find(name);
  if (series == nullptr) return line;
  for (const LearningCurve::Point& point : Smoothed(*series, smoothing).points) {
    line.x.push_back(static_cast<double>(point.step));
    line.y.push_back(point.value);
  }
  return line;
}

std::string PanelsScript(absl::Span<const PlotPanel> panels) {
  const std::vector<PlotPanel> kept = WithContent(panels);
  std::string script;
  for (size_t p = 0; p < kept.size(); ++p) {
    for (size_t l = 0; l < kept[p].lines.size(); ++l) absl::StrAppend(&script, Data(kept[p].lines[l], p, l));
  }
  absl::StrAppendFormat(&script, "set multiplot layout %d,%d\nset grid\n", Rows(kept.size()),
                        Columns(kept.size()));
  for (size_t p = 0; p < kept.size(); ++p) {
    const PlotPanel& panel = kept[p];
    absl::StrAppend(&script, "set title ", GnuplotString(panel.title), " noenhanced\nset xlabel ",
                    GnuplotString(panel.x_label), " noenhanced\nset ylabel ", GnuplotString(panel.y_label),
                    " noenhanced\n", panel.log_x ? "set logscale x\n" : "unset logscale x\n");
    std::vector<std::string> lines;
    for (size_t l = 0; l < panel.lines.size(); ++l) {
      const PlotLine& line = panel.lines[l];
      if (std::none_of(line.y.begin(), line.y.end(), [](double y) { return std::isfinite(y); })) continue;
      lines.push_back(absl::StrFormat("$d%d_%d with %s lw 1.5 title %s noenhanced", p, l,
                                      line.points ? "linespoints pt 7 ps 0.4" : "lines",
                                      GnuplotString(line.title)));
    }
    absl::StrAppend(&script, "plot ", absl::StrJoin(lines, ", "), "\n");
  }
  return absl::StrCat(script, "unset multiplot\n");
}

absl::Status PlotPanels(absl::Span<const PlotPanel> panels, const std::string& path) {
  const size_t kept = WithContent(panels).size();
  if (kept == 0) return absl::InvalidArgumentError(absl::StrCat(path, ": there is nothing to draw"));
  return PlotSvg(PanelsScript(panels), path, 2 * kPanelWidth, Rows(kept) * kPanelHeight);
}

}  // namespace toroid
