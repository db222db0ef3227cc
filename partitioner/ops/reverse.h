// Rows in reverse order.
#pragma once

#include "partitioner/spmd/spmd_builder.h"

namespace toroid {

// The local rows of dimension `d`, of n rows cut over `axes`, in reverse order.
Instruction* ReverseCut(SpmdBuilder& b, Instruction* x, int d, int64_t n, const AxisList& axes);

}  // namespace toroid
