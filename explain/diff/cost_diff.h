// How the costs of two programs differ, row by row: every byte, or flop, of each program is either in a row or the same in
// both.
//
// Items of the two programs stand for each other if they are of one kind and cost, and, in this order: belong to instructions
// that are matched; have one line and name (numbers aside); one line; one name. Of collectives, what is left of one kind and
// cost is the same elsewhere: such rows differ by nothing. All else is a row for each line of the author's program, whose sides
// list what each program has there. An item that runs n times counts as n items, so that a loop and its unrolled form are
// alike.
// Example: A gathers 4 kB twice at m.py:7, B once, and sums 2 kB there: one row, -4 kB + 2 kB = -2 kB.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explain/diff/cost_items.h"
#include "explain/diff/line_map.h"
#include "hlo/diff/match.h"

namespace toroid {

// Items of one kind and cost on one side of a row.
struct CostPart {
  std::string what;
  int64_t cost = 0;  // Of one execution.
  int64_t times = 0;
  double seconds = 0;
  std::string name;  // One for all of them.
  std::string step, source;
};

// kOtherTime: items that stand for each other at one line and take other times, as where other collectives share their links.
enum class CostRowKind : uint8_t { kOnlyA, kOnlyB, kChanged, kElsewhere, kOtherTime };

struct CostRow {
  CostRowKind kind = CostRowKind::kChanged;
  std::string name, place;  // The author's name and line; the line is that of B, if both have one.
  std::string place_in_a;   // If it is another one.
  std::vector<CostPart> a, b;
  int64_t cost_a = 0, cost_b = 0;
  double seconds_a = 0, seconds_b = 0;

  int64_t difference() const { return cost_b - cost_a; }
  double time_difference() const { return seconds_b - seconds_a; }
  // Whether both sides have the same items, at one line or elsewhere.
  bool is_same() const { return kind == CostRowKind::kElsewhere || kind == CostRowKind::kOtherTime; }
};

// Costs saturate; below that, total_a = same + the rows' cost_a, and likewise for b. The items' seconds differ in all by what
// the rows' differ, but for a rounding of half a picosecond for each item.
struct CostDiff {
  int64_t total_a = 0, total_b = 0, same = 0;
  int64_t same_times = 0;     // Items of A that have one in B at the same line or of the same name.
  std::vector<CostRow> rows;  // Largest difference first; those of kElsewhere and kOtherTime last.
};

// Whether items at different lines, with different names, may stand for each other.
enum class Elsewhere : bool { kNo, kYes };

CostDiff DiffCosts(const std::vector<CostItem>& a, const std::vector<CostItem>& b, const ModuleMatch& match,
                   const LineMap& lines, Elsewhere elsewhere);

}  // namespace toroid
