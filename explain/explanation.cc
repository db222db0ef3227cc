#include "explain/explanation.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/math.h"
#include "hlo/base/text_table.h"

namespace toroid {
namespace {

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

auto ExecutionsKey(const Executions& e) {
  return std::make_tuple(e.times, e.in_loop, e.known, e.in_condition);
}
using ExecutionsKeyType = decltype(ExecutionsKey(Executions()));

std::vector<ExplainedRow> ExactRows(const ExplainedProgram& program, bool full) {
  using Key = std::tuple<std::string, int64_t, std::string, std::string, ExecutionsKeyType, int>;
  std::map<Key, ExplainedRow> rows;
  for (size_t i = 0; i < program.collectives.size(); ++i) {
    const CollectiveRecord& record = program.collectives[i];
    ExplainedRow& row = rows[{record.opcode, record.group_size, record.cause, record.source,
                              ExecutionsKey(record.executions), full ? static_cast<int>(i) : 0}];
    row.opcode = record.opcode;
    row.group = record.group_size;
    row.executions = record.executions;
    row.count += 1;
    row.records.push_back(static_cast<int>(i));
    const int64_t times = record.executions.times;
    row.operand_bytes = SaturatingAdd(row.operand_bytes, SaturatingMultiply(record.operand_bytes, times));
    row.sent_bytes = SaturatingAdd(row.sent_bytes, SaturatingMultiply(record.sent_bytes, times));
    if (program.times != nullptr) {
      const auto predicted = program.times->of_collective.find(record.op);
      if (predicted != program.times->of_collective.end()) row.seconds += predicted->second * record.share;
      const auto hidden = program.times->hidden.find(record.op);
      if (hidden != program.times->hidden.end()) row.hidden_seconds += hidden->second * record.share;
    }
    if (row.count > 1) continue;
    std::tie(row.name, row.step) = NameAndStep(record.cause);
    if (row.name.empty()) row.name = "written by hand";
    if (full && !record.instruction.empty() && record.instruction != row.name) {
      row.name = absl::StrCat(record.instruction, " for ", row.name);
    }
    row.source = record.source;
    row.names = {row.name};
  }
  std::vector<ExplainedRow> out;
  for (auto& [key, row] : rows) out.push_back(std::move(row));
  return out;
}

// Merges rows that differ only by the numbers in their names.
std::vector<ExplainedRow> MergedRows(std::vector<ExplainedRow> rows) {
  using Key = std::tuple<std::string, int64_t, int64_t, int64_t, int64_t, ExecutionsKeyType,
                         std::vector<std::string>, std::string, std::string>;
  std::map<Key, size_t> place;
  std::vector<ExplainedRow> merged;
  for (ExplainedRow& row : rows) {
    const auto [it, is_new] =
        place.try_emplace({row.opcode, row.group, row.count, row.operand_bytes, row.sent_bytes,
                           ExecutionsKey(row.executions), AtNumbers(row.name).first, row.step, row.source},
                          merged.size());
    if (is_new) {
      merged.push_back(std::move(row));
      continue;
    }
    ExplainedRow& into = merged[it->second];
    into.names.push_back(row.name);
    into.records.insert(into.records.end(), row.records.begin(), row.records.end());
    into.seconds += row.seconds;
    into.hidden_seconds += row.hidden_seconds;
  }
  for (ExplainedRow& row : merged) {
    const int64_t n = static_cast<int64_t>(row.names.size());
    row.count *= n;
    row.operand_bytes = SaturatingMultiply(row.operand_bytes, n);
    row.sent_bytes = SaturatingMultiply(row.sent_bytes, n);
    row.name = NameOfAll(row.names);
  }
  return merged;
}

// Notes that differ only by the numbers in their names become one.
std::vector<ExplainedNote> MergedNotes(std::vector<ExplainedNote> notes) {
  using Key = std::tuple<std::vector<std::string>, std::string, std::string, std::string, std::string>;
  std::map<Key, size_t> place;
  std::vector<ExplainedNote> merged;
  for (ExplainedNote& note : notes) {
    const auto [it, is_new] = place.try_emplace(
        {AtNumbers(note.name).first, note.kind, note.detail, note.reason, note.source}, merged.size());
    if (is_new) {
      merged.push_back(std::move(note));
    } else {
      merged[it->second].names.push_back(note.name);
    }
  }
  for (ExplainedNote& note : merged) note.name = NameOfAll(note.names);
  return merged;
}

std::vector<ExplainedNote> NotesOf(const ExplainedProgram& program) {
  std::vector<ExplainedNote> notes(program.whole.begin(), program.whole.end());
  for (const FullReplication& one : program.replications) {
    notes.push_back(
        {"replicated", BytesText(one.bytes), one.reason, one.source, {one.instruction}, one.instruction});
  }
  for (const CutNote& cut : program.cuts) {
    notes.push_back(
        {cut.is_obeyed ? "uneven" : "not obeyed", cut.shape, cut.text, cut.source, {cut.name}, cut.name});
  }
  return notes;
}

}  // namespace

Explanation Explain(const ExplainedProgram& program, bool full) {
  Explanation out;
  out.rows = ExactRows(program, full);
  out.notes = NotesOf(program);
  out.is_merged = !full;
  if (!full) {
    out.rows = MergedRows(std::move(out.rows));
    out.notes = MergedNotes(std::move(out.notes));
  }
  std::stable_sort(out.rows.begin(), out.rows.end(), [](const ExplainedRow& a, const ExplainedRow& b) {
    return std::tie(a.seconds, a.sent_bytes) > std::tie(b.seconds, b.sent_bytes);
  });
  for (const ExplainedRow& row : out.rows) {
    out.sent_bytes = SaturatingAdd(out.sent_bytes, row.sent_bytes);
    out.all_trips_known &= row.executions.known;
    out.all_groups_known &= row.group != 0;
  }
  out.arrays = static_cast<int64_t>(program.collectives.size());
  out.collectives = std::count_if(program.collectives.begin(), program.collectives.end(),
                                  [](const CollectiveRecord& record) { return record.array == 0; });
  return out;
}

std::pair<std::string, std::string> NameAndStep(const std::string& cause) {
  size_t at = std::min(cause.find(": ["), cause.find(": partial "));
  at = std::min(at, cause.find(": device order"));
  return {cause.substr(0, at), at == std::string::npos ? "" : cause.substr(at + 2)};
}

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

}  // namespace toroid
