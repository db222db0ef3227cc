// Dimensions of one element: adding, dropping and moving them moves no data.
#ifndef TOROID_SIMULATOR_LOWERING_UNIT_DIMS_H_
#define TOROID_SIMULATOR_LOWERING_UNIT_DIMS_H_

#include "hlo/ir/shape.h"

namespace toroid {

// Numbers of the dimensions of more than one element, in order.
Dims SizedDims(const Shape& shape);

// Both have the same sizes once dimensions of one element are dropped.
bool SameButUnitDims(const Shape& a, const Shape& b);

// A reshape that leaves data in place: its layouts have the same minor dimension, and rows are merged or split in whole
// tiles of `sublanes` rows. The layouts are such that elements follow each other in the same order.
bool KeepsTiles(const Shape& from, const Shape& to, int64_t sublanes);

}  // namespace toroid

#endif  // TOROID_SIMULATOR_LOWERING_UNIT_DIMS_H_
