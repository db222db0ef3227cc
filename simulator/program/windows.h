// What a reduce-window folds.
#pragma once

#include "hlo/ir/instruction.h"

namespace toroid {

// A reduce-window whose result at i folds the elements up to i, or from i on: a cumulative sum.
bool IsRunningFold(const Instruction& reduce_window);

// Elements of a window, holes left out.
double WindowElements(const Instruction& op);

}  // namespace toroid
