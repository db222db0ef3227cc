// Arrays that were cut but had to be replicated; --stats and --explain print them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hlo/analysis/source_frames.h"
#include "hlo/ir/module.h"

namespace toroid {

// An op computed on replicated arrays although an operand or its result was cut; an operand replicated
// although the op could take it in shards; an array of dynamic size that stays replicated although the module
// asks to cut it; or a resharding that needs more memory than its source and target.
struct FullReplication {
  std::string instruction;
  std::string source;
  int64_t bytes = 0;
  std::string reason;
};

// Collects the findings, in the order in which they are added.
class ReplicationLog {
 public:
  // `module`: the global program, which gives the source lines of the findings.
  explicit ReplicationLog(const Module& module) : frames_(module) {}

  void Add(const Instruction& instruction, int64_t bytes, std::string reason) {
    entries_.push_back(
        {instruction.name(), frames_.LineOf(instruction.metadata()), bytes, std::move(reason)});
  }
  const std::vector<FullReplication>& entries() const { return entries_; }

 private:
  SourceFrames frames_;
  std::vector<FullReplication> entries_;
};

}  // namespace toroid
