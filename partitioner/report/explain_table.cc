#include "partitioner/report/explain_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
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
    if (!source.empty()) absl::StrAppend(&out, " (", CutMiddle(source, fit[1]), ")");
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

struct Row {
  std::string opcode;
  int64_t group = 1;
  Executions executions;
  int64_t count = 0, operand_bytes = 0, sent_bytes = 0;  // Bytes of all executions.
  double seconds = 0;                                    // Sum over all executions.
  std::vector<std::string> names;                        // Names of all rows merged into this one.
  Text text;
};

// Splits "NAME: STEP" at the colon before the step, which begins with a sharding or "device order".
void SplitCause(const std::string& cause, Text* text) {
  size_t at = std::min(cause.find(": ["), cause.find(": partial "));
  at = std::min(at, cause.find(": device order"));
  text->name = cause.substr(0, at);
  if (at != std::string::npos) text->step = cause.substr(at + 2);
}

// Splits a name into the texts around its numbers, and the numbers.
std::pair<std::vector<std::string>, std::vector<std::string>> AtNumbers(absl::string_view name) {
  std::vector<std::string> texts(1), numbers;
  for (size_t i = 0; i < name.size(); ++i) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(name[i]))) {
      texts.back() += name[i];
      continue;
    }
    if (i == 0 || !absl::ascii_isdigit(static_cast<unsigned char>(name[i - 1]))) {
      numbers.emplace_back();
      texts.emplace_back();
    }
    numbers.back() += name[i];
  }
  return {texts, numbers};
}

auto ExecutionsKey(const Executions& e) { return std::make_tuple(e.times, e.in_loop, e.known); }

std::vector<Row> ExactRows(absl::Span<const CollectiveRecord> collectives, const ExplainOptions& options) {
  const bool full = options.full;
  using Key =
      std::tuple<std::string, int64_t, std::string, std::string, std::tuple<int64_t, bool, bool>, int>;
  std::map<Key, Row> rows;
  for (size_t i = 0; i < collectives.size(); ++i) {
    const CollectiveRecord& record = collectives[i];
    Row& row = rows[{record.opcode, record.group_size, record.cause, record.source,
                     ExecutionsKey(record.executions), full ? static_cast<int>(i) : 0}];
    row.opcode = record.opcode;
    row.group = record.group_size;
    row.executions = record.executions;
    row.count += 1;
    const int64_t times = record.executions.times;
    row.operand_bytes = SaturatingAdd(row.operand_bytes, SaturatingMultiply(record.operand_bytes, times));
    row.sent_bytes = SaturatingAdd(row.sent_bytes, SaturatingMultiply(record.sent_bytes, times));
    if (options.times != nullptr) {
      const auto predicted = options.times->of_collective.find(record.op);
      if (predicted != options.times->of_collective.end()) row.seconds += predicted->second * record.share;
    }
    if (row.count > 1) continue;
    SplitCause(record.cause, &row.text);
    if (row.text.name.empty()) row.text.name = "written by hand";
    if (full && !record.instruction.empty() && record.instruction != row.text.name) {
      row.text.name = absl::StrCat(record.instruction, " for ", row.text.name);
    }
    row.text.source = record.source;
    row.names = {row.text.name};
  }
  std::vector<Row> out;
  for (auto& [key, row] : rows) out.push_back(std::move(row));
  return out;
}

// Merges rows that differ only by the numbers in their names.
std::vector<Row> MergedRows(std::vector<Row> rows) {
  using Key = std::tuple<std::string, int64_t, int64_t, int64_t, int64_t, std::tuple<int64_t, bool, bool>,
                         std::vector<std::string>, std::string, std::string>;
  std::map<Key, size_t> place;
  std::vector<Row> merged;
  for (Row& row : rows) {
    const auto [it, is_new] = place.try_emplace(
        {row.opcode, row.group, row.count, row.operand_bytes, row.sent_bytes, ExecutionsKey(row.executions),
         AtNumbers(row.text.name).first, row.text.step, row.text.source},
        merged.size());
    if (is_new) {
      merged.push_back(std::move(row));
      continue;
    }
    merged[it->second].names.push_back(row.text.name);
    merged[it->second].seconds += row.seconds;
  }
  for (Row& row : merged) {
    const int64_t n = static_cast<int64_t>(row.names.size());
    row.count *= n;
    row.operand_bytes = SaturatingMultiply(row.operand_bytes, n);
    row.sent_bytes = SaturatingMultiply(row.sent_bytes, n);
    row.text.name = NameOfAll(row.names);
  }
  return merged;
}

