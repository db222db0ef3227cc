#include "explain/diagnosis.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "explain/wrapped_text.h"
#include "hlo/base/text_table.h"
#include "hlo/base/time_text.h"

namespace toroid {
namespace {

// Lines of a screen.
constexpr int kScreen = 40;

}  // namespace

std::string ChangeText(const TriedChange& change) {
  const size_t alike = change.given.size() - 1 - change.num_others;
  const double saved = static_cast<double>(change.sent_then - change.sent_now);
  std::string out = absl::StrCat(
      change.name,
      alike == 0 ? "" : absl::StrCat(" and ", alike, alike == 1 ? " other" : " others", " like it"), " ",
      change.to, " instead of ", change.from,
      absl::StrJoin(
          change.together, "",
          [](std::string* text, const std::string& other) { absl::StrAppend(text, ", and ", other); }),
      change.seconds_now > 0
          ? absl::StrFormat(" takes %s instead of %s (%+.1f %%), sends ", TimeText(change.seconds_then),
                            TimeText(change.seconds_now),
                            100 * (change.seconds_then - change.seconds_now) / change.seconds_now)
          : " sends ",
      BytesText(change.sent_then), " instead of ", BytesText(change.sent_now),
      absl::StrFormat(" (%+.1f %%)",
                      change.sent_now == 0 ? 0 : 100.0 * saved / static_cast<double>(change.sent_now)));
  if (!change.removed.empty()) {
    absl::StrAppend(&out, ", without the ", change.removed, " of ", BytesText(change.removed_bytes), " for ",
                    change.removed_for,
                    change.removed_source.empty() ? "" : absl::StrCat(" (", change.removed_source, ")"));
  }
  return absl::StrCat(out, ", and needs ", BytesText(change.peak_then), " of memory instead of ",
                      BytesText(change.peak_now));
}

std::string DiagnosisText(const Diagnosis& diagnosis, int width) {
  if (diagnosis.is_skipped) {
    return WrappedText("the program is large: no change of an annotation was tried; --advise tries some",
                       width) +
           "\n";
  }
  std::string out;
  for (const TriedChange& change : diagnosis.changes) {
    out += WrappedText(absl::StrCat("tried: ", ChangeText(change),
                                    change.source.empty() ? "" : absl::StrCat(" (", change.source, ")")),
                       width);
    out += "\n";
  }
  if (!out.empty()) out += WrappedText("--advise tries more, and prints the flags", width) + "\n";
  return out;
}

std::string WithDiagnosis(const std::string& table, const Diagnosis& diagnosis, int width) {
  const std::string tried = DiagnosisText(diagnosis, width);
  const auto lines =
      std::count(table.begin(), table.end(), '\n') + std::count(tried.begin(), tried.end(), '\n');
  return diagnosis.changes.empty() || lines <= kScreen ? table + tried : tried + table;
}

}  // namespace toroid
