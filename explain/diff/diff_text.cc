#include "explain/diff/diff_text.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "explain/figure_lines.h"
#include "explain/wrapped_text.h"
#include "hlo/base/terminal.h"
#include "hlo/base/text_table.h"
#include "hlo/base/time_text.h"

namespace toroid {
namespace {

// Rows of a section, parts of one side of a row, and other entries that are printed; those after them are one line.
struct Limits {
  size_t rows = 12, parts = 4, entries = 8;
  double least_share = 1e-4;    // Of a row in the larger total.
  double least_seconds = 1e-7;  // By which a row of the same items differs.
};
constexpr Limits kAll = {SIZE_MAX, SIZE_MAX, SIZE_MAX, 0, 0};

// A name may be shortened to this many columns.
constexpr int kEnoughOfAName = 24;

using AmountText = std::function<std::string(int64_t)>;

std::string FlopsText(int64_t flops) { return absl::StrFormat("%.4g", static_cast<double>(flops)); }

std::string Signed(int64_t amount, const AmountText& text) {
  return absl::StrCat(amount < 0 ? "-" : "+", text(std::abs(amount)));
}

std::string Plural(int64_t n, absl::string_view one, absl::string_view many) {
  return absl::StrCat(CountText(n), " ", n == 1 ? one : many);
}

// How a section of costs is worded, and how much of it is printed.
struct Section {
  std::string heading;
  AmountText amount;
  std::string verb;      // "sends", of one part.
  std::string verbs;     // Of several.
  std::string items;     // What is counted.
  bool shows_even_rows;  // Those that differ by nothing in sum.
  Limits limits;
  int width;  // Columns of a line.
};

// `place`: of the row.
std::string PartLine(absl::string_view side, const CostPart& part, const std::string& place,
                     const Section& section) {
  const std::string front = absl::StrCat("      ", side, "  ", CountText(part.times), " ", part.what, " ",
                                         part.times == 1 ? section.verb : section.verbs, " ",
                                         section.amount(part.cost * part.times), ": ");
  const std::string text =
      absl::StrCat(part.name, part.step.empty() ? "" : ": ", part.step,
                   part.source.empty() || part.source == place ? "" : absl::StrCat(" (", part.source, ")"));
  return absl::StrCat(front, CutMiddle(text, std::max(kEnoughOfAName, section.width - TextWidth(front))),
                      "\n");
}

std::string SideLines(absl::string_view side, const std::vector<CostPart>& parts, const std::string& place,
                      const Section& section) {
  std::string out;
  const size_t shown = std::min(parts.size(), section.limits.parts);
  for (size_t i = 0; i < shown; ++i) out += PartLine(side, parts[i], place, section);
  if (parts.size() == shown) return out;
  int64_t rest = 0;
  for (size_t i = shown; i < parts.size(); ++i) rest += parts[i].cost * parts[i].times;
  absl::StrAppend(&out, "      ", side, "  and ", CountText(static_cast<int64_t>(parts.size() - shown)),
                  " more: ", section.amount(rest), "\n");
  return out;
}

std::string WhereOf(const CostRow& row) {
  std::string where = row.place.empty() ? row.name : absl::StrCat(row.place, "  ", row.name);
  if (!row.place_in_a.empty()) absl::StrAppend(&where, "  (", row.place_in_a, " in A)");
  return where;
}

// ", +1.2 us"
std::string TimePart(double seconds) {
  if (seconds == 0) return "";
  return absl::StrCat(", ", seconds < 0 ? "-" : "+", TimeText(std::abs(seconds)));
}

std::string RowLines(const CostRow& row, const Section& section) {
  std::string front =
      absl::StrCat("  ", Signed(row.difference(), section.amount), TimePart(row.time_difference()));
  absl::StrAppend(&front, row.kind == CostRowKind::kOnlyA       ? "  only in A  "
                          : row.kind == CostRowKind::kOnlyB     ? "  only in B  "
                          : row.kind == CostRowKind::kOtherTime ? "  the same  "
                                                                : "  ");
  const std::string head = absl::StrCat(
      front, CutMiddle(WhereOf(row), std::max(kEnoughOfAName, section.width - TextWidth(front))), "\n");
  if (row.kind == CostRowKind::kOtherTime) return head;
  return absl::StrCat(head,
                      SideLines("A", row.a, row.place_in_a.empty() ? row.place : row.place_in_a, section),
                      SideLines("B", row.b, row.place, section));
}

// "the same: 12 arrays, 3.4 kB, of which 2 elsewhere"
std::string SameLine(const CostDiff& costs, const Section& section) {
  int64_t same = costs.same, elsewhere_times = 0;
  for (const CostRow& row : costs.rows) {
    if (row.is_same()) same += row.cost_a;
    if (row.kind != CostRowKind::kElsewhere) continue;
    for (const CostPart& part : row.a) elsewhere_times += part.times;
  }
  const int64_t times = costs.same_times + elsewhere_times;
  if (times == 0) return "";
  std::string line =
      absl::StrCat("  the same in both: ", Plural(times, section.items, absl::StrCat(section.items, "s")),
                   ", ", section.amount(same));
  if (elsewhere_times > 0) absl::StrAppend(&line, ", of which ", CountText(elsewhere_times), " elsewhere");
  return line + "\n";
}

// Whether a row is printed by itself.
bool IsShown(const CostRow& row, const CostDiff& costs, const Section& section) {
  if (row.kind == CostRowKind::kElsewhere) return false;
  if (row.kind == CostRowKind::kOtherTime)
    return std::abs(row.time_difference()) >= section.limits.least_seconds;
  if (row.difference() == 0) return section.shows_even_rows;
  const double total = static_cast<double>(std::max(costs.total_a, costs.total_b));
  return static_cast<double>(std::abs(row.difference())) >= section.limits.least_share * total;
}

std::string CostLines(const CostDiff& costs, const Section& section) {
  std::string out;
  size_t shown = 0, others = 0;
  int64_t rest = 0;
  double rest_seconds = 0;
  for (const CostRow& row : costs.rows) {
    if (shown < section.limits.rows && IsShown(row, costs, section)) {
      ++shown;
      out += RowLines(row, section);
    } else if (row.kind == CostRowKind::kElsewhere ? row.time_difference() != 0
                                                   : row.difference() != 0 || section.shows_even_rows) {
      ++others;
      rest += row.difference();
      rest_seconds += row.time_difference();
    }
  }
  if (others > 0) {
    absl::StrAppend(&out, "  ", Signed(rest, section.amount), TimePart(rest_seconds), "  at ",
                    Plural(static_cast<int64_t>(others), "other place", "other places"), "\n");
  }
  return out.empty() ? "" : absl::StrCat(section.heading, ":\n", out, SameLine(costs, section));
}

std::string ShardingLines(const std::vector<ShardingChange>& changes, const Limits& limits, int width) {
  if (changes.empty()) return "";
  std::string out = "cut differently:\n";
  for (size_t i = 0; i < std::min(changes.size(), limits.entries); ++i) {
    const ShardingChange& change = changes[i];
    const std::string sentence = absl::StrCat(change.name, ": ", change.shape_a, " by ", change.sharding_a,
                                              " in A, ", change.shape_b, " by ", change.sharding_b, " in B");
    absl::StrAppend(&out, "  ", absl::StrReplaceAll(WrappedText(sentence, width - 2), {{"\n", "\n  "}}),
                    "\n");
  }
  if (changes.size() > limits.entries) {
    absl::StrAppend(&out, "  and ", CountText(static_cast<int64_t>(changes.size() - limits.entries)),
                    " more\n");
  }
  return out;
}

std::string OpcodesOf(const std::vector<OpcodeChange>& changes, int64_t OpcodeChange::*count,
                      const Limits& limits) {
  std::vector<const OpcodeChange*> some;
  for (const OpcodeChange& change : changes) {
    if (change.*count > 0) some.push_back(&change);
  }
  std::stable_sort(some.begin(), some.end(),
                   [&](const OpcodeChange* x, const OpcodeChange* y) { return x->*count > y->*count; });
  std::vector<std::string> texts;
  for (const OpcodeChange* change : some) {
    if (texts.size() == limits.entries) {
      texts.push_back("...");
      break;
    }
    texts.push_back(absl::StrCat(CountText(change->*count), " ", change->opcode));
  }
  return absl::StrJoin(texts, ", ");
}

std::string InstructionLines(const ProgramDiff& diff, const Limits& limits, int width) {
  const MatchCounts& counts = diff.instructions;
  std::string out = "instructions, matched by what they compute:\n";
  absl::StrAppend(&out, "  ", CountText(counts.same), " the same, ", CountText(counts.alike),
                  " of other operands, ", CountText(counts.changed), " changed\n");
  if (counts.only_a > 0) {
    absl::StrAppend(&out,
                    CutMiddle(absl::StrCat("  ", CountText(counts.only_a), " only in A: ",
                                           OpcodesOf(diff.opcodes, &OpcodeChange::only_a, limits)),
                              width),
                    "\n");
  }
  if (counts.only_b > 0) {
    absl::StrAppend(&out,
                    CutMiddle(absl::StrCat("  ", CountText(counts.only_b), " only in B: ",
                                           OpcodesOf(diff.opcodes, &OpcodeChange::only_b, limits)),
                              width),
                    "\n");
  }
  return out;
}

std::string FigureLines(const ProgramDiff& diff) {
  const DiffFigures &a = diff.a, &b = diff.b;
  const auto line = [](absl::string_view what, int64_t of_a, int64_t of_b, const AmountText& text) {
    return FigureLine(what, text(of_a), text(of_b),
                      ChangeText(static_cast<double>(of_a), static_cast<double>(of_b)));
  };
  std::string out = FigureLine("", "A", "B", "");
  absl::StrAppend(&out, line("sent", a.sent_bytes, b.sent_bytes, BytesText),
                  line("collectives", a.collectives, b.collectives, CountText),
                  line("flops", a.flops, b.flops, FlopsText),
                  line("peak memory", a.peak_bytes, b.peak_bytes, BytesText));
  if (a.step_seconds && b.step_seconds) {
    absl::StrAppend(&out,
                    FigureLine("step", TimeText(*a.step_seconds), TimeText(*b.step_seconds),
                               ChangeText(*a.step_seconds, *b.step_seconds)),
                    FigureLine("  sending", TimeText(*a.collective_seconds), TimeText(*b.collective_seconds),
                               ChangeText(*a.collective_seconds, *b.collective_seconds)));
  }
  absl::StrAppend(&out, line("instructions", a.instructions, b.instructions, CountText));
  return out;
}

// Figures that are not certain.
std::string Reservations(const ProgramDiff& diff) {
  std::string out;
  for (const auto& [name, figures] : {std::make_pair("A", &diff.a), std::make_pair("B", &diff.b)}) {
    if (!figures->all_trips_known)
      absl::StrAppend(&out, name, " has loops of unknown length; each counts one trip\n");
    if (!figures->all_groups_known)
      absl::StrAppend(&out, name, " has collectives over groups of unknown size; they count nothing\n");
  }
  return out;
}

// "the largest difference, +7.0 GB, is at linears.py:815: 64 all-reduce over 16 instead of 64 reduce-scatter over 16"
std::string LargestText(const CostRow& row) {
  const auto text = [](const CostPart& part) { return absl::StrCat(CountText(part.times), " ", part.what); };
  std::string out = absl::StrCat("the largest difference, ", Signed(row.difference(), BytesText), ", is at ",
                                 row.place.empty() ? row.name : row.place, ": ");
  if (row.a.empty()) return absl::StrCat(out, text(row.b[0]), " more");
  if (row.b.empty()) return absl::StrCat(out, text(row.a[0]), " less");
  return absl::StrCat(out, text(row.b[0]), " instead of ", text(row.a[0]));
}

}  // namespace

std::string DiffSummary(const ProgramDiff& diff) {
  const DiffFigures &a = diff.a, &b = diff.b;
  const std::string name_a = absl::StrCat("A (", a.label, ")"), name_b = absl::StrCat("B (", b.label, ")");
  if (diff.same) {
    return absl::StrCat("the same program: ", Plural(a.instructions, "instruction", "instructions"), "; ",
                        Plural(a.collectives, "collective sends ", "collectives send "),
                        BytesText(a.sent_bytes), " per device");
  }
  const int64_t more = b.sent_bytes - a.sent_bytes;
  if (more != 0) {
    std::string out =
        absl::StrCat(name_b, " sends ", BytesText(b.sent_bytes), " per device, ", BytesText(std::abs(more)),
                     more > 0 ? " more than " : " less than ", name_a);
    if (a.sent_bytes > 0) {
      absl::StrAppendFormat(&out, ", %+.1f %%",
                            100 * static_cast<double>(more) / static_cast<double>(a.sent_bytes));
    }
    if (!diff.sent.rows.empty()) absl::StrAppend(&out, "; ", LargestText(diff.sent.rows[0]));
    return out;
  }
  const bool rows_differ = std::any_of(diff.sent.rows.begin(), diff.sent.rows.end(),
                                       [](const CostRow& row) { return !row.is_same(); });
  const std::string sends = a.sent_bytes == 0
                                ? "neither sends anything"
                                : absl::StrCat("both send ", BytesText(a.sent_bytes), " per device, by ",
                                               rows_differ ? "different" : "the same", " collectives");
  const MatchCounts& counts = diff.instructions;
  const int64_t others = counts.alike + counts.changed + counts.only_a + counts.only_b;
  std::string what = absl::StrCat(Plural(others, "instruction differs", "instructions differ"));
  if (others == 0)
    what = diff.shardings.empty() ? "donated arguments differ" : "arguments or results are cut differently";
  return absl::StrCat(name_a, " and ", name_b, ": ", sends, "; ", what);
}

std::string DiffText(const ProgramDiff& diff, int width, bool full) {
  std::string out = DiffSummary(diff) + "\n";
  if (diff.same) return out + Reservations(diff);
  const Limits limits = full ? kAll : Limits();
  const Section sent = {"sent, where it differs", BytesText, "sends", "send", "array", true, limits, width};
  const Section flops = {
      "flops, where they differ", FlopsText, "computes", "compute", "product", false, limits, width};
  const Section memory = {
      "memory at the peak, where it differs", BytesText, "takes", "take", "value", false, limits, width};
  absl::StrAppend(&out, FigureLines(diff), Reservations(diff), CostLines(diff.sent, sent),
                  CostLines(diff.flops, flops), CostLines(diff.memory, memory),
                  ShardingLines(diff.shardings, limits, width), InstructionLines(diff, limits, width));
  return out;
}

}  // namespace toroid
