// Which line of one program is which line of another, where the author's files changed in between.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/analysis/source_frames.h"
#include "hlo/diff/match.h"
#include "hlo/ir/module.h"

namespace toroid {

// A line of A with instructions that are computed alike in B (Likeness::kSame, of one op_name) is the line of B that most of
// their partners are from; it stays where it is if half as many say so.
// Any other line moved as far as the nearest such line before it in its file, or after it if there is none before.
// Example: three lines were inserted at the top of m.py: m.py:7 is m.py:10.
class LineMap {
 public:
  LineMap() = default;  // No line moved.
  LineMap(const Module& a, const ModuleMatch& match, SourceFrames* frames_a, SourceFrames* frames_b);

  // "FILE:LINE" of B for one of A; unchanged if it is no such text, or nothing is known of its file.
  std::string LineInB(const std::string& line_in_a) const;

 private:
  // By file, by line of A: how far lines moved from there on; sorted.
  absl::flat_hash_map<std::string, std::vector<std::pair<int64_t, int64_t>>> moves_;
};

}  // namespace toroid
