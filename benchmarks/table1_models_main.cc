// table1_models: builds the seven models of GShard's table 1; prints their weights, and the bytes that one
// training step sends.
//
//   bazel run -c opt //benchmarks:table1_models
// Prints the table and writes it to benchmarks/results/table1_models.txt, with a plot beside it.
// Source: GShard, arXiv:2006.16668, table 1.
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

struct PublishedModel {
  int64_t experts, layers;
  int64_t experts_in_all;
  double billion_weights;
};

constexpr PublishedModel kTable1[] = {{2048, 36, 36684, 600}, {2048, 12, 12228, 200}, {512, 36, 9216, 150},
                                      {512, 12, 3072, 50},    {128, 36, 2304, 37},    {128, 12, 768, 12.5},
                                      {2048, 60, 61440, 1000}};

struct Row {
  PublishedModel paper;
  SimulatedTraining ours;
};

std::string Line(const Row& row) {
  const MoeTransformerConfig& config = row.ours.config;
  const int64_t experts = config.experts * config.moe_layers();
  return absl::StrFormat("%-12s | %7d %7d | %6.1f %6.1f %+5.1f %% %7.1f | %5d %5d | %10.0f %7.2f\n",
                         absl::StrFormat("%dE, %dL", config.experts, config.layers), row.paper.experts_in_all,
                         experts, row.paper.billion_weights, row.ours.weights * 1e-9,
                         (row.ours.weights * 1e-9 / row.paper.billion_weights - 1) * 100,
                         row.ours.expert_weights * 1e-9, row.ours.all_to_alls, row.ours.all_reduces,
                         row.ours.step_seconds * 1e3, row.ours.seconds_to_predict);
}

std::string PlotScript(const std::vector<Row>& rows) {
  std::string script = "$d << EOD\n";
  for (const Row& row : rows) {
    absl::StrAppendFormat(&script, "\"%dE %dL\" %g %g\n", row.paper.experts, row.paper.layers,
                          row.paper.billion_weights, row.ours.weights * 1e-9);
  }
  return absl::StrCat(
      script,
      "EOD\nset style data histogram\nset style histogram clustered gap 1\nset style fill solid 0.8 border -1\n"
      "set grid y\nset key above\nset logscale y\nset ylabel 'billion weights'\nset yrange [1:*]\n"
      "plot $d using 2:xtic(1) title 'GShard, table 1', '' using 3 title 'built'\n");
}

absl::Status Table1() {
  std::string text =
      "GShard, table 1: models. Written by //benchmarks:table1_models.\n\n"
      "             | experts         | billion weights               | one step's  | predicted\n"
      "             | in all          |                  of them in   | all-  all-  |   step    in\n"
      "model        |   paper    ours |  paper   ours   error experts | to-all redu.|     ms   seconds\n";
  std::vector<Row> rows;
  for (const PublishedModel& paper : kTable1) {
    ASSIGN_OR_RETURN(const SimulatedTraining ours, SimulateTraining({.experts = paper.experts,
                                                                     .layers = paper.layers,
                                                                     .remat = PublishedRemat(paper.layers)}));
    rows.push_back({paper, ours});
    absl::StrAppend(&text, Line(rows.back()));
  }
  ASSIGN_OR_RETURN(const SimulatedTraining dense, SimulateTraining({0, kDenseLayers}));
  absl::StrAppendFormat(&text, "%-12s | %7s %7s | %6.1f %6.1f %+5.1f %% %7s | %5d %5d | %10.0f %7.2f\n",
                        "T(96L)", "-", "-", kDenseBillionWeights, dense.weights * 1e-9,
                        (dense.weights * 1e-9 / kDenseBillionWeights - 1) * 100, "-", dense.all_to_alls,
                        dense.all_reduces, dense.step_seconds * 1e3, dense.seconds_to_predict);
  absl::StrAppend(
      &text,
      "\nThe paper's weights are 0.97 times those of the experts alone, rounded: 12.5B / 768 = 37.5B / 2,304 = 16.28M per expert, but\n"
      "an expert has 2 x 1024 x 8192 = 16.78M. Our column has all weights. Two of the paper's numbers of experts have transposed\n"
      "digits: 2,048 x 18 is 36,864, and 2,048 x 6 is 12,288. All-to-alls: four for each MoE layer (to the experts and back, in the\n"
      "forward and in the backward pass), and two more if the layer is recomputed (36 layers and more, as in table3_throughput).\n"
      "All-reduces: of gradients of replicated weights, up to 120 MiB in one, of the optimizer's norms, and of its averages over\n"
      "experts. Seconds: to build, differentiate, partition and simulate the step on one core of the machine that runs this.\n"
      "T(96L) is dense, a pipeline of 16 stages (table3_throughput). The paper states only its number of layers. Ours has the sizes\n"
      "of the other models with heads of 64, chosen because they give 2.3B weights, so the agreement proves nothing.\n");
  std::fputs(text.c_str(), stdout);
  RETURN_IF_ERROR(WriteFile(ResultPath("table1_models.txt"), text));
  return PlotSvg(PlotScript(rows), ResultPath("table1_models.svg"));
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app("Builds GShard's models and counts their weights and what their training steps send.",
               "table1_models");
  return toroid::RunCommand(app, argc, argv, toroid::Table1);
}
