// Arrays that were cut and were replicated: the findings of --stats and --explain.
#ifndef TOROID_PARTITIONER_PROVENANCE_REPLICATION_LOG_H_
#define TOROID_PARTITIONER_PROVENANCE_REPLICATION_LOG_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

// An op computed on replicated arrays although some operand or its result was cut, or an operand that was replicated.
struct FullReplication {
  std::string instruction;
  std::string source;
  int64_t bytes = 0;
  std::string reason;
};

// Collects them in the order in which they are found.
class ReplicationLog {
 public:
  // `module`: the global program, whose source lines are told.
  explicit ReplicationLog(const Module& module) : module_(module) {}

  void Add(const Instruction& instruction, int64_t bytes, std::string reason) {
    entries_.push_back(
        {instruction.name(), SourceLine(module_, instruction.metadata()), bytes, std::move(reason)});
  }
  const std::vector<FullReplication>& entries() const { return entries_; }

 private:
  const Module& module_;
  std::vector<FullReplication> entries_;
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PROVENANCE_REPLICATION_LOG_H_
