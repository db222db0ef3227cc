#include "explain/explain_table.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "explain/wrapped_text.h"
#include "hlo/base/math.h"
#include "hlo/base/terminal.h"
#include "hlo/base/text_table.h"
#include "hlo/base/time_text.h"

namespace toroid {
namespace {

// The indent of a row's lines without numbers, in columns.
constexpr int kIndent = 4;
// Totals from this many bytes on are also given to the byte: their rounded digits would hide small savings.
constexpr int64_t kInFull = 1000000;
// The rows of a table whose rows are merged: those after it are one line.
constexpr size_t kMostRows = 25;
// A name or source line may be shortened to this many columns.
constexpr int kEnoughOfAName = 24;

// The text of a row besides its numbers.
struct Text {
  std::string name, step, source;

  // The columns of "NAME: STEP (SOURCE)", and the least to which it may be shortened.
  int Width() const {
    return TextWidth(name) + TextWidth(step) + TextWidth(source) + (step.empty() ? 0 : 2) +
           (source.empty() ? 0 : 3);
  }
  int LeastWidth() const {
    return Width() - std::max(0, TextWidth(name) - kEnoughOfAName) -
           std::max(0, TextWidth(source) - kEnoughOfAName);
  }
  // "NAME: STEP (SOURCE)", with name and source shortened to fit `width` columns.
  std::string Cut(int width) const {
    const int fixed = Width() - TextWidth(name) - TextWidth(source);
    const std::vector<int> fit = FitWidths({TextWidth(name), TextWidth(source)}, width - fixed);
    std::string out = CutMiddle(name, fit[0]);
    if (!step.empty()) absl::StrAppend(&out, ": ", step);
    if (!source.empty()) absl::StrAppend(&out, " (", CutFront(source, fit[1]), ")");
    return out;
  }
  // The step on one line if it fits in `width` columns; otherwise its arrow begins a second line.
  std::vector<std::string> StepLines(int width) const {
    const size_t arrow = step.find(" -> ");
    if (TextWidth(step) <= width || arrow == std::string::npos) return {CutMiddle(step, width)};
    return {CutMiddle(absl::string_view(step).substr(0, arrow), width),
            CutMiddle(absl::string_view(step).substr(arrow + 1), width)};
  }
  // The text on indented lines: one if it fits in `width` columns; otherwise the step has lines of its own.
  std::string Lines(int width) const {
    const std::string indent(kIndent, ' ');
    if (LeastWidth() + kIndent <= width) return absl::StrCat(indent, Cut(width - kIndent), "\n");
    const Text head = {name, "", source};
    std::string out = absl::StrCat(indent, head.Cut(width - kIndent), "\n");
    for (const std::string& line : StepLines(width - kIndent)) absl::StrAppend(&out, indent, line, "\n");
    return out;
  }
};

std::string Right(const std::string& text, int width) {
  return absl::StrCat(std::string(std::max(0, width - TextWidth(text)), ' '), text);
}

std::string Left(const std::string& text, int width) {
  return absl::StrCat(text, std::string(std::max(0, width - TextWidth(text)), ' '));
}

// How often a collective runs, as text: " x 12 trips"; "" for once.
std::string TripsText(const Executions& executions) {
  if (!executions.in_loop)
    return executions.times == 1 ? "" : absl::StrCat(" x ", CountText(executions.times));
  std::string text;
  if (executions.known) text = absl::StrCat(" x ", CountText(executions.times), " trips");
  if (executions.in_condition) return text + " in a loop's condition";
  return executions.known ? text : " in a loop";
}

std::string ShareOfStep(double seconds, const PredictedTimes& times) {
  return absl::StrFormat("%.1f %%", times.step_seconds > 0 ? 100 * seconds / times.step_seconds : 0);
}

// The part of a row's time that other ops hide: "62 %".
std::string HiddenText(const ExplainedRow& row) {
  return row.seconds > 0 ? absl::StrFormat("%.0f %%", 100 * std::min(1.0, row.hidden_seconds / row.seconds))
                         : "";
}

// The columns of numbers: a line for the header, then one per row.
std::vector<std::string> NumberColumns(absl::Span<const ExplainedRow> rows, const PredictedTimes* times) {
  std::vector<std::vector<std::string>> cells = {{"collective", "count", "", "group", "operands", "sent"}};
  for (const ExplainedRow& row : rows) {
    cells.push_back({row.opcode, CountText(row.count), TripsText(row.executions),
                     row.group == 0 ? "?" : CountText(row.group), BytesText(row.operand_bytes),
                     BytesText(row.sent_bytes)});
  }
  std::vector<int> widths = {18, 5, 0, 5, 9, 9};
  if (times != nullptr) {
    widths.insert(widths.end(), {8, 7});
    cells[0].insert(cells[0].end(), {"time", "of step"});
    for (size_t i = 0; i < rows.size(); ++i) {
      cells[i + 1].insert(cells[i + 1].end(),
                          {TimeText(rows[i].seconds), ShareOfStep(rows[i].seconds, *times)});
    }
  }
  if (times != nullptr && times->overlapped_step_seconds > 0) {
    widths.push_back(7);
    cells[0].push_back("hidden");
    for (size_t i = 0; i < rows.size(); ++i) cells[i + 1].push_back(HiddenText(rows[i]));
  }
  for (const auto& row : cells) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], TextWidth(row[c]));
  }
  std::vector<std::string> lines;
  for (const auto& row : cells) {
    std::string line = Left(row[0], widths[0]);
    absl::StrAppend(&line, "  ", Right(row[1], widths[1]), Left(row[2], widths[2]));
    for (size_t c = 3; c < row.size(); ++c) absl::StrAppend(&line, "  ", Right(row[c], widths[c]));
    lines.push_back(std::move(line));
  }
  return lines;
}

