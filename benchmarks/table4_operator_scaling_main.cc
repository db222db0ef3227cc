// table4_operator_scaling: how compute and communication of partitioned operators grow with the number of
// partitions, beside GShard's table 4.
//
//   bazel run -c opt //benchmarks:table4_operator_scaling
// Prints exponents fitted to simulated times and to counted flops and bytes (table4_model.h describes the
// programs), and writes them to benchmarks/results/table4_operator_scaling.txt, with a plot of the times
// beside it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/gnuplot.h"
#include "benchmarks/table4_model.h"
#include "hlo/base/command_line.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

constexpr double kTolerance = 0.1;

constexpr char kReasons[] = R"(
Why the compute of the dispatch einsum grows: with the model's 2,048 tokens per group an expert has 4096 / E slots. At E = 2048
these are 2, and copies of 2 rows take tiles of 8 rows; the product itself takes as long at any D. In groups of 8,192 tokens (the
row below it) 8 slots or more fill a tile at any E, and the exponent is near the paper's. GShard measured more growth: its gate
einsums take 2.1 times as long at 2048 experts as at 128 (figure 8), an exponent of 0.27.
Devices are placed by --device_assignment=topology, which puts devices that exchange halos beside each other. In row-major order
the convolution's communication has an exponent of 0.10.
)";

// Rounds so that no sign precedes 0.00.
double Rounded(double exponent) { return std::abs(exponent) < 0.005 ? 0 : exponent; }

std::string Exponents(const std::vector<Table4Row>& rows) {
  std::string text = absl::StrFormat(
      "%-29s %-6s | %-27s | %-34s |\n%-29s %-6s | %5s %6s %6s %7s | %5s %6s %6s %6s %7s | %s\n",
      "exponent of D, for each", "", "compute", "communication", "partition", "grows", "paper", "flops",
      "time", "error", "paper", "sent", "carry", "time", "error", "collectives");
  for (const Table4Row& row : rows) {
    const double compute = Exponent(row, &Table4Point::compute_seconds);
    const double communication = Exponent(row, &Table4Point::communication_seconds);
    absl::StrAppendFormat(&text, "%-29s %-6s | %5.1f %6.2f %6.2f %+7.2f | ", row.op, row.grows,
                          row.paper_compute, Rounded(Exponent(row, &Table4Point::flops)), Rounded(compute),
                          Rounded(compute - row.paper_compute));
    if (row.collective.empty()) {
      absl::StrAppendFormat(&text, "%5s %6s %6s %6s %7s | none\n", "0", "none", "none", "none", "");
      continue;
    }
    absl::StrAppendFormat(&text, "%5.1f %6.2f %6.2f %6.2f %+7.2f | %s\n", row.paper_communication,
                          Rounded(Exponent(row, &Table4Point::sent_bytes)),
                          Rounded(Exponent(row, &Table4Point::carried_bytes)), Rounded(communication),
                          Rounded(communication - row.paper_communication), row.collective);
  }
  return text;
}

std::string Verdict(const std::vector<Table4Row>& rows) {
  std::string beyond;
  double worst = 0;
  const auto check = [&](const Table4Row& row, const char* what, double exponent, double paper) {
    const double error = exponent - paper;
    worst = std::max(worst, std::abs(error));
    if (std::abs(error) > kTolerance) {
      absl::StrAppendFormat(&beyond, "  %s, %s grows: %s %.3f, paper %.1f\n", row.op, row.grows, what,
                            exponent, paper);
    }
  };
  for (const Table4Row& row : rows) {
    check(row, "simulated compute", Exponent(row, &Table4Point::compute_seconds), row.paper_compute);
    check(row, "counted flops", Exponent(row, &Table4Point::flops), row.paper_compute);
    check(row, "simulated communication", Exponent(row, &Table4Point::communication_seconds),
          row.paper_communication);
    check(row, "counted bytes carried", Exponent(row, &Table4Point::carried_bytes), row.paper_communication);
  }
  return absl::StrFormat("worst error %.2f; beyond %.1f:%s\n%s", worst, kTolerance,
                         beyond.empty() ? " none" : "", beyond);
}

