// Convolutions as products of matrices: a table of forms, each with its sizes (matrix_work.h).
#pragma once

#include "hlo/ir/instruction.h"
#include "simulator/chip/matrix_work.h"

namespace toroid {

// Batch, m, k and n of a convolution, and how its operands pass. Requires: two operands.
MatrixWork SizesOfConvolution(const Instruction& convolution, const CoreSpec& core);

}  // namespace toroid
