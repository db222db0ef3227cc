#include "explain/what_if.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "explain/figure_lines.h"
#include "hlo/analysis/collective_records.h"
#include "hlo/analysis/peak_memory.h"
#include "hlo/analysis/program_statistics.h"
#include "hlo/base/terminal.h"
#include "hlo/base/text_table.h"
#include "hlo/base/time_text.h"

namespace toroid {
namespace {

// Rows of one kind that are printed; the others are counted.
constexpr size_t kMostRows = 5;

// Rows are the same if the same collective does the same for the same value as often, whatever it sends.
using RowKey = std::tuple<std::string, std::string, std::string, int64_t, int64_t>;
RowKey KeyOf(const ExplainedRow& row) { return {row.opcode, row.name, row.step, row.count, row.sent_bytes}; }

// The rows of `of` beyond those that `other` has, too.
std::vector<ExplainedRow> RowsBeyond(const Explanation& of, const Explanation& other) {
  std::map<RowKey, int> there;
  for (const ExplainedRow& row : other.rows) ++there[KeyOf(row)];
  std::vector<ExplainedRow> beyond;
  for (const ExplainedRow& row : of.rows) {
    if (there[KeyOf(row)]-- <= 0) beyond.push_back(row);
  }
  return beyond;
}

std::string RowLines(absl::string_view head, const std::vector<ExplainedRow>& rows, int width) {
  std::string out;
  for (size_t i = 0; i < rows.size() && i < kMostRows; ++i) {
    const ExplainedRow& row = rows[i];
    const std::string front = absl::StrCat("  ", head, row.opcode, " ", BytesText(row.sent_bytes), "  ");
    const std::string name = absl::StrCat(row.name, row.step.empty() ? "" : ": ", row.step,
                                          row.source.empty() ? "" : absl::StrCat(" (", row.source, ")"));
    absl::StrAppend(&out, front, CutMiddle(name, width - TextWidth(front)), "\n");
  }
  if (rows.size() > kMostRows) {
    absl::StrAppend(&out, "  ", head, "and ", CountText(static_cast<int64_t>(rows.size() - kMostRows)),
                    " smaller rows\n");
  }
  return out;
}

}  // namespace

ProgramFigures FiguresOf(const Module& partitioned, const PredictedTimes* times) {
  ProgramFigures figures;
  const std::vector<CollectiveRecord> collectives = ListCollectives(partitioned);
  figures.explanation = Explain({.collectives = collectives, .times = times});
  figures.flops = WorkOfWholeRun(partitioned).flops;
  figures.peak_bytes = ComputeCompiledPeakMemory(partitioned).bytes;
  if (times != nullptr) figures.seconds = times->step_seconds;
  return figures;
}

WhatIf CompareFigures(ProgramFigures now, ProgramFigures then) {
  WhatIf comparison;
  comparison.gone = RowsBeyond(now.explanation, then.explanation);
  comparison.added = RowsBeyond(then.explanation, now.explanation);
  comparison.now = std::move(now);
  comparison.then = std::move(then);
  return comparison;
}

std::string FiguresTable(const ProgramFigures& now, const ProgramFigures& then,
                         const std::string& head_of_now, const std::string& head_of_then) {
  const auto bytes = [](absl::string_view what, int64_t a, int64_t b) {
    return FigureLine(what, BytesText(a), BytesText(b),
                      ChangeText(static_cast<double>(a), static_cast<double>(b)));
  };
  std::string out = FigureLine("", head_of_now, head_of_then, "");
  absl::StrAppend(&out, bytes("sent", now.explanation.sent_bytes, then.explanation.sent_bytes));
  absl::StrAppend(&out, FigureLine("collectives", CountText(now.explanation.collectives),
                                   CountText(then.explanation.collectives), ""));
  absl::StrAppend(&out, FigureLine("flops", absl::StrFormat("%.4g", now.flops),
                                   absl::StrFormat("%.4g", then.flops), ChangeText(now.flops, then.flops)));
  absl::StrAppend(&out, bytes("peak memory", now.peak_bytes, then.peak_bytes));
  if (now.seconds > 0 || then.seconds > 0) {
    absl::StrAppend(&out, FigureLine("step", TimeText(now.seconds), TimeText(then.seconds),
                                     ChangeText(now.seconds, then.seconds)));
  }
  return out;
}

std::string WhatIfText(const WhatIf& comparison, absl::string_view question, int width) {
  const auto& [now, then, gone, added] = comparison;
  std::string out = absl::StrCat("what if ", question, "\n", FiguresTable(now, then, "now", "then"));
  absl::StrAppend(&out, RowLines("gone: ", gone, width), RowLines("new:  ", added, width));
  if (gone.empty() && added.empty()) absl::StrAppend(&out, "  the collectives are the same\n");
  return out;
}

}  // namespace toroid
