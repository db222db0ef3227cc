// Reducing rows over device groups, the arithmetic of all-reduce and reduce-scatter.
#ifndef TOROID_RUNTIME_COLLECTIVES_GROUP_REDUCTION_H_
#define TOROID_RUNTIME_COLLECTIVES_GROUP_REDUCTION_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/op_call.h"

namespace toroid {

// Calls deliver(group number, total) with the element-wise reduction of operand i over the members of each
// group, in the order of the group: to_apply(to_apply(x_0, x_1), x_2) ...; narrow floats of one-op bodies are
// summed in f32 and rounded once. `total` has the bytes of one row and is valid during the call. Errors:
// those of to_apply, kResourceExhausted.
absl::Status ReduceGroups(OpCall& call, int i, const std::vector<std::vector<int64_t>>& groups,
                          absl::FunctionRef<void(int64_t group, const char* total)> deliver);

}  // namespace toroid

#endif  // TOROID_RUNTIME_COLLECTIVES_GROUP_REDUCTION_H_
