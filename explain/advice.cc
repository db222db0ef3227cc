#include "explain/advice.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "hlo/base/text_table.h"

namespace toroid {
namespace {

// Changes that are returned, and trials of one array.
constexpr size_t kMostAdvice = 3, kMostTrialsOfOne = 4;
// What a change must save, and may cost.
constexpr double kLeastSaved = 0.05, kMostFlops = 1.09, kMostMemory = 1.1;

bool Pays(const ProgramFigures& now, const ProgramFigures& then) {
  return static_cast<double>(then.explanation.sent_bytes) <=
             (1 - kLeastSaved) * static_cast<double>(now.explanation.sent_bytes) &&
         then.flops <= kMostFlops * now.flops &&
         static_cast<double>(then.peak_bytes) <= kMostMemory * static_cast<double>(now.peak_bytes);
}

int64_t SentThen(const Advice& advice) { return advice.effect.then.explanation.sent_bytes; }

// Keeps the better one of two changes of the same array.
void Keep(Advice advice, std::vector<Advice>* found) {
  const auto same = std::find_if(found->begin(), found->end(), [&](const Advice& other) {
    return other.name == advice.name && other.source == advice.source;
  });
  if (same == found->end()) {
    found->push_back(std::move(advice));
  } else if (SentThen(advice) < SentThen(*same)) {
    *same = std::move(advice);
  }
}

std::string InBrackets(const std::string& source) {
  return source.empty() ? "" : absl::StrCat(" (", source, ")");
}

// ", without the all-to-all of 28.7 kB for h (model.py:9)": the largest row that is gone.
std::string GoneText(const Advice& advice) {
  const std::vector<ExplainedRow>& gone = advice.effect.gone;
  if (gone.empty()) return "";
  const ExplainedRow& row = *std::max_element(
      gone.begin(), gone.end(),
      [](const ExplainedRow& a, const ExplainedRow& b) { return a.sent_bytes < b.sent_bytes; });
  return absl::StrCat(", without the ", row.opcode, " of ", BytesText(row.sent_bytes), " for ", row.name,
                      InBrackets(row.source));
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
    const std::string array = change.given[0].substr(0, change.given[0].find("={"));
    if (trials_of[array] == kMostTrialsOfOne || !tried.insert(absl::StrJoin(change.given, "\n")).second)
      continue;
    ++trials_of[array];
    absl::StatusOr<ProgramFigures> then = try_change(change.given);
    if (!then.ok() || !Pays(now, *then)) continue;
    Keep({std::move(change.name), std::move(change.source), std::move(change.from), std::move(change.to),
          std::move(change.given), CompareFigures(now, *std::move(then))},
         &found);
  }
  std::stable_sort(found.begin(), found.end(), [](const Advice& a, const Advice& b) {
    return std::make_pair(SentThen(a), a.given.size()) < std::make_pair(SentThen(b), b.given.size());
  });
  if (found.size() > kMostAdvice) found.resize(kMostAdvice);
  return found;
}

std::string AdviceText(const std::vector<Advice>& advice) {
  std::string out;
  for (const Advice& one : advice) {
    const int64_t now = one.effect.now.explanation.sent_bytes, then = SentThen(one);
    const size_t alike = one.given.size() - 1;
    const std::string others =
        alike == 0 ? "" : absl::StrCat(" and ", alike, alike == 1 ? " other like it" : " others like it");
    absl::StrAppend(
        &out, "advice: ", one.name, others, " ", one.to, " instead of ", one.from, " sends ", BytesText(then),
        " instead of ", BytesText(now),
        absl::StrFormat(" (%+.1f %%)", 100.0 * static_cast<double>(then - now) / static_cast<double>(now)),
        GoneText(one), ", and needs ", BytesText(one.effect.then.peak_bytes), " of memory instead of ",
        BytesText(one.effect.now.peak_bytes), ":",
        absl::StrJoin(one.given, "",
                      [](std::string* text, const std::string& given) {
                        absl::StrAppend(text, " --shard \"", given, "\"");
                      }),
        InBrackets(one.source), "\n");
  }
  if (advice.empty()) return "advice: none of the changes that were tried saves a twentieth of the bytes\n";
  return out;
}

}  // namespace toroid
