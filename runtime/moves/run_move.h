// A step that writes an array from boxes of others.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "runtime/moves/boxes.h"
#include "runtime/plan/op_call.h"

namespace toroid {

struct Move : KernelCache {
  Boxes boxes;                            // `slot` is the number of an operand.
  std::vector<int64_t> operand_elements;  // Per device.
  // The result is operand 0, element by element.
  bool is_operand = false;
};

// A kernel: runs the move that the step keeps as its cache. The result is uniform if all operands are.
// Errors: kResourceExhausted.
absl::Status ExecuteMove(OpCall& call);

// The move that a step runs; null if it runs something else.
const Move* MoveOf(const Step& step);

// One line per box.
std::string ToString(const Move& move);

}  // namespace toroid
