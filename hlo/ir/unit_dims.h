// Unit dimensions (of one element): adding, dropping and moving them moves no data.
#ifndef TOROID_HLO_IR_UNIT_DIMS_H_
#define TOROID_HLO_IR_UNIT_DIMS_H_

#include "hlo/ir/shape.h"

namespace toroid {

// Numbers of the dimensions with more than one element, in order.
Dims SizedDims(const Shape& shape);

// True if both have the same sizes without their unit dimensions.
bool SameButUnitDims(const Shape& a, const Shape& b);

}  // namespace toroid

#endif  // TOROID_HLO_IR_UNIT_DIMS_H_
