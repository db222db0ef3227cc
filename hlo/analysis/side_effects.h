// Which instructions act beyond their results.
#ifndef TOROID_HLO_ANALYSIS_SIDE_EFFECTS_H_
#define TOROID_HLO_ANALYSIS_SIDE_EFFECTS_H_

#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

// The side effects of a module, found in one walk over it. It holds as long as no instruction is added or changed.
class SideEffects {
 public:
  explicit SideEffects(const Module& module);

  // True if the instruction must stay although nothing uses its result: transfers, random state, custom calls
  // marked so, opcodes that are not known, and whatever calls a computation that holds one of them. A collective
  // is none: all devices run one program, so all of them leave it out.
  bool Has(const Instruction& instruction) const;
  bool Has(const Computation& computation) const { return has_[computation.index()]; }

 private:
  std::vector<bool> has_;  // By computation.
};

}  // namespace toroid

#endif  // TOROID_HLO_ANALYSIS_SIDE_EFFECTS_H_
