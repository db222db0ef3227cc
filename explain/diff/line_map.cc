#include "explain/diff/line_map.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

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

LineMap::LineMap(const Module& a, const ModuleMatch& match, SourceFrames* frames_a, SourceFrames* frames_b) {
  std::map<std::pair<std::string, int64_t>, std::map<int64_t, int64_t>>
      votes;  // By line of A, by how far it moved.
  for (const auto& computation : a.computations()) {
    for (const auto& op : computation->instructions()) {
      if (op->metadata() == nullptr || match.LikenessOf(*op) != Likeness::kSame) continue;
      const xla::OpMetadata* of_partner = match.PartnerOf(*op)->metadata();
      if (of_partner == nullptr || of_partner->op_name() != op->metadata()->op_name()) continue;
      const std::optional<Line> from = ParseLine(frames_a->LineOf(op->metadata()));
      if (!from) continue;
      const std::optional<Line> to = ParseLine(frames_b->LineOf(of_partner));
      if (to && to->file == from->file) ++votes[{from->file, from->number}][to->number - from->number];
    }
  }
  for (const auto& [line, by_move] : votes) {
    const auto most = std::max_element(by_move.begin(), by_move.end(),
                                       [](const auto& x, const auto& y) { return x.second < y.second; });
    const auto stayed = by_move.find(0);
    const bool stays = stayed != by_move.end() && 2 * stayed->second >= most->second;
    moves_[line.first].push_back({line.second, stays ? 0 : most->first});  // In the order of lines.
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
