// The part of a total that each member of a group keeps.
#pragma once

#include <cstdint>

#include "runtime/loops/strided_copy.h"

namespace toroid {

struct ScatteredBlocks {
  StridedLoop loop;   // From the member's block of the total to its row of the result.
  int64_t step = 0;   // Bytes of the total from a member's block to the next member's.
  int64_t bytes = 0;  // Bytes of a row of the result.
};

}  // namespace toroid
