#include "explain/diff/line_map.h"

#include <map>
#include <string>

#include "hlo/analysis/source_frames.h"

namespace toroid {
namespace {

bool HaveOneOpName(const Instruction& a, const Instruction& b) {
  return a.metadata() != nullptr && b.metadata() != nullptr && !a.metadata()->op_name().empty() &&
         a.metadata()->op_name() == b.metadata()->op_name();
}

}  // namespace

LineMap MovedLines(const Module& a, const Module& b, const ModuleMatch& match) {
  SourceFrames frames_a(a), frames_b(b);
  std::map<std::string, std::map<std::string, int64_t>> votes;
  for (const auto& computation : a.computations()) {
    for (const auto& op : computation->instructions()) {
      const Instruction* partner = match.PartnerOf(*op);
      if (partner == nullptr || !HaveOneOpName(*op, *partner) || match.LikenessOf(*op) < Likeness::kAlike)
        continue;
      const std::string line = frames_a.LineOf(op->metadata());
      if (!line.empty()) ++votes[line][frames_b.LineOf(partner->metadata())];
    }
  }
  LineMap moved;
  for (const auto& [line, lines] : votes) {
    const std::string* best = &line;
    const auto stayed = lines.find(line);
    int64_t most = stayed == lines.end() ? 0 : 2 * stayed->second;
    for (const auto& [other, count] : lines) {
      if (count <= most || other.empty()) continue;
      most = count;
      best = &other;
    }
    if (*best != line) moved[line] = *best;
  }
  return moved;
}

}  // namespace toroid
