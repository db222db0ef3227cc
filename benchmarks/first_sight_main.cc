// first_sight: what error to expect of a program that nobody has looked at.
//
//   bazel run -c opt //benchmarks:first_sight
// Prints the errors of the blind batch of TPU v3 by kind of program, those of plain rules beside; then of each batch of
// tests/corpus/batches.tsv the errors when it was new and now. Writes benchmarks/results/first_sight.txt. About half a minute.
// BUILD: data = ["//tests/corpus:blind", "//tests/corpus:tpu_v3"]
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "benchmarks/chip_estimates.h"
#include "benchmarks/gnuplot.h"
#include "benchmarks/program_set.h"
#include "hlo/base/command_line.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "simulator/machines/tpu_v3_core.h"

namespace toroid {
namespace {

// Kinds of programs that pages tell apart, and those of the index that each takes together.
struct Kinds {
  const char* title;
  std::vector<absl::string_view> kinds;  // Empty: all.
};

std::string ErrorsText(const std::vector<ChipEstimate>& estimates) {
  const ErrorSummary fine = Summarize(estimates), plain = SummarizeSimple(estimates);
  return absl::StrFormat("%8d %7.1f %7.1f %7.0f %9.1f %7.1f", fine.count, 100 * fine.median,
                         100 * fine.ninetieth, 100 * fine.worst, 100 * plain.median, 100 * plain.ninetieth);
}

absl::StatusOr<std::string> BlindTable(const std::string& corpus) {
  const std::vector<Kinds> rows = {
      {"Transformers", {"decoder", "decoding", "encoder", "moe", "vit"}},
      {"convolutional networks", {"convnet", "diffusion", "unet"}},
      {"recurrent networks, state spaces", {"rnn", "ssm"}},
      {"graphs, recommendation, sorting", {"gnn", "recsys", "sort"}},
      {"images, signals, stencils", {"image", "scientific", "signal"}},
      {"quantized layers", {"quant"}},
      {"losses, optimizers", {"loss", "optimizer", "rl"}},
      {"all", {}},
  };
  ASSIGN_OR_RETURN(const Batch batch, FindBatch(corpus, "blind_tpu_v3"));
  ASSIGN_OR_RETURN(const std::vector<ChipEstimate> all, OneCoreEstimates(batch, TpuV3Core()));
  std::string text = absl::StrFormat(
      "Batch %s, made %s, estimates of libtpu %s; no rule was found on it.\n\n%-34s %8s %31s %17s\n%-34s %8s %7s %7s %7s "
      "%9s %7s\n",
      batch.number, batch.made, batch.compiler, "", "", "the model", "plain rules", "kind", "programs",
      "median", "90th", "worst", "median", "90th");
  for (const Kinds& row : rows) {
    std::vector<ChipEstimate> some;
    std::copy_if(all.begin(), all.end(), std::back_inserter(some), [&](const ChipEstimate& e) {
      return row.kinds.empty() || std::find(row.kinds.begin(), row.kinds.end(), e.kind) != row.kinds.end();
    });
    absl::StrAppendFormat(&text, "%-34s %s\n", row.title, ErrorsText(some));
  }
  return text;
}

std::string OrDash(double percent) { return percent < 0 ? "-" : absl::StrFormat("%.1f", percent); }

absl::StatusOr<std::string> HistoryTable(const std::string& corpus) {
  std::string text =
      absl::StrFormat("%-14s %-10s %23s %42s\n%-14s %-10s %7s %7s %7s %8s %7s %7s %7s %9s %7s\n", "", "",
                      "at first sight", "now, and by plain rules", "batch", "made", "median", "90th", "worst",
                      "programs", "median", "90th", "worst", "median", "90th");
  ASSIGN_OR_RETURN(const std::vector<Batch> batches, ReadManifest(corpus));
  for (const Batch& batch : batches) {
    if (batch.is_blind || batch.name == kScatters) continue;
    ASSIGN_OR_RETURN(const std::vector<ChipEstimate> estimates, OneCoreEstimates(batch, TpuV3Core()));
    absl::StrAppendFormat(&text, "%-14s %-10s %7s %7s %7s %s\n", batch.name, batch.made,
                          OrDash(batch.first_median), OrDash(batch.first_ninetieth),
                          OrDash(batch.first_worst), ErrorsText(estimates));
  }
  return text;
}

absl::Status Run() {
  const std::string corpus = "tests/corpus";
  std::string text =
      "Programs predicted at first sight beside the estimates of Google's compiler for TPU v3: |model / compiler - 1| in\n"
      "percent, of programs of which the compiler estimates every group.\n\n";
  ASSIGN_OR_RETURN(const std::string blind, BlindTable(corpus));
  ASSIGN_OR_RETURN(const std::string history, HistoryTable(corpus));
  absl::StrAppend(&text, blind, "\nBatches in which rules were found since.\n\n", history);
  std::fputs(text.c_str(), stdout);
  return WriteFile(ResultPath("first_sight.txt"), text);
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app("What error to expect of a program that nobody has looked at.", "first_sight");
  return toroid::RunCommand(app, argc, argv, [] { return toroid::Run(); });
}