// "and 23 smaller rows: 61 collectives, 12.2 MB, 0.0 % of all bytes (--explain=full lists all)".
std::string FoldedLine(const Explanation& explanation, size_t shown, const PredictedTimes* times) {
  int64_t count = 0, bytes = 0;
  double seconds = 0;
  for (const ExplainedRow& row : absl::MakeConstSpan(explanation.rows).subspan(shown)) {
    count += row.count;
    bytes = SaturatingAdd(bytes, row.sent_bytes);
    seconds += row.seconds;
  }
  const double all = static_cast<double>(std::max<int64_t>(explanation.sent_bytes, 1));
  return absl::StrCat(
      "and ", CountText(static_cast<int64_t>(explanation.rows.size() - shown)),
      " smaller rows: ", CountText(count), " collectives, ", BytesText(bytes),
      absl::StrFormat(", %.1f %% of all bytes", 100 * static_cast<double>(bytes) / all),
      times == nullptr ? "" : absl::StrCat(", ", ShareOfStep(seconds, *times), " of the step"),
      " (--explain=full lists all)\n");
}

}  // namespace

std::string NoteLine(const ExplainedNote& note, int width) {
  std::string middle = absl::StrCat(" ", note.detail, ", ");
  if (note.names.size() > 1)
    middle = absl::StrCat(" ", CountText(static_cast<int64_t>(note.names.size())), " x", middle);
  std::string out = absl::StrCat(note.kind, ": ", note.name, middle, note.reason);
  if (!note.source.empty()) {
    const int left = width - TextWidth(out) - 3;
    absl::StrAppend(&out, " (", CutFront(note.source, std::max(left, kEnoughOfAName)), ")");
  }
  return WrappedText(out, width);
}

std::string ExplainTable(const Explanation& explanation, const PredictedTimes* times, int width) {
  const bool folds = explanation.is_merged && explanation.rows.size() > kMostRows;
  const absl::Span<const ExplainedRow> rows =
      absl::MakeConstSpan(explanation.rows).first(folds ? kMostRows - 1 : explanation.rows.size());
  const std::vector<std::string> numbers = NumberColumns(rows, times);
  std::vector<Text> texts;
  for (const ExplainedRow& row : rows) texts.push_back({row.name, row.step, row.source});
  const int behind = width - TextWidth(numbers[0]) - 2;
  int longest = 0;
  for (const Text& text : texts) longest = std::max(longest, text.LeastWidth());
  const bool one_line = longest <= behind;

  std::string out =
      rows.empty() ? "no collectives\n" : absl::StrCat(numbers[0], one_line ? "  needed by\n" : "\n");
  for (size_t i = 0; i < rows.size(); ++i) {
    if (one_line) {
      absl::StrAppend(&out, numbers[i + 1], "  ", texts[i].Cut(behind), "\n");
    } else {
      absl::StrAppend(&out, numbers[i + 1], "\n", texts[i].Lines(width));
    }
  }
  if (folds) absl::StrAppend(&out, FoldedLine(explanation, rows.size(), times));
  absl::StrAppend(&out, "sent per device in all: ", BytesText(explanation.sent_bytes),
                  explanation.sent_bytes < kInFull
                      ? ""
                      : absl::StrCat(" (", CountText(explanation.sent_bytes), " bytes)"),
                  explanation.all_trips_known ? "" : ", loops of unknown length counted once",
                  explanation.all_groups_known ? "" : ", groups of unknown size as of one device",
                  explanation.collectives == explanation.arrays
                      ? ""
                      : absl::StrCat(", ", CountText(explanation.arrays), " arrays in ",
                                     CountText(explanation.collectives), " collectives"),
                  "\n");
  if (times != nullptr) out += PredictionLine(*times);
  for (const ExplainedNote& note : explanation.notes) absl::StrAppend(&out, NoteLine(note, width), "\n");
  return out;
}

std::string PredictionLine(const PredictedTimes& times) {
  return absl::StrCat("predicted on ", times.machine, ": ", TimeText(times.step_seconds), " a step, ",
                      ShareOfStep(times.collective_seconds, times), " of it in collectives",
                      times.overlapped_step_seconds > 0
                          ? absl::StrCat("; ", TimeText(times.overlapped_step_seconds),
                                         " if they ran beside ops that do not need them")
                          : "",
                      "\n");
}

std::string SummaryLine(const Explanation& explanation, int64_t num_partitions) {
  const bool known = explanation.all_trips_known && explanation.all_groups_known;
  return absl::StrCat("one program for ", CountText(num_partitions),
                      num_partitions == 1 ? " device: " : " devices: ", CountText(explanation.collectives),
                      explanation.collectives == 1 ? " collective sends " : " collectives send ",
                      known ? "" : "at least ", BytesText(explanation.sent_bytes), " per device");
}

}  // namespace toroid
