#include "simulator/report/group_text.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "hlo/base/text_table.h"
#include "hlo/base/time_text.h"
#include "hlo/base/units.h"
#include "simulator/rules/rule.h"

namespace toroid {
namespace {

template <typename Row>
bool IsMeant(const Row& row, absl::string_view kind, absl::string_view part) {
  return part == "all" || absl::StrContains(row.instruction, part) || absl::StrContains(kind, part) ||
         absl::StrContains(row.op_name, part) || absl::StrContains(row.source, part);
}

template <typename Row>
std::string Heading(const Row& row, absl::string_view kind) {
  std::string text = absl::StrCat(row.instruction, "  ", kind);
  for (const std::string& more : {row.op_name, row.source}) {
    if (!more.empty()) absl::StrAppend(&text, "  ", more);
  }
  return text + "\n";
}

template <typename Row>
std::string TimeOf(const Row& row) {
  std::string text = absl::StrCat("  ", TimeText(SecondsOf(row.picoseconds)));
  if (row.executions != 1)
    absl::StrAppend(&text, ", ", absl::StrFormat("%.6g", row.executions), " times a step");
  if (row.picoseconds > 0) {
    absl::StrAppendFormat(&text, "; roofline %s (%.1f %%)", TimeText(SecondsOf(row.roofline_ps)),
                          100 * static_cast<double>(row.roofline_ps) / static_cast<double>(row.picoseconds));
  }
  return text;
}

std::string GroupText(const PredictedGroup& group) {
  std::vector<std::string> units;
  for (size_t u = 0; u < kUnits.size(); ++u) {
    if (group.unit_ps[u] > 0) {
      units.push_back(absl::StrCat(kUnits[u], " ", TimeText(SecondsOf(group.unit_ps[u]))));
    }
  }
  std::string text =
      absl::StrCat(Heading(group, group.op_class), TimeOf(group), "; bound by ", group.bound, "\n");
  absl::StrAppend(&text, "  alone: ", units.empty() ? "nothing" : absl::StrJoin(units, ", "),
                  absl::StrFormat("; %.0f window%s", group.windows, group.windows == 1 ? "" : "s"));
  const int64_t longest = *std::max_element(group.unit_ps.begin(), group.unit_ps.end());
  if (longest < group.picoseconds)
    absl::StrAppend(&text, "; ", TimeText(SecondsOf(group.picoseconds - longest)), " beyond the longest");
  text += "\n";
  absl::StrAppendFormat(&text, "  %.4g flops, %s from and to memory\n", static_cast<double>(group.flops),
                        BytesText(group.bytes));
  for (const std::string& name : group.rules) {
    const std::optional<Rule> rule = FindRule(name);
    absl::StrAppend(&text, "  rule ", name, ": ", rule.has_value() ? RowOf(*rule).sentence : "", "\n");
  }
  return text;
}

std::string CollectiveText(const PredictedCollective& row) {
  std::string text = absl::StrCat(Heading(row, row.kind), TimeOf(row), "\n");
  absl::StrAppend(&text, "  ", row.algorithm, ", ", BytesText(row.bytes), " of each device\n");
  if (!row.cause.empty()) absl::StrAppend(&text, "  cause: ", row.cause, "\n");
  return text;
}

}  // namespace

absl::StatusOr<std::string> GroupsText(const Prediction& prediction, absl::string_view part) {
  std::string text;
  for (const PredictedGroup& group : prediction.groups) {
    if (IsMeant(group, group.op_class, part)) absl::StrAppend(&text, GroupText(group));
  }
  for (const PredictedCollective& row : prediction.collectives) {
    if (IsMeant(row, row.kind, part)) absl::StrAppend(&text, CollectiveText(row));
  }
  if (!text.empty()) return text;
  return absl::NotFoundError(absl::StrCat(
      "--explain ", part, ": no group and no collective has that in its instruction, class, name or line; ",
      prediction.groups.empty() ? "the program has no groups"
                                : absl::StrCat("the costliest group is ", prediction.groups[0].instruction)));
}

}  // namespace toroid
