// Names as HLO text can spell them, unique in their scope.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/module.h"

namespace toroid {

// `name` with characters outside [A-Za-z0-9_.-] replaced by `_`; `fallback` for an empty name.
std::string SpellableName(absl::string_view name, absl::string_view fallback);

// Names of all computations and instructions of a module.
class TextNames {
 public:
  explicit TextNames(const Module& module);
  const std::string& operator()(const Computation& computation) const {
    return computations_[computation.index()];
  }
  const std::string& operator()(const Instruction& instruction) const {
    return instructions_[instruction.computation()->index()][instruction.index()];
  }

 private:
  std::vector<std::string> computations_;
  std::vector<std::vector<std::string>> instructions_;
};

}  // namespace toroid
