#include "explain/diff/cost_diff.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "explain/explanation.h"
#include "hlo/base/math.h"

namespace toroid {
namespace {

// The name with # for each number: names that differ by numbers alone have the same one.
std::string WithoutNumbers(absl::string_view name) {
  std::string out;
  for (const char c : name) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) {
      out += c;
    } else if (out.empty() || out.back() != '#') {
      out += '#';
    }
  }
  return out;
}

std::string Key(absl::string_view kind, int64_t cost, absl::string_view where) {
  return absl::StrCat(kind, "\n", cost, "\n", where);
}

// Times of one item are read as equal below half a picosecond, the simulator's unit.
constexpr double kSameSeconds = 0.5e-12;

// Of so many executions of an item.
double SecondsOf(const CostItem& item, int64_t times) {
  return item.times == 0 ? 0 : item.seconds * static_cast<double>(times) / static_cast<double>(item.times);
}

// The items of one program, and how many executions of each have no counterpart yet.
struct Side {
  explicit Side(const std::vector<CostItem>& of) : items(of) {
    for (const CostItem& item : items) {
      left.push_back(item.times);
      total = SaturatingAdd(total, SaturatingMultiply(item.cost, item.times));
      plain_names.push_back(WithoutNumbers(item.name));
    }
  }

  const std::vector<CostItem>& items;
  std::vector<int64_t> left;
  std::vector<std::string> plain_names, places;  // Places: lines of B.
  int64_t total = 0;
};

// Collects parts into a row.
class RowParts {
 public:
  void Add(const CostItem& item, const std::string& plain_name, int64_t times) {
    Collected& part = parts_[{item.what, item.cost, plain_name}];
    if (part.names.empty()) {
      part.part = {.what = item.what, .cost = item.cost, .step = item.step, .source = item.source};
    }
    part.part.times = SaturatingAdd(part.part.times, times);
    part.part.seconds += SecondsOf(item, times);
    part.names.push_back(item.name);
  }

  // Most cost first. Adds to the sums.
  std::vector<CostPart> Take(int64_t* cost, double* seconds) {
    std::vector<CostPart> out;
    for (auto& [key, collected] : parts_) {
      collected.part.name = NameOfAll(collected.names);
      *cost = SaturatingAdd(*cost, SaturatingMultiply(collected.part.cost, collected.part.times));
      *seconds += collected.part.seconds;
      out.push_back(std::move(collected.part));
    }
    std::stable_sort(out.begin(), out.end(), [](const CostPart& x, const CostPart& y) {
      return SaturatingMultiply(x.cost, x.times) > SaturatingMultiply(y.cost, y.times);
    });
    return out;
  }

 private:
  struct Collected {
    CostPart part;
    std::vector<std::string> names;
  };
  std::map<std::tuple<std::string, int64_t, std::string>, Collected> parts_;
};

class Differ {
 public:
  Differ(const std::vector<CostItem>& a, const std::vector<CostItem>& b, const ModuleMatch& match,
         const LineMap& lines)
      : a_(a), b_(b), match_(match) {
    for (const CostItem& item : a) a_.places.push_back(lines.LineInB(item.place));
    for (const CostItem& item : b) b_.places.push_back(item.place);
  }

  CostDiff Run(Elsewhere elsewhere) {
    diff_.total_a = a_.total;
    diff_.total_b = b_.total;
    PairMatched();
    const auto same = [this](int i, int j, int64_t times) { CountSame(i, j, times); };
    Pair([](const Side& side, int i) { return absl::StrCat(side.places[i], "\n", side.plain_names[i]); },
         same);
    Pair([](const Side& side, int i) { return side.places[i]; }, same);
    Pair([](const Side& side, int i) { return absl::StrCat("\n", side.plain_names[i]); }, same);
    if (elsewhere == Elsewhere::kYes) PairElsewhere();
    AddRowsOfLines();
    AddRowsOfSame(other_times_, CostRowKind::kOtherTime);
    AddRowsOfSame(elsewhere_, CostRowKind::kElsewhere);
    return std::move(diff_);
  }

 private:
  struct SideParts {
    RowParts a, b;
    std::string place_in_a;
  };
  using RowsOfSame = std::map<std::pair<std::string, std::string>, SideParts>;  // By place in A and in B.
  using WhereOf = std::function<std::string(const Side&, int)>;
  using OnPair = std::function<void(int, int, int64_t)>;

  void CountSame(int i, int j, int64_t times) {
    if (times == 0) return;
    diff_.same_times = SaturatingAdd(diff_.same_times, times);
    if (std::abs(SecondsOf(b_.items[j], times) - SecondsOf(a_.items[i], times)) > kSameSeconds) {
      AddSame(i, j, times, &other_times_);
    } else {
      diff_.same = SaturatingAdd(diff_.same, SaturatingMultiply(a_.items[i].cost, times));
    }
  }

  void AddSame(int i, int j, int64_t times, RowsOfSame* rows) {
    SideParts& row = (*rows)[{a_.places[i], b_.places[j]}];
    row.a.Add(a_.items[i], a_.plain_names[i], times);
    row.b.Add(b_.items[j], b_.plain_names[j], times);
    row.place_in_a = a_.items[i].place;
  }

  int64_t Take(int i, int j) {
    const int64_t times = std::min(a_.left[i], b_.left[j]);
    a_.left[i] -= times;
    b_.left[j] -= times;
    return times;
  }

