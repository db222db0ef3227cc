// figure8_breakdown: one Transformer layer and one MoE layer forward, at 128, 512 and 2,048 experts, beside
// GShard's figure 8.
//
//   bazel run -c opt //benchmarks:figure8_breakdown
// Prints a table and writes it to benchmarks/results/figure8_breakdown.txt, with a plot beside it.
// benchmarks/figure8_model.h says which op belongs to which bar. --as_the_compiler_counts prints the bars
// with the compiler's rates. --write_programs=PREFIX writes the three programs, for use with other compilers.
#include <cstdio>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/figure8_model.h"
#include "benchmarks/gnuplot.h"
#include "hlo/base/command_line.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "hlo/io/hlo_text.h"

namespace toroid {
namespace {

// Microseconds outside the bars, by the two layers' share of roofline in the paper's text.
constexpr const char* kNotInBars[] = {"< 665", "-", "1668"};

std::string Table(const Figure8& figure) {
  std::string text = absl::StrFormat("%-20s", "microseconds");
  for (const int64_t experts : kFigure8Experts)
    absl::StrAppendFormat(&text, " | %4dE paper   ours   error", experts);
  text += "\n";
  for (const Figure8Bar& bar : figure.bars) {
    absl::StrAppendFormat(&text, "%-20s", bar.name);
    for (int c = 0; c < 3; ++c) {
      absl::StrAppendFormat(&text, " | %11.0f %6.0f %+6.1f%%", bar.paper_us[c], bar.our_us[c],
                            100 * bar.Error(c));
    }
    text += "\n";
  }
  absl::StrAppendFormat(&text, "%-20s", "total");
  for (int c = 0; c < 3; ++c) {
    absl::StrAppendFormat(&text, " | %11.0f %6.0f %+6.1f%%", figure.PaperTotal(c), figure.OurTotal(c),
                          100 * figure.TotalError(c));
  }
  absl::StrAppendFormat(&text, "\n%-20s", "in no bar");
  for (int c = 0; c < 3; ++c)
    absl::StrAppendFormat(&text, " | %11s %6.0f %7s", kNotInBars[c], figure.other_us[c], "");
  absl::StrAppendFormat(&text, "\n\nmean error of the %d segments: %.1f %%\n",
                        3 * static_cast<int>(figure.bars.size()), 100 * figure.MeanError());
  absl::StrAppendFormat(&text, "total 2048E / 128E: paper %.2f, ours %.2f\n", figure.PaperRatio(),
                        figure.OurRatio());
  text += "share of all-to-all:";
  for (int c = 0; c < 3; ++c) {
    absl::StrAppendFormat(&text, "  %dE paper %.1f %%, ours %.1f %%", kFigure8Experts[c],
                          100 * figure.PaperShare("all-to-all", c), 100 * figure.OurShare("all-to-all", c));
  }
  return text + "\n";
}

std::string UnknownsRow(const std::string& name, const Figure8& figure) {
  std::string row = absl::StrFormat("%-36s", name);
  for (const int bar : {1, 4}) {
    for (int c = 0; c < 3; ++c) absl::StrAppendFormat(&row, " %6.0f", figure.bars[bar].our_us[c]);
    row += " |";
  }
  for (int c = 0; c < 3; ++c) absl::StrAppendFormat(&row, " %+5.1f%%", 100 * figure.TotalError(c));
  return row + absl::StrFormat(" | %5.1f%%\n", 100 * figure.MeanError());
}

absl::StatusOr<std::string> UnknownsTable() {
  std::string text = absl::StrFormat(
      "\nProperties of the program that the paper does not state, and their effect at 128, 512 and 2048 experts:\n"
      "%-36s %20s | %20s | %20s | %s\n",
      "", "attention, us", "cumulative sum, us", "totals, error", "mean error");
  for (const int64_t length : {128, 256, 512}) {
    ASSIGN_OR_RETURN(const Figure8 figure, SimulateFigure8({length}));
    const char* used = length == kFigure8SequenceLength ? " (above)" : "";
    text += UnknownsRow(absl::StrCat("sequences of ", length, used), figure);
  }
  ASSIGN_OR_RETURN(const Figure8 products, SimulateFigure8({kFigure8SequenceLength, true}));
  return text + UnknownsRow("cumulative sums as products", products);
}

std::string PlotScript(const Figure8& figure) {
  std::string script = "$d << EOD\n";
  for (int c = 0; c < 3; ++c) {
    for (const bool paper : {true, false}) {
      absl::StrAppendFormat(&script, "\"%dE %s\"", kFigure8Experts[c], paper ? "paper" : "ours");
      for (const Figure8Bar& bar : figure.bars) {
        absl::StrAppendFormat(&script, " %g", (paper ? bar.paper_us : bar.our_us)[c] / 1000);
      }
      script += "\n";
    }
  }
  script +=
      "EOD\nset style data histogram\nset style histogram rowstacked\nset style fill solid 0.8 border -1\n"
      "set boxwidth 0.7\nset ylabel 'milliseconds'\nset key outside right\nset grid y\nplot ";
  for (size_t s = 0; s < figure.bars.size(); ++s) {
    absl::StrAppendFormat(&script, "%s$d using %d%s title '%s'", s == 0 ? "" : ", ", s + 2,
                          s == 0 ? ":xtic(1)" : "", figure.bars[s].name);
  }
  return script + "\n";
}

absl::Status WritePrograms(const std::string& prefix) {
  for (const int64_t experts : kFigure8Experts) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, Figure8Program(experts, {}));
    RETURN_IF_ERROR(WriteFile(absl::StrCat(prefix, experts, "e.hlo"), PrintModule(*module)));
  }
  return absl::OkStatus();
}

absl::Status Breakdown(const std::string& programs) {
  if (!programs.empty()) return WritePrograms(programs);
  ASSIGN_OR_RETURN(const Figure8 figure, SimulateFigure8());
  ASSIGN_OR_RETURN(const std::string unknowns, UnknownsTable());
  const std::string text = absl::StrCat(
      "GShard, figure 8: a Transformer layer and a MoE layer, forward. Written by "
      "//benchmarks:figure8_breakdown.\n\n",
      Table(figure), unknowns);
  std::fputs(text.c_str(), stdout);
  RETURN_IF_ERROR(WriteFile(ResultPath("figure8_breakdown.txt"), text));
  return PlotSvg(PlotScript(figure), ResultPath("figure8_breakdown.svg"));
}

absl::Status PrintAsTheCompilerCounts() {
  ASSIGN_OR_RETURN(const Figure8 figure, SimulateFigure8({}, TpuV3Core(Rates::kCompiler)));
  std::printf("%s", Table(figure).c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app("Simulates the layers of GShard's figure 8.", "figure8_breakdown");
  std::string programs;
  bool as_the_compiler_counts = false;
  app.add_flag("--as_the_compiler_counts", as_the_compiler_counts,
               "Only print the table, at the rates of Google's compiler instead of measured rates");
  app.add_option("--write_programs", programs, "Only write the annotated programs, to PREFIX128e.hlo, ...");
  return toroid::RunCommand(app, argc, argv, [&]() -> absl::Status {
    return as_the_compiler_counts ? toroid::PrintAsTheCompilerCounts() : toroid::Breakdown(programs);
  });
}
