// figure1_cost: the cost of training as models of 36 layers grow, beside GShard's figure 1.
//
//   bazel run -c opt //benchmarks:figure1_cost
// Prints the table and writes it to benchmarks/results/figure1_cost.txt, with a plot beside it. Quality
// (BLEU) needs the paper's data, which is private; its published averages over the bilingual baselines stand
// beside the costs.
// Source: GShard, arXiv:2006.16668, figure 1 and table 3.
#include <cstdio>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/gnuplot.h"
#include "benchmarks/training_cost.h"
#include "benchmarks/training_model.h"
#include "hlo/base/command_line.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

struct Row {
  const PublishedCost* paper;
  int64_t tokens_per_core;
  TrainingCost cost;
};

std::string Line(const Row& row) {
  return absl::StrFormat("%-16s %7.1f %6d | %7.1f %7.1f %+6.0f %% | %6.1f %6.1f | %+6.1f\n",
                         absl::StrFormat("MoE(%dE, %dL)", row.paper->experts, row.paper->layers),
                         row.paper->billion_weights, static_cast<int>(row.tokens_per_core),
                         row.paper->core_years, row.cost.core_years,
                         (row.cost.core_years / row.paper->core_years - 1) * 100, row.paper->days,
                         row.cost.days, row.paper->bleu_gain);
}

std::string PlotScript(const std::vector<Row>& rows) {
  std::string script = "$d << EOD\n";
  for (const Row& row : rows) {
    absl::StrAppendFormat(&script, "%g %g %g %g %g\n", row.paper->billion_weights, row.paper->core_years,
                          row.cost.core_years, row.paper->days, row.cost.days);
  }
  return absl::StrCat(
      script,
      "EOD\nset terminal svg size 1000,420 font 'sans-serif,12' background rgb 'white'\nset multiplot layout 1,2\n"
      "set logscale x\nset grid\nset key left top\nset xlabel 'billion weights'\nset xrange [25:900]\nset yrange [0:*]\n"
      "set ylabel 'TPU v3 core-years'\n"
      "plot $d using 1:2 with linespoints pt 7 title 'GShard, figure 1', '' using 1:3 with linespoints pt 5 title 'simulated'\n"
      "set key right top\nset ylabel 'days'\n"
      "plot $d using 1:4 with linespoints pt 7 title 'GShard, figure 1', '' using 1:5 with linespoints pt 5 title 'simulated'\n"
      "unset multiplot\n");
}

absl::Status Figure1() {
  std::string text =
      "GShard, figure 1: cost of training. Written by //benchmarks:figure1_cost.\n"
      "Training to 10^12 source tokens, on one core for each expert; T(96L) on 2,048 cores.\n\n"
      "                 billion tokens | core-years               | days          | BLEU over\n"
      "model            weights a core |   paper    ours    error |  paper   ours | baselines (paper)\n";
  std::vector<Row> rows;
  for (const int64_t experts : {128, 512, 2048}) {
    for (const PublishedCost& paper : kTable3) {
      if (paper.experts != experts || paper.layers != 36) continue;
      const int64_t tokens = experts == 128 ? 4096 : 2048;  // table3_throughput explains this.
      ASSIGN_OR_RETURN(const SimulatedTraining ours,
                       SimulateTraining({.experts = experts,
                                         .layers = paper.layers,
                                         .tokens_per_core = tokens,
                                         .remat = PublishedRemat(paper.layers)}));
      rows.push_back({&paper, tokens, CostOfTraining(ours, tokens * experts)});
      absl::StrAppend(&text, Line(rows.back()));
    }
  }
  constexpr int64_t kDenseTokens = 2048;
  ASSIGN_OR_RETURN(const SimulatedTraining dense, SimulateTraining({0, kDenseLayers, kDenseTokens}));
  const TrainingCost dense_cost = CostOfTraining(dense, kDenseTokens * kDenseCores);
  const Row& small = rows.front();
  const Row& large = rows.back();
  absl::StrAppendFormat(
      &text,
      "T(96L), dense    %7.1f %6d | %7.1f %7.1f %+6.0f %% | %6.1f %6.1f | %+6.1f\n"
      "100 bilingual          -      - | %7.1f       -          |      -      - |      -\n\n"
      "A model with 16 times the weights costs %.1f times as many core-years. The paper says 3.6 times, for 1M tokens a step on\n"
      "128 cores, which is impossible (see table3_throughput). With 4,096 tokens per core, which fit its steps per second, its own\n"
      "numbers give %.1f times. table3_throughput describes T(96L) and compares its published days with the machine's peak.\n",
      kDenseBillionWeights, static_cast<int>(kDenseTokens), kDenseCoreYears, dense_cost.core_years,
      (dense_cost.core_years / kDenseCoreYears - 1) * 100, kDenseDays, dense_cost.days, kDenseBleuGain,
      kBilingualCoreYears, large.cost.core_years / small.cost.core_years,
      large.paper->core_years / (2 * small.paper->core_years));
  std::fputs(text.c_str(), stdout);
  RETURN_IF_ERROR(WriteFile(ResultPath("figure1_cost.txt"), text));
  return PlotSvg(PlotScript(rows), ResultPath("figure1_cost.svg"));
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app("Simulates what training GShard's models of 36 layers costs.", "figure1_cost");
  return toroid::RunCommand(app, argc, argv, toroid::Figure1);
}
