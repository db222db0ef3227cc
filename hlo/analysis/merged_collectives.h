// Collectives of several arrays that MergeCollectivesPass merged from collectives of one array.
//
// A merged collective is recognized by the causes on the get-tuple-elements of its arrays
// (hlo/ir/cause_attribute.h).
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "hlo/ir/module.h"

namespace toroid {

class MergedCollectives {
 public:
  // Valid until an instruction is removed from the computation.
  explicit MergedCollectives(const Computation& computation);

  bool empty() const { return elements_.empty(); }
  // By number of the array: its get-tuple-element, or null if the array has none. Empty for any other
  // instruction.
  absl::Span<const Instruction* const> ElementsOf(const Instruction& collective) const {
    const auto it = elements_.find(&collective);
    return it == elements_.end() ? absl::Span<const Instruction* const>() : absl::MakeConstSpan(it->second);
  }

 private:
  absl::flat_hash_map<const Instruction*, std::vector<const Instruction*>> elements_;
};

}  // namespace toroid
