// bitcast-convert and bitcast: the same bits under another type or shape.
//
// bitcast-convert: from width k*w to w appends a dimension of size k, whose part 0 holds the least
// significant bits; from w to k*w removes one. Sub-byte elements take a byte each in storage, so their bits
// are packed and unpacked here. bitcast: reads the elements in the order of the operand's layout, writes them
// in the order of the result's. It is a reshape if both are row-major; if the types differ, bits are
// regrouped.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteBitcastConvert(OpCall& call);
// Errors: kUnimplemented for layouts with tiles.
absl::Status ExecuteBitcast(OpCall& call);

}  // namespace toroid
