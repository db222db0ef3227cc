#include "explain/diff/line_map.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "hlo/analysis/source_frames.h"

namespace toroid {
namespace {

struct Line {
  std::string file;
  int64_t number = 0;
};

std::optional<Line> ParseLine(const std::string& text) {
  const size_t colon = text.rfind(':');
  Line line;
  if (colon == std::string::npos ||
      !absl::SimpleAtoi(absl::string_view(text).substr(colon + 1), &line.number)) {
    return std::nullopt;
  }
  line.file = text.substr(0, colon);
  return line;
}

}  // namespace

LineMap::LineMap(const Module& a, const Module& b, const ModuleMatch& match) {
  SourceFrames frames_a(a), frames_b(b);
  std::map<std::pair<std::string, int64_t>, std::map<int64_t, int64_t>>
      votes;  // By line of A, by how far it moved.
  for (const auto& computation : a.computations()) {
    for (const auto& op : computation->instructions()) {
      if (op->metadata() == nullptr || match.LikenessOf(*op) != Likeness::kSame) continue;
      const std::optional<Line> from = ParseLine(frames_a.LineOf(op->metadata()));
      if (!from) continue;
      const std::optional<Line> to = ParseLine(frames_b.LineOf(match.PartnerOf(*op)->metadata()));
      if (to && to->file == from->file) ++votes[{from->file, from->number}][to->number - from->number];
    }
  }
  for (const auto& [line, by_move] : votes) {
    const auto most = std::max_element(by_move.begin(), by_move.end(), [](const auto& x, const auto& y) {
      return std::make_pair(x.second, x.first == 0) < std::make_pair(y.second, y.first == 0);
    });
    moves_[line.first].push_back({line.second, most->first});  // In the order of lines.
  }
}

std::string LineMap::LineInB(const std::string& line_in_a) const {
  const std::optional<Line> line = ParseLine(line_in_a);
  if (!line) return line_in_a;
  const auto moves = moves_.find(line->file);
  if (moves == moves_.end()) return line_in_a;
  auto after =
      std::upper_bound(moves->second.begin(), moves->second.end(), std::make_pair(line->number, INT64_MAX));
  if (after != moves->second.begin()) --after;
  return absl::StrCat(line->file, ":", line->number + after->second);
}

}  // namespace toroid
