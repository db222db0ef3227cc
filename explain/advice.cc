#include "explain/advice.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace toroid {
namespace {

// Changes that are returned, and trials of one array.
constexpr size_t kMostAdvice = 3, kMostTrialsOfOne = 4;
// Changes that are made together.
constexpr size_t kMostTogether = 3;
// What a change may cost.
constexpr double kMostFlops = 1.09, kMostMemory = 1.1;

// What a program is compared by: seconds on a machine, bytes without one.
double CostOf(const ProgramFigures& figures) {
  return figures.seconds > 0 ? figures.seconds : static_cast<double>(figures.explanation.sent_bytes);
}

bool Saves(const ProgramFigures& now, const ProgramFigures& then, double least) {
  return CostOf(then) <= (1 - least) * CostOf(now) && then.flops <= kMostFlops * now.flops &&
         static_cast<double>(then.peak_bytes) <= kMostMemory * static_cast<double>(now.peak_bytes);
}

bool Pays(const ProgramFigures& now, const ProgramFigures& then, const AdviceBudget& budget) {
  return Saves(now, then, now.seconds > 0 ? budget.least_time_saved : budget.least_saved);
}

// Whether a row is gone whose cause is the annotation that was changed: most of its bytes are saved.
bool RemovesRow(const WhatIf& effect, const AdviceBudget& budget) {
  const ProgramFigures &now = effect.now, &then = effect.then;
  if (now.seconds > 0 || !Saves(now, then, budget.least_saved_of_row)) return false;
  const int64_t saved = now.explanation.sent_bytes - then.explanation.sent_bytes;
  return std::any_of(effect.gone.begin(), effect.gone.end(), [&](const ExplainedRow& row) {
    return 2 * static_cast<double>(saved) >= static_cast<double>(row.sent_bytes) &&
           static_cast<double>(row.sent_bytes) >=
               budget.least_saved_of_row * static_cast<double>(now.explanation.sent_bytes);
  });
}

// Keeps the better one of two changes of the same array.
void Keep(Advice advice, std::vector<Advice>* found) {
  const auto same = std::find_if(found->begin(), found->end(), [&](const Advice& other) {
    return other.change.name == advice.change.name && other.change.source == advice.change.source;
  });
  if (same == found->end()) {
    found->push_back(std::move(advice));
  } else if (CostOf(advice.effect.then) < CostOf(same->effect.then)) {
    *same = std::move(advice);
  }
}

// Drops changes that are a part of a better one.
void DropParts(std::vector<Advice>* found) {
  std::vector<Advice> kept;
  for (Advice& advice : *found) {
    const auto& given = advice.change.given;
    const bool is_part = std::any_of(kept.begin(), kept.end(), [&](const Advice& better) {
      const auto& all = better.change.given;
      return std::all_of(given.begin(), given.end(), [&](const std::string& one) {
        return std::find(all.begin(), all.end(), one) != all.end();
      });
    });
    if (!is_part) kept.push_back(std::move(advice));
  }
  *found = std::move(kept);
}

Advice AdviceOf(AnnotationChange change, WhatIf effect) {
  Advice advice;
  TriedChange& tried = advice.change;
  tried.name = std::move(change.name);
  tried.source = std::move(change.source);
  tried.from = std::move(change.from);
  tried.to = std::move(change.to);
  tried.given = std::move(change.given);
  tried.seconds_now = effect.now.seconds;
  tried.seconds_then = effect.then.seconds;
  tried.sent_now = effect.now.explanation.sent_bytes;
  tried.sent_then = effect.then.explanation.sent_bytes;
  tried.peak_now = effect.now.peak_bytes;
  tried.peak_then = effect.then.peak_bytes;
  const auto row = std::max_element(
      effect.gone.begin(), effect.gone.end(),
      [](const ExplainedRow& a, const ExplainedRow& b) { return a.sent_bytes < b.sent_bytes; });
  if (row != effect.gone.end()) {
    tried.removed = row->opcode;
    tried.removed_for = row->name;
    tried.removed_source = row->source;
    tried.removed_bytes = row->sent_bytes;
  }
  advice.effect = std::move(effect);
  return advice;
}

std::string NameOfGiven(const std::string& given) { return given.substr(0, given.find("={")); }

// Whether two changes give one array two shardings.
bool Collide(const TriedChange& a, const TriedChange& b) {
  return std::any_of(a.given.begin(), a.given.end(), [&](const std::string& one) {
    return std::any_of(b.given.begin(), b.given.end(),
                       [&](const std::string& other) { return NameOfGiven(one) == NameOfGiven(other); });
  });
}

// The best change with one more, and with two more, as long as each of them pays. `found`: the best first.
std::vector<Advice> Together(const std::vector<Advice>& found, TryChange try_change,
                             const AdviceBudget& budget) {
  std::vector<Advice> together;
  if (found.size() < 2) return together;
  Advice best = found[0];
  for (size_t i = 1; i < found.size() && together.size() + 1 < kMostTogether; ++i) {
    const TriedChange& more = found[i].change;
    if (Collide(best.change, more)) continue;
    std::vector<std::string> given = best.change.given;
    given.insert(given.end(), more.given.begin(), more.given.end());
    absl::StatusOr<ProgramFigures> then = try_change(given);
    if (!then.ok() || !Pays(best.effect.then, *then, budget)) continue;
    Advice both = AdviceOf({best.change.name, best.change.source, best.change.from, best.change.to, given},
                           CompareFigures(best.effect.now, *std::move(then)));
    both.change.num_others = best.change.num_others + more.given.size();
    both.change.together = best.change.together;
    both.change.together.push_back(absl::StrCat(more.name, " ", more.to, " instead of ", more.from));
    together.push_back(both);
    best = std::move(both);
  }
  return together;
}

}  // namespace