std::string Right(const std::string& text, int width) {
  return absl::StrCat(std::string(std::max(0, width - TextWidth(text)), ' '), text);
}
std::string Left(const std::string& text, int width) {
  return absl::StrCat(text, std::string(std::max(0, width - TextWidth(text)), ' '));
}

// How often a collective runs, as text: " x 12 trips"; "" for once.
std::string TripsText(const Executions& executions) {
  if (executions.in_loop && !executions.known) return " in a loop";
  if (executions.in_loop) return absl::StrCat(" x ", CountText(executions.times), " trips");
  return executions.times == 1 ? "" : absl::StrCat(" x ", CountText(executions.times));
}

std::string ShareOfStep(double seconds, const PredictedTimes& times) {
  return absl::StrFormat("%.1f %%", times.step_seconds > 0 ? 100 * seconds / times.step_seconds : 0);
}

// The columns of numbers: a line for the header, then one per row.
std::vector<std::string> NumberColumns(const std::vector<Row>& rows, const PredictedTimes* times) {
  std::vector<std::vector<std::string>> cells = {{"collective", "count", "", "group", "operands", "sent"}};
  for (const Row& row : rows) {
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

int64_t NumCollectives(absl::Span<const CollectiveRecord> collectives) {
  return std::count_if(collectives.begin(), collectives.end(),
                       [](const CollectiveRecord& r) { return r.array == 0; });
}

// A line about an array: "replicated: w.3 4.1 kB, gathered (model.py:7)".
struct Finding {
  std::string kind, name, detail, reason, source;
};

// Findings that differ only by the numbers in their names share one line, with their count.
std::string FindingLines(const std::vector<Finding>& findings, const ExplainOptions& options) {
  using Key =
      std::tuple<std::vector<std::string>, std::string, std::string, std::string, std::string, size_t>;
  std::vector<Key> order;
  std::map<Key, std::vector<std::string>> names;
  for (size_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = findings[i];
    const Key key = {
        AtNumbers(finding.name).first, finding.kind, finding.detail, finding.reason, finding.source,
        options.full ? i : 0};
    if (names.find(key) == names.end()) order.push_back(key);
    names[key].push_back(finding.name);
  }
  std::string out;
  for (const Key& key : order) {
    const auto& [pattern, kind, detail, reason, source, number] = key;
    const std::vector<std::string>& alike = names[key];
    std::string middle = absl::StrCat(" ", detail, ", ");
    if (alike.size() > 1)
      middle = absl::StrCat(" ", CountText(static_cast<int64_t>(alike.size())), " x", middle);
    const std::string name = NameOfAll(alike);
    const int fixed = TextWidth(kind) + 2 + TextWidth(middle) + (source.empty() ? 0 : 3);
    const std::vector<int> fit =
        FitWidths({TextWidth(name), TextWidth(reason), TextWidth(source)}, options.width - fixed);
    absl::StrAppend(&out, kind, ": ", CutMiddle(name, fit[0]), middle, CutMiddle(reason, fit[1]));
    if (!source.empty()) absl::StrAppend(&out, " (", CutMiddle(source, fit[2]), ")");
    out += "\n";
  }
  return out;
}

std::string ReplicationLines(absl::Span<const FullReplication> replications, const ExplainOptions& options) {
  std::vector<Finding> findings;
  for (const FullReplication& one : replications) {
    findings.push_back({"replicated", one.instruction, BytesText(one.bytes), one.reason, one.source});
  }
  return FindingLines(findings, options);
}

std::string CutLines(const ExplainOptions& options) {
  std::vector<Finding> findings;
  for (const CutNote& note : options.cuts) {
    findings.push_back({note.is_cut ? "uneven" : "not cut", note.name, note.shape,
                        note.is_cut
                            ? note.text
                            : absl::StrCat("though asked for: ", note.text, "; every device makes all of it"),
                        note.source});
  }
  return FindingLines(findings, options);
}

}  // namespace

std::string NameOfAll(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  const std::vector<std::string> texts = AtNumbers(names[0]).first;
  std::vector<std::set<std::string>> numbers(texts.size() - 1);
  for (const std::string& name : names) {
    const std::vector<std::string> own = AtNumbers(name).second;
    for (size_t i = 0; i < numbers.size() && i < own.size(); ++i) numbers[i].insert(own[i]);
  }
  std::string out = texts[0];
  for (size_t i = 0; i < numbers.size(); ++i) {
    std::string number = "*";
    std::set<int64_t> values;
    for (const std::string& text : numbers[i]) {
      int64_t value;
      if (absl::SimpleAtoi(text, &value)) values.insert(value);
    }
    if (numbers[i].size() == 1) {
      number = *numbers[i].begin();
    } else if (values.size() == numbers[i].size() &&
               *values.rbegin() - *values.begin() + 1 == static_cast<int64_t>(values.size())) {
      number = absl::StrCat(*values.begin(), "..", *values.rbegin());
    }
    absl::StrAppend(&out, number, texts[i + 1]);
  }
  return out;
}

std::string ExplainTable(absl::Span<const CollectiveRecord> collectives,
                         absl::Span<const FullReplication> replications, const ExplainOptions& options) {
  std::vector<Row> rows = ExactRows(collectives, options);
  if (!options.full) rows = MergedRows(std::move(rows));
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::tie(a.seconds, a.sent_bytes) > std::tie(b.seconds, b.sent_bytes);
  });
  const std::vector<std::string> numbers = NumberColumns(rows, options.times);
  const int behind = options.width - TextWidth(numbers[0]) - 2;
  int longest = 0;
  for (const Row& row : rows) longest = std::max(longest, row.text.LeastWidth());
  const bool one_line = longest <= behind;

  std::string out;
  int64_t total = 0;
  bool all_known = true, all_groups_known = true;
  const int64_t arrays = static_cast<int64_t>(collectives.size()), started = NumCollectives(collectives);
  if (rows.empty()) {
    out = "no collectives\n";
  } else {
    absl::StrAppend(&out, numbers[0], one_line ? "  needed by\n" : "\n");
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const Text& text = rows[i].text;
    if (one_line) {
      absl::StrAppend(&out, numbers[i + 1], "  ", text.Cut(behind), "\n");
    } else {
      absl::StrAppend(&out, numbers[i + 1], "\n", text.Lines(options.width));
    }
    total = SaturatingAdd(total, rows[i].sent_bytes);
    all_known &= rows[i].executions.known;
    all_groups_known &= rows[i].group != 0;
  }
  absl::StrAppend(&out, "sent per device in all: ", BytesText(total),
                  total < kInFull ? "" : absl::StrCat(" (", CountText(total), " bytes)"),
                  all_known ? "" : ", loops of unknown length counted once",
                  all_groups_known ? "" : ", groups of unknown size as of one device",
                  started == arrays ? ""
                                    : absl::StrCat(", ", CountText(arrays), " arrays in ", CountText(started),
                                                   " collectives"),
                  "\n");
  if (options.times != nullptr) out += PredictionLine(*options.times);
  return out + ReplicationLines(replications, options) + CutLines(options);
}

std::string PredictionLine(const PredictedTimes& times) {
  return absl::StrCat("predicted on ", times.machine, ": ", TimeText(times.step_seconds), " a step, ",
                      ShareOfStep(times.collective_seconds, times), " of it in collectives\n");
}

std::string SummaryLine(absl::Span<const CollectiveRecord> collectives, int64_t num_partitions) {
  int64_t sent = 0;
  bool known = true;
  for (const CollectiveRecord& record : collectives) {
    sent = SaturatingAdd(sent, SaturatingMultiply(record.sent_bytes, record.executions.times));
    known &= record.executions.known && record.group_size != 0;
  }
  const int64_t count = NumCollectives(collectives);
  return absl::StrCat("one program for ", CountText(num_partitions),
                      num_partitions == 1 ? " device: " : " devices: ", CountText(count),
                      count == 1 ? " collective sends " : " collectives send ", known ? "" : "at least ",
                      BytesText(sent), " per device");
}

}  // namespace toroid
