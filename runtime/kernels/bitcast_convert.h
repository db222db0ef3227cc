// bitcast-convert and bitcast: the same bits under another type or shape.
//
// bitcast-convert: from width k*w to w appends a dimension of k, part 0 holding the least significant bits;
// from w to k*w removes one. Sub-byte elements take a byte each in storage, so their bits are packed and
// unpacked here. bitcast: the elements in the order of the operand's layout, read in the order of the result's;
// a reshape where both are row-major; with bits regrouped if the types differ.
#ifndef TOROID_RUNTIME_KERNELS_BITCAST_CONVERT_H_
#define TOROID_RUNTIME_KERNELS_BITCAST_CONVERT_H_

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteBitcastConvert(OpCall& call);
// Errors: kUnimplemented for layouts with tiles.
absl::Status ExecuteBitcast(OpCall& call);

}  // namespace toroid

#endif  // TOROID_RUNTIME_KERNELS_BITCAST_CONVERT_H_
