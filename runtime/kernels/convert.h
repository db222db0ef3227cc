// convert: out[i] = x[i] as the result's element type (convert_value.h states the rules).
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

using ConvertLoop = void (*)(const void* in, void* out, int64_t n);

// Null if one of the types is no array type.
ConvertLoop FindConvertLoop(PrimitiveType from, PrimitiveType to);

absl::Status ExecuteConvert(OpCall& call);

}  // namespace toroid