std::string Times(const std::vector<Table4Row>& rows) {
  std::string text = absl::StrFormat("%-29s %-6s %-13s", "microseconds, by cores", "grows", "");
  for (const Table4Point& point : rows.front().points) absl::StrAppendFormat(&text, " %8d", point.cores);
  text += "\n";
  for (const Table4Row& row : rows) {
    const auto line = [&](const char* name, double Table4Point::*y) {
      absl::StrAppendFormat(&text, "%-29s %-6s %-13s", row.op, row.grows, name);
      for (const Table4Point& point : row.points) absl::StrAppendFormat(&text, " %8.0f", point.*y * 1e6);
      text += "\n";
    };
    line("compute", &Table4Point::compute_seconds);
    if (!row.collective.empty()) line("communication", &Table4Point::communication_seconds);
  }
  return text;
}

constexpr const char* kColors[] = {"#555555", "#1f6fb4", "#56b4e9", "#c04a2f", "#e69f00",
                                   "#009e73", "#8c6bb1", "#b29ac8", "#000000", "#cc79a7"};

// Two plots side by side; dashed lines grow as D and as the root of D.
std::string PlotScript(const std::vector<Table4Row>& rows) {
  std::string script = "$d << EOD\n";
  for (const Table4Row& row : rows) {
    for (const Table4Point& point : row.points) {
      absl::StrAppendFormat(&script, "%d %g %g\n", point.cores, point.compute_seconds * 1e6,
                            point.communication_seconds * 1e6);
    }
    script += "\n\n";
  }
  script +=
      "EOD\nset terminal svg size 1000,520 font 'sans-serif,12' background rgb 'white'\n"
      "set multiplot layout 1,2\nset logscale xy\nset format y '%g'\nset grid\n"
      "set xlabel 'partitions D'\nset xtics (16,32,64,128,256,512,1024,2048)\nset xrange [12:2700]\nset yrange [10:100000]\n"
      "set key above left vertical maxrows 5 width -8 font ',10'\n";
  for (const bool compute : {true, false}) {
    absl::StrAppendFormat(&script, "set ylabel '%s, microseconds'\nplot ",
                          compute ? "compute of a partition" : "communication");
    for (size_t r = 0; r < rows.size(); ++r) {
      if (!compute && rows[r].collective.empty()) continue;
      absl::StrAppendFormat(
          &script, "$d index %d using 1:%d with linespoints lw 1.5 pt %d lc rgb '%s' title '%s (%s)', ", r,
          compute ? 2 : 3, r + 4, kColors[r % std::size(kColors)], rows[r].op, rows[r].grows);
    }
    absl::StrAppend(&script, "15*x dashtype 2 lc rgb 'gray50' title 'D'",
                    compute ? "" : ", 33*sqrt(x) dashtype 3 lc rgb 'gray50' title 'root of D'", "\n");
  }
  return script + "unset multiplot\n";
}

absl::Status Table4() {
  ASSIGN_OR_RETURN(const std::vector<Table4Row> rows, SimulateTable4());
  const std::string text = absl::StrCat(
      "GShard, table 4: how operators scale. Written by //benchmarks:table4_operator_scaling.\n\n",
      Exponents(rows),
      "\nflops: of the program of one partition. sent: bytes that a device sends. carry: these bytes times the number of links that they\n"
      "cross. time: simulated. error: the exponent of the time minus the paper's.\n",
      Verdict(rows), kReasons, "\n", Times(rows));
  std::fputs(text.c_str(), stdout);
  RETURN_IF_ERROR(WriteFile(ResultPath("table4_operator_scaling.txt"), text));
  return PlotSvg(PlotScript(rows), ResultPath("table4_operator_scaling.svg"));
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app("Fits exponents to simulated times of GShard's table 4.", "table4_operator_scaling");
  return toroid::RunCommand(app, argc, argv, toroid::Table4);
}
