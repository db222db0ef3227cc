// table3_throughput: steps per second, days and core-years of GShard's six models, beside its table 3.
//
//   bazel run -c opt //benchmarks:table3_throughput
// Prints the table and writes it to benchmarks/results/table3_throughput.txt, with a plot beside it.
// Source: GShard, arXiv:2006.16668, table 3: training up to 10^12 source tokens (footnote 7).
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <optional>
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
  SimulatedTraining ours;
  TrainingCost cost;
};

absl::StatusOr<Row> Simulated(const PublishedCost& paper, int64_t tokens_per_core,
                              std::optional<Remat> remat = {}, bool by_compiler_alone = false) {
  Row row;
  row.paper = &paper;
  ASSIGN_OR_RETURN(row.ours, SimulateTraining({.experts = paper.experts,
                                               .layers = paper.layers,
                                               .tokens_per_core = tokens_per_core,
                                               .remat = remat,
                                               .by_compiler_alone = by_compiler_alone}));
  row.cost = CostOfTraining(row.ours, tokens_per_core * paper.experts);
  return row;
}

int64_t TokensPerCore(const SimulatedTraining& training) {
  return training.config.groups * training.config.tokens_per_group() / training.config.devices;
}

std::string Line(const Row& row, int64_t tokens_per_core) {
  const PublishedCost& paper = *row.paper;
  return absl::StrFormat(
      "%-13s %6d %8d | %6.2f %6.2f %+6.1f %% | %5.1f %5.1f | %6.1f %6.1f | %5.1f %% %6.1f %%\n",
      absl::StrFormat("%dE, %dL", paper.experts, paper.layers), static_cast<int>(paper.experts),
      static_cast<int>(tokens_per_core), paper.steps_per_second, row.cost.steps_per_second,
      (row.cost.steps_per_second / paper.steps_per_second - 1) * 100, paper.days, row.cost.days,
      paper.core_years, row.cost.core_years, row.ours.communication_share * 100,
      row.ours.recomputed_share * 100);
}

// A step's seconds as a time per layer and a rest; neither depends on the number of layers.
struct LayerTime {
  double layer, rest;
};
LayerTime TimeOfLayer(double few_layers, double few_seconds, double many_layers, double many_seconds) {
  const double layer = (many_seconds - few_seconds) / (many_layers - few_layers);
  return {layer, few_seconds - few_layers * layer};
}

// Milliseconds of a forward pass, computed from figure 8: its two layers for every two of the model, plus the
// attention of one more layer for every two, as each layer of the decoder attends twice.
double ForwardByFigure8(const PublishedCost& model, int64_t tokens_per_core) {
  const auto column =
      std::find(kFigure8Experts.begin(), kFigure8Experts.end(), model.experts) - kFigure8Experts.begin();
  double pair = 0;
  for (const PublishedBar& bar : kFigure8) pair += bar.microseconds[column];
  const double attention = (kFigure8[0].microseconds[column] + kFigure8[1].microseconds[column]) / 2;
  const double tokens = static_cast<double>(tokens_per_core) / kFigure8TokensPerCore;
  return static_cast<double>(model.layers) / 2 * tokens * (pair + attention) * 1e-3;
}