std::vector<Advice> FindAdvice(const Partitioned& partitioned, const ProgramFigures& now,
                               TryChange try_change, const AdviceBudget& budget) {
  std::vector<Advice> found;
  if (partitioned.program == nullptr || now.explanation.sent_bytes == 0) return found;
  absl::flat_hash_set<std::string> tried;
  absl::flat_hash_map<std::string, size_t> trials_of;  // By the given names' first.
  const double least = budget.least_promised * static_cast<double>(now.explanation.sent_bytes);
  for (AnnotationChange& change : PromisingChanges(partitioned, now.explanation.rows, budget.changes)) {
    if (tried.size() == budget.trials || change.saved_bytes <= least) break;
    const std::string array = NameOfGiven(change.given[0]);
    if (trials_of[array] == kMostTrialsOfOne || !tried.insert(absl::StrJoin(change.given, "\n")).second)
      continue;
    ++trials_of[array];
    absl::StatusOr<ProgramFigures> then = try_change(change.given);
    if (!then.ok()) continue;
    WhatIf effect = CompareFigures(now, *std::move(then));
    if (!Pays(effect.now, effect.then, budget) && !RemovesRow(effect, budget)) continue;
    Keep(AdviceOf(std::move(change), std::move(effect)), &found);
  }
  std::stable_sort(found.begin(), found.end(), [](const Advice& a, const Advice& b) {
    return std::make_pair(CostOf(a.effect.then), a.change.given.size()) <
           std::make_pair(CostOf(b.effect.then), b.change.given.size());
  });
  DropParts(&found);
  if (found.size() > kMostAdvice) found.resize(kMostAdvice);
  if (budget.combines) {
    for (Advice& more : Together(found, try_change, budget)) found.push_back(std::move(more));
  }
  return found;
}

std::string AdviceText(const std::vector<Advice>& advice) {
  std::string out;
  for (const auto& [change, effect] : advice) {
    absl::StrAppend(&out, "advice: ", ChangeText(change), ":",
                    absl::StrJoin(change.given, "",
                                  [](std::string* text, const std::string& given) {
                                    absl::StrAppend(text, " --shard \"", given, "\"");
                                  }),
                    change.source.empty() ? "" : absl::StrCat(" (", change.source, ")"), "\n");
  }
  if (advice.empty())
    return "advice: none of the changes that were tried saves a twentieth of the bytes, or takes away a "
           "collective with a hundredth of them, or on a machine saves a hundredth of the time\n";
  return out;
}

}  // namespace toroid