  // Items of instructions that are matched.
  void PairMatched() {
    absl::flat_hash_map<std::pair<const Instruction*, int>, int> of_b;
    for (size_t j = 0; j < b_.items.size(); ++j)
      of_b[{b_.items[j].op, b_.items[j].array}] = static_cast<int>(j);
    for (size_t i = 0; i < a_.items.size(); ++i) {
      const CostItem& item = a_.items[i];
      const auto found = of_b.find({item.op == nullptr ? nullptr : match_.PartnerOf(*item.op), item.array});
      if (found == of_b.end() || b_.items[found->second].op == nullptr) continue;
      const CostItem& other = b_.items[found->second];
      if (item.kind == other.kind && item.cost == other.cost) {
        CountSame(static_cast<int>(i), found->second, Take(static_cast<int>(i), found->second));
      }
    }
  }

  // Items of one kind and cost at one place, which is not "".
  void Pair(const WhereOf& where_of, const OnPair& on_pair) {
    absl::flat_hash_map<std::string, std::vector<int>> of_b;
    for (int j = static_cast<int>(b_.items.size()) - 1; j >= 0; --j) {
      const std::string where = where_of(b_, j);
      if (b_.left[j] > 0 && !where.empty()) of_b[Key(b_.items[j].kind, b_.items[j].cost, where)].push_back(j);
    }
    for (int i = 0; i < static_cast<int>(a_.items.size()); ++i) {
      if (a_.left[i] == 0) continue;
      const auto found = of_b.find(Key(a_.items[i].kind, a_.items[i].cost, where_of(a_, i)));
      while (found != of_b.end() && a_.left[i] > 0 && !found->second.empty()) {
        const int j = found->second.back();
        on_pair(i, j, Take(i, j));
        if (b_.left[j] == 0) found->second.pop_back();
      }
    }
  }

  void PairElsewhere() {
    Pair([](const Side&, int) { return std::string("\n"); },
         [this](int i, int j, int64_t times) { AddSame(i, j, times, &elsewhere_); });
  }

  // The line, or the name of what has none.
  static std::string PlaceOf(const Side& side, int i) {
    return side.places[i].empty() ? absl::StrCat("\n", side.plain_names[i]) : side.places[i];
  }

  void AddRowsOfLines() {
    std::map<std::string, SideParts> rows;
    for (size_t i = 0; i < a_.items.size(); ++i) {
      if (a_.left[i] == 0 || (a_.items[i].cost == 0 && a_.items[i].seconds == 0)) continue;
      SideParts& row = rows[PlaceOf(a_, static_cast<int>(i))];
      row.a.Add(a_.items[i], a_.plain_names[i], a_.left[i]);
      row.place_in_a = a_.items[i].place;
    }
    for (size_t j = 0; j < b_.items.size(); ++j) {
      if (b_.left[j] == 0 || (b_.items[j].cost == 0 && b_.items[j].seconds == 0)) continue;
      rows[PlaceOf(b_, static_cast<int>(j))].b.Add(b_.items[j], b_.plain_names[j], b_.left[j]);
    }
    for (auto& [place, parts] : rows) Append(parts, place[0] == '\n' ? "" : place);
    std::stable_sort(diff_.rows.begin(), diff_.rows.end(), [](const CostRow& x, const CostRow& y) {
      return std::make_pair(std::abs(x.difference()), std::max(x.cost_a, x.cost_b)) >
             std::make_pair(std::abs(y.difference()), std::max(y.cost_a, y.cost_b));
    });
  }

  void AddRowsOfSame(RowsOfSame& rows, CostRowKind kind) {
    const size_t before = diff_.rows.size();
    for (auto& [places, parts] : rows) {
      Append(parts, places.second);
      diff_.rows.back().kind = kind;
    }
    std::stable_sort(diff_.rows.begin() + static_cast<std::ptrdiff_t>(before), diff_.rows.end(),
                     [kind](const CostRow& x, const CostRow& y) {
                       if (kind == CostRowKind::kElsewhere) return x.cost_a > y.cost_a;
                       return std::abs(x.time_difference()) > std::abs(y.time_difference());
                     });
  }

  void Append(SideParts& parts, const std::string& place) {
    CostRow row;
    row.place = place;
    row.a = parts.a.Take(&row.cost_a, &row.seconds_a);
    row.b = parts.b.Take(&row.cost_b, &row.seconds_b);
    if (row.b.empty()) {
      row.kind = CostRowKind::kOnlyA;
      row.place = parts.place_in_a;
    } else if (row.a.empty()) {
      row.kind = CostRowKind::kOnlyB;
    } else if (parts.place_in_a != place) {
      row.place_in_a = parts.place_in_a;
    }
    row.name = row.b.empty() ? row.a[0].name : row.b[0].name;
    diff_.rows.push_back(std::move(row));
  }

  Side a_, b_;
  const ModuleMatch& match_;
  CostDiff diff_;
  RowsOfSame elsewhere_, other_times_;
};

}  // namespace

CostDiff DiffCosts(const std::vector<CostItem>& a, const std::vector<CostItem>& b, const ModuleMatch& match,
                   const LineMap& lines, Elsewhere elsewhere) {
  return Differ(a, b, match, lines).Run(elsewhere);
}

}  // namespace toroid
