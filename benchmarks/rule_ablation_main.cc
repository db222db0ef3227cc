// rule_ablation: what each rule of the simulator is worth.
//
//   bazel run -c opt //benchmarks:rule_ablation -- [--blind=ARCHIVE] [--without=NAME,NAME] [--threads=N]
// Prints for each rule the programs that it touches, and errors with and without it, over the batches of tests/corpus
// and over one that no rule was found on, such as tests/corpus/blind/tpu_v3.zip. Writes the table to
// benchmarks/results/rule_ablation.txt. About two minutes. With --without it prints instead the errors of each batch with all
// rules, and without all of those.
// BUILD: data = ["//tests/corpus:tpu_v3"]
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "benchmarks/ablation.h"
#include "benchmarks/gnuplot.h"
#include "hlo/base/command_line.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "simulator/machines/tpu_v3_core.h"

namespace toroid {
namespace {

constexpr char kHeader[] =
    "What each rule of docs/rules.md is worth: estimates of Google's compiler for TPU v3 predicted with all rules, and\n"
    "without one of them. Errors are |model / compiler - 1| in percent.\n\n"
    "programs     in which the rule is recorded, or whose estimate is another one without it; behind the stroke only these\n"
    "touched      median and 90th percentile of these programs, with the rule and without\n"
    "all          the same of all programs\n"
    "better       batches that the rule improves: without it the batch's mean error is larger; behind the stroke those\n"
    "             on which it was not found, i.e. that its evidence does not name\n"
    "worse        batches whose mean error is smaller without the rule\n"
    "blind        the same of the batch of --blind, on which no rule was found\n\n";

// Programs by which a rule is judged, and their errors.
struct Half {
  std::vector<JudgedProgram> programs;
  std::vector<std::string> batches;
  std::vector<Judgement> with_all;
  std::vector<double> errors;
};

absl::StatusOr<Half> MakeHalf(JudgedPrograms judged, int threads) {
  Half half;
  half.programs = std::move(judged.programs);
  half.batches = std::move(judged.batches);
  ASSIGN_OR_RETURN(half.with_all, JudgeAll(half.programs, TpuV3Core(), threads));
  for (const Judgement& one : half.with_all) half.errors.push_back(one.error);
  return half;
}

std::vector<double> Only(const std::vector<double>& errors, const std::vector<int>& of) {
  std::vector<double> some;
  for (const int i : of) some.push_back(errors[i]);
  return some;
}

std::string Pair(const std::vector<double>& errors) {
  if (errors.empty()) return absl::StrFormat("%6s %6s", "-", "-");
  const Errors e = ErrorsOf(errors);
  return absl::StrFormat("%6.2f %6.1f", 100 * e.median, 100 * e.ninetieth);
}

// Whether the evidence of the rule names the batch or a program of it.
bool IsFoundOn(const RuleRow& row, const std::string& batch, const Half& half) {
  const std::vector<absl::string_view> parts = absl::StrSplit(row.evidence, '`');
  for (size_t i = 1; i < parts.size(); i += 2) {
    const std::pair<absl::string_view, absl::string_view> name =
        absl::StrSplit(parts[i], absl::MaxSplits('/', 1));
    if (name.first == batch) return true;
    for (const JudgedProgram& program : half.programs) {
      if (half.batches[program.batch] == batch && program.name == parts[i]) return true;
    }
  }
  return batch == "calibration" && absl::StrContains(row.evidence, "calibrating third");
}

struct Batched {
  int better = 0, better_elsewhere = 0, worse = 0;
};

Batched ByBatch(const RuleRow& row, const Half& half, const std::vector<double>& without) {
  constexpr double kSame = 1e-6;  // Rounding of sums.
  std::vector<double> more(half.batches.size(), 0);
  for (size_t i = 0; i < without.size(); ++i) more[half.programs[i].batch] += without[i] - half.errors[i];
  Batched batched;
  for (size_t b = 0; b < more.size(); ++b) {
    batched.worse += more[b] < -kSame;
    if (more[b] <= kSame) continue;
    ++batched.better;
    batched.better_elsewhere += !IsFoundOn(row, half.batches[b], half);
  }
  return batched;
}

absl::StatusOr<std::string> RowFor(Rule rule, const Half& half, int threads) {
  ASSIGN_OR_RETURN(const RuleWorth worth, WorthOf(rule, half.programs, half.with_all, TpuV3Core(), threads));
  const Batched batched = ByBatch(RowOf(rule), half, worth.errors);
  return absl::StrFormat("%4d/%-4d %s -> %s  %s  %2d/%-2d %2d", worth.touched, worth.changed,
                         Pair(Only(half.errors, worth.of_touched)),
                         Pair(Only(worth.errors, worth.of_touched)), Pair(worth.errors), batched.better,
                         batched.better_elsewhere, batched.worse);
}

absl::StatusOr<std::string> SimpleRow(const Half& half) {
  ASSIGN_OR_RETURN(std::vector<double> errors, SimpleErrors(half.programs, TpuV3Core()));
  std::erase_if(errors, [](double error) { return error < 0; });
  return absl::StrFormat("%4d      %13s    %13s  %s           ", errors.size(), "", "", Pair(errors));
}

// The batches, and `blind` if it is given.
absl::StatusOr<std::vector<Half>> ReadHalves(const std::string& blind, int threads) {
  std::vector<Half> halves;
  ASSIGN_OR_RETURN(JudgedPrograms batches, ReadBatches("tests/corpus"));
  ASSIGN_OR_RETURN(Half seen, MakeHalf(std::move(batches), threads));
  halves.push_back(std::move(seen));
  if (!blind.empty()) {
    JudgedPrograms sealed;
    RETURN_IF_ERROR(AddBatch(blind, "blind", &sealed));
    ASSIGN_OR_RETURN(Half half, MakeHalf(std::move(sealed), threads));
    halves.push_back(std::move(half));
  }
  return halves;
}

// Errors of each batch with all rules, and without these.
absl::Status PrintWithout(const std::vector<std::string>& rules, const std::string& blind, int threads) {
  CoreSpec core = TpuV3Core();
  for (const std::string& rule : rules) core = Without(core, rule);
  RETURN_IF_ERROR(RulesOf(core).status());
  ASSIGN_OR_RETURN(const std::vector<Half> halves, ReadHalves(blind, threads));
  std::printf("%-16s %8s  %-13s  %s\n", "batch", "programs", "with all", "without");
  for (const Half& half : halves) {
    ASSIGN_OR_RETURN(const std::vector<Judgement> without, JudgeAll(half.programs, core, threads));
    const auto print = [&](const std::string& name, int batch) {
      std::vector<double> with, fewer;
      for (size_t i = 0; i < without.size(); ++i) {
        if (batch >= 0 && half.programs[i].batch != batch) continue;
        with.push_back(half.errors[i]);
        fewer.push_back(without[i].error);
      }
      std::printf("%-16s %8zu  %s  %s\n", name.c_str(), with.size(), Pair(with).c_str(), Pair(fewer).c_str());
    };
    for (size_t b = 0; b < half.batches.size(); ++b) print(half.batches[b], static_cast<int>(b));
    if (half.batches.size() > 1) print("all batches", -1);
  }
  return absl::OkStatus();
}

absl::Status Run(const std::string& blind, int threads) {
  ASSIGN_OR_RETURN(const std::vector<Half> halves, ReadHalves(blind, threads));
  std::string text = kHeader, columns = absl::StrFormat("%-46s", "rule");
  for (size_t i = 0; i < halves.size(); ++i) {
    if (i > 0) absl::StrAppend(&columns, "  blind: ");
    absl::StrAppend(&columns, " programs  touched: with    without          all           better worse");
  }
  absl::StrAppend(&text, columns, "\n");
  const auto add = [&](absl::string_view name, auto&& row_of) -> absl::Status {
    std::string line = absl::StrFormat("%-46s", name);
    for (const Half& half : halves) {
      ASSIGN_OR_RETURN(const std::string row, row_of(half));
      absl::StrAppend(&line, &half == &halves[0] ? " " : "          ", row);
    }
    absl::StripTrailingAsciiWhitespace(&line);
    std::printf("%s\n", line.c_str());
    absl::StrAppend(&text, line, "\n");
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(add("all rules", [](const Half& half) -> absl::StatusOr<std::string> {
    return absl::StrFormat("%4d      %13s    %13s  %s           ", half.errors.size(), "", "",
                           Pair(half.errors));
  }));
  RETURN_IF_ERROR(add("plain rules (simulator/simple)", SimpleRow));
  for (int i = 0; i < kRules; ++i) {
    const Rule rule = static_cast<Rule>(i);
    RETURN_IF_ERROR(add(RowOf(rule).name, [&](const Half& half) { return RowFor(rule, half, threads); }));
  }
  return WriteFile(ResultPath("rule_ablation.txt"), text);
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app("What each rule of the simulator is worth.", "rule_ablation");
  std::string blind;
  std::vector<std::string> without;
  int threads = 1;
  app.add_option("--blind", blind, "An archive or folder of programs that no rule was found on");
  app.add_option("--without", without, "Names of rules, separated by commas, to leave out together")
      ->delimiter(',');
  app.add_option("--threads", threads, "Programs that are predicted at a time")->check(CLI::Range(1, 64));
  return toroid::RunCommand(app, argc, argv, [&] {
    return without.empty() ? toroid::Run(blind, threads) : toroid::PrintWithout(without, blind, threads);
  });
}
