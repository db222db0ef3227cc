#include "benchmarks/strategy_tables.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace toroid {
namespace {

constexpr double kMostRatio = 100;
// Ratios that print as 1.000 are no change.
constexpr double kLeastChange = 0.0005;

double Ratio(double a, double b) {
  if (a == b) return 1;
  return b == 0 ? kMostRatio : std::clamp(a / b, 1 / kMostRatio, kMostRatio);
}

// The ratios of a strategy in one program.
using RatiosOfProgram = std::function<CostRatios(const StrategyRuns&)>;

RatiosOfProgram BesideOthers(size_t strategy) {
  return [strategy](const StrategyRuns& runs) { return RatiosOf(runs.all, runs.without[strategy]); };
}
RatiosOfProgram Alone(size_t strategy) {
  return [strategy](const StrategyRuns& runs) { return RatiosOf(runs.alone[strategy], runs.first); };
}

constexpr char kRatioNames[] = "  sent  flops written seconds";
std::string Columns(const CostRatios& ratios) {
  return absl::StrFormat("%6.3f %6.3f %7.3f %7.3f", ratios.sent, ratios.flops, ratios.written,
                         ratios.seconds);
}

std::string Extreme(const StrategyRuns* runs, double ratio) {
  return runs == nullptr ? "-" : absl::StrFormat("%.3f %s", ratio, runs->program);
}

std::string GainsRow(const std::string& name, absl::Span<const StrategyRuns> all,
                     const RatiosOfProgram& ratios_of) {
  int changed = 0, faster = 0, slower = 0;
  double sent = 0, flops = 0, written = 0, seconds = 0;  // Sums of logarithms.
  const StrategyRuns *best = nullptr, *worst = nullptr;
  double lowest = 1 - kLeastChange, highest = 1 + kLeastChange;
  for (const StrategyRuns& runs : all) {
    const CostRatios ratios = ratios_of(runs);
    changed += ratios.other_plan;
    faster += ratios.seconds < 1 - kLeastChange;
    slower += ratios.seconds > 1 + kLeastChange;
    sent += std::log(ratios.sent);
    flops += std::log(ratios.flops);
    written += std::log(ratios.written);
    seconds += std::log(ratios.seconds);
    if (ratios.seconds < lowest) std::tie(lowest, best) = std::make_tuple(ratios.seconds, &runs);
    if (ratios.seconds > highest) std::tie(highest, worst) = std::make_tuple(ratios.seconds, &runs);
  }
  const auto mean = [&](double sum) { return std::exp(sum / static_cast<double>(all.size())); };
  const CostRatios means = {mean(sent), mean(flops), mean(written), mean(seconds)};
  return absl::StrFormat("%-12s %7d %6d %6d | %s | %-38s | %s\n", name, changed, faster, slower,
                         Columns(means), Extreme(best, lowest), Extreme(worst, highest));
}

double Sum(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}
double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// What a strategy changes in one program.
struct Change {
  CostRatios beside, alone;
  std::string program;

  // How far the predicted seconds are from equal.
  std::pair<double, double> Size() const {
    return {std::abs(std::log(beside.seconds)), std::abs(std::log(alone.seconds))};
  }
};

// The largest changes by a strategy, the largest first; of programs that are changed alike only the first one.
std::vector<Change> ChangesOf(absl::Span<const StrategyRuns> all, size_t strategy, size_t most) {
  std::vector<Change> changes;
  for (const StrategyRuns& runs : all) {
    Change change = {BesideOthers(strategy)(runs), Alone(strategy)(runs), runs.program};
    const auto [beside, alone] = change.Size();
    if (std::max(beside, alone) > kLeastChange) changes.push_back(std::move(change));
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.Size() > b.Size(); });
  const auto alike = [](const Change& a, const Change& b) {
    return a.beside == b.beside && a.alone == b.alone;
  };
  changes.erase(std::unique(changes.begin(), changes.end(), alike), changes.end());
  changes.resize(std::min(changes.size(), most));
  return changes;
}

}  // namespace

