// The metadata of instructions as locations of MLIR; the reverse of op_metadata.h.
#pragma once

#include <string>

#include "hlo/ir/module.h"

namespace toroid {

class LocationTexts {
 public:
  // `module` must outlive this.
  explicit LocationTexts(const Module& module) : module_(module) {}

  // ` loc("jit(f)/dot"(#frame3))`, or "" if the instruction has neither name nor place.
  std::string Of(const Instruction& instruction);

  // The lines that define the frames: #frame3 = loc(callsite("f"("m.py":3:5) at #frame2)).
  std::string aliases() const;

 private:
  const Module& module_;
};

}  // namespace toroid
