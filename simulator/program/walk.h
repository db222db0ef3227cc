// Walks over instructions, nearest first, that stop after a number of them.
//
//   constexpr WalkLimit kProducers = {"producers of an operand", 64};
//   for (Walk walk(&value, kProducers); const Instruction* at = walk.Next();) {
//     for (const Instruction* operand : at->operands()) walk.Add(operand);
//   }
// A walk that meets its limit is reported to the compiler's scope (simulator/rules/compiler_scope.h).
#pragma once

#include <cstddef>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/ir/instruction.h"
#include "simulator/rules/walk_limit.h"

namespace toroid {

class Walk {
 public:
  Walk(const Instruction* first, const WalkLimit& limit) : limit_(limit), found_({first}) {}

  // The next one, in the order in which they were added; null if there is none, or at the limit.
  const Instruction* Next() {
    if (next_ == found_.size()) return nullptr;
    if (next_ == limit_.most) {
      ReportLimit(limit_);
      is_stopped_ = true;
      return nullptr;
    }
    return found_[next_++];
  }
  // Unless it was added before.
  void Add(const Instruction* value) {
    if (!Has(value)) found_.push_back(value);
  }
  // Whether or not it was added before: each way to it counts.
  void AddAgain(const Instruction* value) { found_.push_back(value); }
  bool Has(const Instruction* value) const { return absl::c_linear_search(found_, value); }
  // Next() returned null at the limit.
  bool is_stopped() const { return is_stopped_; }

 private:
  const WalkLimit& limit_;
  std::vector<const Instruction*> found_;
  size_t next_ = 0;
  bool is_stopped_ = false;
};

}  // namespace toroid
