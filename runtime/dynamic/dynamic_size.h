// Run-time sizes of dynamic dimensions: how buffers keep them, and the ops that read and set them.
//
// An array has room for its bound; MeshBuffer::sizes says how much of it is valid. Other ops run on the valid
// part (dynamic_shapes.h).
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// `buffer` holds arrays of static shape `shape`, one per row. Gives arrays of shape `bound`, zero beyond
// `shape`, with `shape` as their valid part. `rows`: 1 for a uniform buffer. Errors: kResourceExhausted.
absl::Status PadToBound(const MeshBuffer& buffer, const Shape& shape, const Shape& bound, int64_t rows,
                        MeshBuffer* result);

// The valid parts, compact, of rows that are all valid up to `shape`. Errors: kResourceExhausted.
absl::Status CutValidPart(const MeshBuffer& buffer, const Shape& bound, const Shape& shape, int64_t rows,
                          MeshBuffer* result);

// The run-time shape of row `row`, static; the bound where no size is known.
Shape RunTimeShape(const MeshBuffer& buffer, const Shape& bound, int64_t row);

// A copy of the array without sizes. Errors: kResourceExhausted.
absl::Status CopyArray(const MeshBuffer& buffer, MeshBuffer* copy);

// get-dimension-size, set-dimension-size, dynamic-reshape.
// Errors: kInvalidArgument for sizes outside [0, bound] and for element counts that differ.
absl::Status ExecuteGetDimensionSize(OpCall& call);
absl::Status ExecuteSetDimensionSize(OpCall& call);
absl::Status ExecuteDynamicReshape(OpCall& call);

// The custom-calls between static and dynamic arrays: PadToStatic(x) gives (x with its bound, s32 sizes ...),
// SliceToDynamic(x, s32 sizes ...) gives the array whose valid part has these sizes.
absl::Status PadToStatic(OpCall& call);
absl::Status SliceToDynamic(OpCall& call);

}  // namespace toroid
