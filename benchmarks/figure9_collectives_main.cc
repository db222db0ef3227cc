// figure9_collectives: all-to-all and all-reduce on TPU v3 slices, simulated, beside GShard's figure 9.
//
//   bazel run -c opt //benchmarks:figure9_collectives
// Prints a table and writes it to benchmarks/results/figure9_collectives.txt, with a plot beside it.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "benchmarks/figure9_model.h"
#include "benchmarks/gnuplot.h"
#include "hlo/base/command_line.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

std::string Row(const std::string& name, const std::vector<double>& errors) {
  const MeanAndWorst summary = Summarize(errors);
  return absl::StrFormat("%-22s mean %4.1f %%, worst %4.1f %%\n", name, summary.mean * 100,
                         summary.worst * 100);
}

std::string PointTable(const std::vector<Figure9Point>& points) {
  std::string text = absl::StrFormat("%6s  %-10s %7s %10s %10s %7s  %s\n", "cores", "collective", "MiB",
                                     "paper, us", "ours, us", "error", "algorithm");
  std::vector<double> all, by_kind[2];
  for (const Figure9Point& p : points) {
    absl::StrAppendFormat(&text, "%6d  %-10s %7d %10.0f %10.0f %+6.1f%%  %s\n", p.cores,
                          CollectiveKindName(p.kind), p.bytes >> 20, p.paper_microseconds, p.our_microseconds,
                          p.error() * 100, p.algorithm);
    all.push_back(p.error());
    by_kind[p.kind == CollectiveKind::kAllReduce].push_back(p.error());
  }
  return absl::StrCat(text, "\nCalibration: four values of the network fitted to these points.\n",
                      Row("all", all), Row("all-to-all", by_kind[0]), Row("all-reduce", by_kind[1]));
}

std::string LeftOutTable(std::vector<LeftOut> choices) {
  std::string text =
      "\nValidation: the four values fitted to four sizes, tested on the other four, for all 70 choices.\n";
  double mean = 0, worst_mean = 0, worst = 0;
  for (const LeftOut& c : choices) {
    mean += c.left_out.mean / static_cast<double>(choices.size());
    worst_mean = std::max(worst_mean, c.left_out.mean);
    worst = std::max(worst, c.left_out.worst);
  }
  absl::StrAppendFormat(
      &text,
      "errors on sizes left out: mean over all choices %.1f %%, largest mean of a choice %.1f %%, "
      "worst point of any %.1f %%\n\n%-24s %8s %8s %8s %10s  %15s  %15s\n",
      mean * 100, worst_mean * 100, worst * 100, "fitted to, cores", "start us", "step us", "inj GB/s",
      "us per MiB", "fitted mean,max", "others mean,max");
  std::stable_sort(choices.begin(), choices.end(),
                   [](const LeftOut& a, const LeftOut& b) { return a.left_out.mean > b.left_out.mean; });
  for (const LeftOut& c : choices) {
    absl::StrAppendFormat(&text, "%-24s %8.1f %8.2f %8.0f %10.2f  %6.1f%% %6.1f%%  %6.1f%% %6.1f%%\n",
                          absl::StrJoin(c.fitted_cores, " "), c.collective_cost_seconds * 1e6,
                          c.step_cost_seconds * 1e6, c.injection_bytes_per_second / 1e9,
                          c.local_pass_seconds_per_byte * 1e6 * (1 << 20), c.fitted.mean * 100,
                          c.fitted.worst * 100, c.left_out.mean * 100, c.left_out.worst * 100);
  }
  return text;
}

std::string PlotScript(const std::vector<Figure9Point>& points) {
  std::string script =
      "set multiplot layout 1,2\nset logscale xy 2\nset format y '%.0f'\nset grid\nset key below maxrows 2\n"
      "set xlabel 'cores'\nset ylabel 'microseconds'\nset xtics (16,32,64,128,256,512,1024,2048)\n";
  for (const CollectiveKind kind : {CollectiveKind::kAllToAll, CollectiveKind::kAllReduce}) {
    std::string plot;
    for (const int64_t mib : {8, 32}) {
      const std::string name = absl::StrCat("$p", kind == CollectiveKind::kAllToAll ? "a" : "r", mib);
      absl::StrAppend(&script, name, " << EOD\n");
      for (const Figure9Point& p : points) {
        if (p.kind != kind || p.bytes >> 20 != mib) continue;
        absl::StrAppendFormat(&script, "%d %g %g\n", p.cores, p.paper_microseconds, p.our_microseconds);
      }
      absl::StrAppend(&script, "EOD\n");
      const char* color = mib == 8 ? "#1f6fb4" : "#c04a2f";
      absl::StrAppendFormat(
          &plot,
          "%s%s using 1:2 with points pt 7 lc rgb '%s' title '%d MiB, paper', %s using 1:3 with lines "
          "lw 2 lc rgb '%s' title '%d MiB, simulated'",
          plot.empty() ? "" : ", ", name, color, mib, name, color, mib);
    }
    absl::StrAppend(&script, "set title '", CollectiveKindName(kind), "'\nplot ", plot, "\n");
  }
  return script + "unset multiplot\n";
}

absl::Status Figure9() {
  ASSIGN_OR_RETURN(const std::vector<Figure9Point> points, SimulateFigure9());
  ASSIGN_OR_RETURN(const std::vector<LeftOut> choices, LeaveOutFigure9());
  const std::string text = absl::StrCat(
      "GShard, figure 9: collectives on TPU v3. Written by //benchmarks:figure9_collectives.\n\n",
      PointTable(points), LeftOutTable(choices));
  std::fputs(text.c_str(), stdout);
  RETURN_IF_ERROR(WriteFile(ResultPath("figure9_collectives.txt"), text));
  return PlotSvg(PlotScript(points), ResultPath("figure9_collectives.svg"));
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app("Simulates the collectives of GShard's figure 9.", "figure9_collectives");
  return toroid::RunCommand(app, argc, argv, toroid::Figure9);
}