// The rows of 36 and of 12 layers with the same experts are adjacent.
std::string TimesOfLayers(const std::vector<Row>& rows) {
  std::string text =
      "\nTime per layer and the rest of the step, from the rows of 36 and 12 layers, without recomputation (28 % of the published time\n"
      "at 36 layers):\n"
      "milliseconds     | a layer                          | the rest of a step\n"
      "experts          |  paper   ours  3 x its figure 8  |  paper   ours\n";
  for (size_t i = 0; i + 1 < rows.size(); i += 2) {
    const PublishedCost &many = *rows[i].paper, &few = *rows[i + 1].paper;
    const auto n = [](int64_t layers) { return static_cast<double>(layers); };
    const LayerTime paper = TimeOfLayer(n(few.layers), 1 / few.steps_per_second, n(many.layers),
                                        (1 - kShareComputedAgain36) / many.steps_per_second);
    const LayerTime ours =
        TimeOfLayer(n(few.layers), (1 - rows[i + 1].ours.recomputed_share) * rows[i + 1].ours.step_seconds,
                    n(many.layers), (1 - rows[i].ours.recomputed_share) * rows[i].ours.step_seconds);
    const double forward = ForwardByFigure8(many, TokensPerCore(rows[i].ours)) / n(many.layers);
    absl::StrAppendFormat(&text, "%-16d | %6.1f %6.1f %17.1f  | %6.0f %6.0f\n",
                          static_cast<int>(many.experts), paper.layer * 1e3, ours.layer * 1e3, 3 * forward,
                          paper.rest * 1e3, ours.rest * 1e3);
  }
  return absl::StrCat(
      text,
      "The rest of our steps is embeddings, softmax, loss and their gradients. The rest of the published steps takes several times\n"
      "as long, and the paper does not say what it is; input and waiting for the slowest core are not modelled. A published layer\n"
      "takes as long as three forward passes by the paper's figure 8, which leaves no time for sums of gradients (1.3 ms a layer by\n"
      "its figure 9) and updates of weights; our layers include both.\n");
}

// How well the rows with 2,048 tokens per core follow from figure 8, the paper's own times of layers.
std::string RowsFromFigure8(const std::vector<Row>& rows) {
  std::string text =
      "\nThe paper's rows beside its figure 8. Three forwards: three forward passes of all layers, by the bars of figure 8.\n"
      "milliseconds     |    three |        a step | without recomputation\n"
      "model            | forwards |  paper   ours |  paper   ours\n";
  double forwards_12[2] = {0, 0}, papers_12[2] = {0, 0}, ours_12[2] = {0, 0};
  double again_forwards = 0;
  int exchanges_back = 0;  // At 12 layers.
  for (const Row& row : rows) {
    const PublishedCost& paper = *row.paper;
    if (paper.experts == 128) continue;
    const double forward = ForwardByFigure8(paper, TokensPerCore(row.ours)),
                 step = 1e3 / paper.steps_per_second, ours = row.ours.step_seconds * 1e3;
    const double again = paper.layers >= kLayersComputedAgain ? kShareComputedAgain36 : 0;
    absl::StrAppendFormat(&text, "%-16s | %8.0f | %6.0f %6.0f | %6.0f %6.0f\n",
                          absl::StrFormat("%dE, %dL", paper.experts, paper.layers), 3 * forward, step, ours,
                          (1 - again) * step, (1 - row.ours.recomputed_share) * ours);
    if (paper.experts == 2048 && again > 0) again_forwards = again * step / forward;
    if (paper.layers != 12) continue;
    const int i = paper.experts == 2048;
    exchanges_back = static_cast<int>(2 * row.ours.config.moe_layers());
    forwards_12[i] = 3 * forward, papers_12[i] = step, ours_12[i] = ours;
  }
  const PublishedExchanges& exchanges = *std::find_if(std::begin(kFigure9), std::end(kFigure9),
                                                      [](const auto& row) { return row.cores == 2048; });
  const double unexplained = papers_12[1] - papers_12[0] - (forwards_12[1] - forwards_12[0]);
  absl::StrAppendFormat(
      &text,
      "From 512 to 2,048 experts, with 12 layers and no recomputation, three forward passes by the bars grow by %.0f ms, our step by\n"
      "%.0f ms, and the published step by %.0f ms. No figure of the paper accounts for the other %.0f ms: all-reduces and weights per core\n"
      "are the same. Divided among the %d exchanges of the backward pass they are %.1f ms each, as if four times the bytes were sent\n"
      "(figure 9: %.1f ms for 32 MiB on 2,048 cores, %.1f ms for 8 MiB). This would be the time of exchanges that pad the two rows that an\n"
      "expert gets from a group to the eight rows of a tile; at 512 experts the rows fill the tile. The paper does not mention\n"
      "such padding. Neither our exchanges nor those of figure 8 are padded.\n"
      "(Google's compiler of 2026 sends [2048,2,1024] as [2048,4,512], whose rows fill its tiles, in both passes.)\n"
      "The recomputation at 36 layers, %.0f %% of row 1, takes as long as %.1f forward passes by the bars. If every value is computed once\n"
      "more, and the backward pass takes twice as long as the forward pass, recomputation is at most a quarter of the step. The %.0f %% at\n"
      "60 layers are more than that. A profile that counts all values that XLA's pass has renamed gives such shares, because it also\n"
      "counts values that are only computed later (figure7_memory).\n",
      forwards_12[1] - forwards_12[0], ours_12[1] - ours_12[0], papers_12[1] - papers_12[0], unexplained,
      exchanges_back, unexplained / exchanges_back, exchanges.all_to_all_32 * 1e-3,
      exchanges.all_to_all_8 * 1e-3, kShareComputedAgain36 * 100, again_forwards,
      kShareComputedAgain60 * 100);
  return text;
}

