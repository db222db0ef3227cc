// figure8_breakdown: one Transformer layer and one MoE layer forward, at 128, 512 and 2,048 experts, beside GShard's
// figure 8.
//
//   bazel run -c opt //benchmarks:figure8_breakdown
// The annotated pair of layers is partitioned, lowered and simulated on the slice with a core for each expert; 2,048 tokens
// per core in 4 sequences of 512. Prints a table and writes it to benchmarks/results/figure8_breakdown.txt, with a plot
// beside it. Nothing is fitted to these points.
// Source of the paper's points: GShard, arXiv:2006.16668, figure 8, read from its vector graphics (+-65 us each).
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/gnuplot.h"
#include "hlo/base/command_line.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "hlo/io/file.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "simulator/stages/simulate.h"

// BUILD: data = ["//tests/corpus:tpu_v3"]

namespace toroid {
namespace {

struct Segment {
  const char* name;
  double paper_us[3];
  double ours_us[3] = {0, 0, 0};
};
constexpr int64_t kExperts[] = {128, 512, 2048};

std::vector<Segment> Segments() {
  return {{"projections", {1312, 1312, 1312}},   {"attention", {525, 525, 525}},
          {"dense feed-forward", {1508, 1508, 1508}}, {"gate einsums", {721, 721, 1508}},
          {"cumulative sum", {66, 328, 1180}},   {"all-to-all", {1246, 3017, 4787}},
          {"expert feed-forward", {2492, 2426, 2426}}, {"other", {0, 0, 0}}};
}

// Index into Segments(), by the einsum that the program's author wrote.
int SegmentOf(const std::string& op_name, const std::string& op_class) {
  const auto has = [&](const char* text) { return absl::StrContains(op_name, text); };
  if (op_class == "all-to-all") return 5;
  if (has("gbtm,mhd->gbthd") || has("gbthd,hdm->gbtm")) return 0;
  if (has("bhtu")) return 1;
  if (has("egcm,emh->egch") || has("egch,ehm->gecm")) return 6;
  if (has("gsec") || has("gsm,me->gse")) return 3;
  if (op_class == "cumulative sum" || has("cumsum") || has("reduce_window")) return 4;
  if (op_class == "dot") return 2;
  return 7;
}

absl::Status AddPair(int column, std::vector<Segment>* segments) {
  const int64_t experts = kExperts[column];
  ASSIGN_OR_RETURN(const HloFile file, ReadHloFile(absl::StrCat("tests/corpus/tpu_v3/moe/pair_", experts, "e.hlo.pb")));
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(*file.module, PartitionOptions()));
  SimulationOptions options;
  ASSIGN_OR_RETURN(options.machine, LoadMachine(absl::StrCat("tpu-v3-", experts)));
  ASSIGN_OR_RETURN(const Simulation simulation, Simulate(*partitioned.module, options));
  for (const PredictedGroup& group : simulation.prediction.groups) {
    (*segments)[SegmentOf(group.op_name, group.op_class)].ours_us[column] +=
        group.executions * static_cast<double>(group.picoseconds) * 1e-6;
  }
  for (const PredictedCollective& row : simulation.prediction.collectives) {
    (*segments)[SegmentOf(row.op_name, row.kind)].ours_us[column] +=
        row.executions * static_cast<double>(row.picoseconds) * 1e-6;
  }
  return absl::OkStatus();
}

std::string Table(const std::vector<Segment>& segments) {
  std::string text = absl::StrFormat("%-20s", "microseconds");
  for (const int64_t experts : kExperts) absl::StrAppendFormat(&text, " | %4dE paper   ours   error", experts);
  text += "\n";
  double paper[3] = {0, 0, 0}, ours[3] = {0, 0, 0}, errors = 0;
  int points = 0;
  for (const Segment& segment : segments) {
    absl::StrAppendFormat(&text, "%-20s", segment.name);
    for (int c = 0; c < 3; ++c) {
      paper[c] += segment.paper_us[c];
      ours[c] += segment.ours_us[c];
      if (segment.paper_us[c] == 0) {
        absl::StrAppendFormat(&text, " | %11s %6.0f %7s", "-", segment.ours_us[c], "");
        continue;
      }
      const double error = segment.ours_us[c] / segment.paper_us[c] - 1;
      errors += std::abs(error);
      ++points;
      absl::StrAppendFormat(&text, " | %11.0f %6.0f %+6.1f%%", segment.paper_us[c], segment.ours_us[c], 100 * error);
    }
    text += "\n";
  }
  absl::StrAppendFormat(&text, "%-20s", "total");
  for (int c = 0; c < 3; ++c) {
    absl::StrAppendFormat(&text, " | %11.0f %6.0f %+6.1f%%", paper[c], ours[c], 100 * (ours[c] / paper[c] - 1));
  }
  absl::StrAppendFormat(&text, "\n\nmean error of the %d segments: %.1f %%\n", points, 100 * errors / points);
  absl::StrAppendFormat(&text, "total 2048E / 128E: paper %.2f, ours %.2f\n", paper[2] / paper[0], ours[2] / ours[0]);
  text += "share of all-to-all:";
  for (int c = 0; c < 3; ++c) {
    absl::StrAppendFormat(&text, "  %dE paper %.1f %%, ours %.1f %%", kExperts[c],
                          100 * segments[5].paper_us[c] / paper[c], 100 * segments[5].ours_us[c] / ours[c]);
  }
  return text + "\n";
}

std::string PlotScript(const std::vector<Segment>& segments) {
  std::string script = "$d << EOD\n";
  for (int c = 0; c < 3; ++c) {
    for (const bool paper : {true, false}) {
      absl::StrAppendFormat(&script, "\"%dE %s\"", kExperts[c], paper ? "paper" : "ours");
      for (const Segment& segment : segments) {
        absl::StrAppendFormat(&script, " %g", (paper ? segment.paper_us : segment.ours_us)[c] / 1000);
      }
      script += "\n";
    }
  }
  script += "EOD\nset style data histogram\nset style histogram rowstacked\nset style fill solid 0.8 border -1\n"
            "set boxwidth 0.7\nset ylabel 'milliseconds'\nset key outside right\nset grid y\nplot ";
  for (size_t s = 0; s < segments.size(); ++s) {
    absl::StrAppendFormat(&script, "%s$d using %d%s title '%s'", s == 0 ? "" : ", ", s + 2, s == 0 ? ":xtic(1)" : "",
                          segments[s].name);
  }
  return script + "\n";
}

absl::Status Figure8() {
  std::vector<Segment> segments = Segments();
  for (int c = 0; c < 3; ++c) RETURN_IF_ERROR(AddPair(c, &segments));
  const std::string text =
      absl::StrCat("GShard, figure 8: a Transformer layer and a MoE layer, forward. Written by "
                   "//benchmarks:figure8_breakdown.\n\n",
                   Table(segments));
  std::fputs(text.c_str(), stdout);
  RETURN_IF_ERROR(WriteFile(ResultPath("figure8_breakdown.txt"), text));
  return PlotSvg(PlotScript(segments), ResultPath("figure8_breakdown.svg"));
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app("Simulates the layers of GShard's figure 8.", "figure8_breakdown");
  return toroid::RunCommand(app, argc, argv, toroid::Figure8);
}