CostRatios RatiosOf(const ProgramCost& with, const ProgramCost& without) {
  CostRatios ratios;
  ratios.sent = Ratio(with.sent_bytes, without.sent_bytes);
  ratios.flops = Ratio(with.flops, without.flops);
  ratios.written = Ratio(with.written_bytes, without.written_bytes);
  ratios.seconds = Ratio(with.seconds, without.seconds);
  ratios.other_plan = with.plan != without.plan;
  return ratios;
}

std::string GainsTable(absl::Span<const StrategyRuns> runs) {
  if (runs.empty()) return "";
  const std::vector<std::string> names = StrategyNames();
  std::string text = absl::StrFormat("%-12s %21s | %-30s | %-38s | %s\n%-12s %7s %6s %6s | %s | %-38s | %s\n",
                                     "", "programs", "with it / without it", "lowest ratio", "highest ratio",
                                     "strategy", "changed", "faster", "slower", kRatioNames,
                                     "of predicted seconds", "of predicted seconds");
  absl::StrAppend(&text,
                  GainsRow("all", runs, [](const StrategyRuns& r) { return RatiosOf(r.all, r.first); }));
  absl::StrAppend(&text, "beside all others\n");
  for (size_t i = 0; i < names.size(); ++i)
    absl::StrAppend(&text, GainsRow("  " + names[i], runs, BesideOthers(i)));
  absl::StrAppend(&text, "alone\n");
  for (size_t i = 0; i < names.size(); ++i) absl::StrAppend(&text, GainsRow("  " + names[i], runs, Alone(i)));
  return text;
}

std::string TimesTable(absl::Span<const StrategyRuns> runs) {
  if (runs.empty()) return "";
  const std::vector<std::string> names = StrategyNames();
  const auto times = [&](const std::function<double(const StrategyRuns&)>& time) {
    std::vector<double> of_programs;
    for (const StrategyRuns& r : runs) of_programs.push_back(time(r));
    return of_programs;
  };
  const std::vector<double> first = times([](const StrategyRuns& r) { return r.first.made_in; });
  const auto columns = [&](const std::vector<double>& added) {
    return absl::StrFormat("%8.2f s %9.1f ms %7.1f", Sum(added), 1e3 * Median(added),
                           Sum(added) / Sum(first));
  };
  std::string text = absl::StrFormat("%-12s | %-30s | %s\n%-12s | %10s %12s %7s |%10s %12s %7s\n", "",
                                     "alone", "beside all others", "strategy", "sum", "median", "/ first",
                                     "sum", "median", "/ first");
  absl::StrAppendFormat(&text, "%-12s | %s |\n", "first plan", columns(first));
  absl::StrAppendFormat(
      &text, "%-12s | %s |\n", "all",
      columns(times([](const StrategyRuns& r) { return r.all.made_in - r.first.made_in; })));
  for (size_t i = 0; i < names.size(); ++i) {
    const auto alone = times([&](const StrategyRuns& r) { return r.alone[i].made_in - r.first.made_in; });
    const auto beside = times([&](const StrategyRuns& r) { return r.all.made_in - r.without[i].made_in; });
    absl::StrAppendFormat(&text, "%-12s | %s |%s\n", "  " + names[i], columns(alone), columns(beside));
  }
  return text;
}

std::string ChangesTable(absl::Span<const StrategyRuns> runs, int most) {
  const std::vector<std::string> names = StrategyNames();
  std::string text =
      absl::StrFormat("%-12s %-38s | %-30s | %s\n%-12s %-38s | %s | %s\n", "", "", "beside all others",
                      "alone", "strategy", "program", kRatioNames, kRatioNames);
  for (size_t i = 0; i < names.size(); ++i) {
    const std::vector<Change> changes = ChangesOf(runs, i, static_cast<size_t>(most));
    if (changes.empty()) absl::StrAppendFormat(&text, "%-12s -\n", names[i]);
    for (size_t k = 0; k < changes.size(); ++k) {
      absl::StrAppendFormat(&text, "%-12s %-38s | %s | %s\n", k == 0 ? names[i] : "", changes[k].program,
                            Columns(changes[k].beside), Columns(changes[k].alone));
    }
  }
  return text;
}

}  // namespace toroid