// The dense baseline: the paper gives only days and core-years.
absl::StatusOr<std::string> DenseLine() {
  constexpr int64_t kTokensPerCore = 2048;
  ASSIGN_OR_RETURN(const SimulatedTraining ours, SimulateTraining({0, kDenseLayers, kTokensPerCore}));
  const TrainingCost cost = CostOfTraining(ours, kTokensPerCore * kDenseCores);
  const MoeTransformerConfig& config = ours.config;
  std::string text = absl::StrFormat(
      "%-13s %6d %8d | %6s %6.2f %8s | %5.1f %5.1f | %6.1f %6.1f | %5.1f %% %8s\n", "T(96L), dense",
      static_cast<int>(kDenseCores), static_cast<int>(kTokensPerCore), "-", cost.steps_per_second, "-",
      kDenseDays, cost.days, kDenseCoreYears, cost.core_years, ours.communication_share * 100, "stages");
  // Flops of training: forward and backward; half of the weights for source tokens, half for target tokens,
  // of a step's tokens each.
  const double flops = 6 * ours.weights * static_cast<double>(kTokensPerCore * kDenseCores);
  const double peak = static_cast<double>(kDenseCores) * 61.6e12;
  const double published_step =
      kDenseDays * 86400 / (1e12 / static_cast<double>(kTokensPerCore * kDenseCores));
  absl::StrAppendFormat(
      &text,
      "\nT(96L): each stack is a pipeline (by shifting) of %d stages with %d microbatches; %.0f %% of its trips fill and empty it. The\n"
      "backward pass recomputes the layers of a stage, as in GPipe. The paper states neither stages nor microbatches; 64\n"
      "microbatches are faster than 16, 32 and 128. With 4M tokens a step, as for the other models on 2,048 cores, the published\n"
      "days are %.1f s a step: the products of 2.3B weights run at %.0f %% of the matrix units' peak, in our step at %.0f %%. The paper\n"
      "does not say what took the time.\n",
      static_cast<int>(config.stages), static_cast<int>(config.microbatches), BubbleShare(config) * 100,
      published_step, flops / published_step / peak * 100, flops / ours.step_seconds / peak * 100);
  return text;
}

