// Instructions with side effects.
#pragma once

#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

// The side effects of a module, found in one walk over it. Valid until an instruction is added or changed.
class SideEffects {
 public:
  explicit SideEffects(const Module& module);

  // True if the instruction must stay even if nothing uses its result: transfers, random state, custom calls
  // marked so, unknown opcodes, and callers of a computation that holds one of these. A collective has no
  // side effect: all devices run one program, so all of them drop it together.
  bool Has(const Instruction& instruction) const;
  bool Has(const Computation& computation) const { return has_[computation.index()]; }

 private:
  std::vector<bool> has_;  // By computation.
};

}  // namespace toroid