// Cost by quality: tokens from the paper, because quality needs its data, and core-years from our steps.
std::string Table2(const std::vector<Row>& rows) {
  std::string text =
      "\nGShard, table 2: billion source tokens until cross-entropy is below 0.7, 0.6, 0.5, as published (the data is private), and the\n"
      "core-years that simulated steps take for these tokens:\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    const SimulatedTraining& ours = rows[i].ours;
    absl::StrAppendFormat(&text, "%-13s",
                          absl::StrFormat("%dE, %dL", rows[i].paper->experts, rows[i].paper->layers));
    for (const double billions : kTable2[i]) {
      if (billions == 0) {
        absl::StrAppend(&text, "       -          -");
        continue;
      }
      const int64_t tokens_per_step = ours.config.groups * ours.config.tokens_per_group();
      absl::StrAppendFormat(&text, " %7.0f %5.1f years", billions,
                            CostOfTraining(ours, tokens_per_step, billions * 1e9).core_years);
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

std::string PlotScript(const std::vector<Row>& rows) {
  std::string script = "$d << EOD\n";
  for (const Row& row : rows) {
    absl::StrAppendFormat(&script, "\"%dE %dL\" %g %g\n", row.paper->experts, row.paper->layers,
                          row.paper->steps_per_second, row.cost.steps_per_second);
  }
  return absl::StrCat(
      script,
      "EOD\nset style data histogram\nset style histogram clustered gap 1\nset style fill solid 0.8 border -1\n"
      "set grid y\nset key above\nset ylabel 'steps per second'\nset yrange [0:*]\n"
      "plot $d using 2:xtic(1) title 'GShard, table 3', '' using 3 title 'simulated'\n");
}

absl::Status Table3() {
  std::string text =
      "GShard, table 3: throughput and cost of training. Written by //benchmarks:table3_throughput.\n\n"
      "                       tokens | steps per second          | days        | core-years    | share of the step's time\n"
      "model          cores per core |  paper   ours     error   | paper  ours |  paper   ours | sending recomputed\n";
  std::vector<Row> rows;
  for (const PublishedCost& paper : kTable3) {
    // 1M tokens on 128 cores would be 8,192 per core; the published times fit half of that.
    const int64_t tokens_per_core = paper.experts == 128 ? 4096 : 2048;
    ASSIGN_OR_RETURN(const Row row, Simulated(paper, tokens_per_core, PublishedRemat(paper.layers)));
    absl::StrAppend(&text, Line(row, tokens_per_core));
    rows.push_back(row);
  }
  ASSIGN_OR_RETURN(const std::string dense, DenseLine());
  absl::StrAppend(&text, dense);
  absl::StrAppend(
      &text,
      "\nThe models of 36 layers recompute each layer from its inputs. (In the paper, recomputation takes 28 % of the time; it does not\n"
      "say of which values.) If they keep the values that fit into memory:\n");
  for (const bool by_compiler_alone : {false, true}) {
    if (by_compiler_alone) {
      absl::StrAppend(
          &text,
          "If the compiler alone rematerializes the values that do not fit, as in figure7_memory; many values that count as recomputed\n"
          "are only computed later:\n");
    }
    for (const Row& row : rows) {
      if (row.paper->layers != 36) continue;
      const int64_t tokens_per_core = TokensPerCore(row.ours);
      ASSIGN_OR_RETURN(const Row other,
                       Simulated(*row.paper, tokens_per_core, Remat::kFit, by_compiler_alone));
      absl::StrAppend(&text, Line(other, tokens_per_core));
    }
  }
  absl::StrAppend(&text, TimesOfLayers(rows));
  absl::StrAppend(&text, RowsFromFigure8(rows));
  absl::StrAppend(&text, "\nThe rows of 128 cores with the paper's 1M tokens a step, 8,192 per core:\n");
  for (const PublishedCost& paper : kTable3) {
    if (paper.experts != 128) continue;
    ASSIGN_OR_RETURN(const Row row, Simulated(paper, 8192, PublishedRemat(paper.layers)));
    absl::StrAppend(&text, Line(row, 8192));
  }
  absl::StrAppend(
      &text,
      "\nOn 128 cores 1M tokens a step are impossible: the published steps would need more than the peak of the matrix units (123 % with\n"
      "the recomputation that the paper states for 36 layers). The published times fit 4,096 tokens per core, half as many. Days\n"
      "and core-years are then twice those that the paper derives from 1M tokens.\n"
      "Our days and core-years are for 10^12 source tokens; a year has 365.25 days. error: of the steps per second.\n");
  absl::StrAppend(&text, Table2(rows));
  std::fputs(text.c_str(), stdout);
  RETURN_IF_ERROR(WriteFile(ResultPath("table3_throughput.txt"), text));
  return PlotSvg(PlotScript(rows), ResultPath("table3_throughput.svg"));
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app("Simulates the training steps of GShard's models and what training costs.",
               "table3_throughput");
  return toroid::RunCommand(app, argc, argv, toroid::Table3);
}
