// custom-call: the targets whose meaning is known, by a registry from target name to kernel.
//
// Identities: Sharding, SPMDFullToShardShape and SPMDShardToFullShape (where both shapes agree), Shardy's
// markers (xla.sdy.*), placements, layout constraints and barriers. Numerics: TopK and mhlo.topk, X64Combine
// and splits, rotations, mhlo.erf and its kind, Cholesky. Errors: kUnimplemented naming an unknown target.
#ifndef TOROID_RUNTIME_KERNELS_CUSTOM_CALL_H_
#define TOROID_RUNTIME_KERNELS_CUSTOM_CALL_H_

#include "absl/status/status.h"
#include "runtime/op_call.h"

namespace toroid {

absl::Status ExecuteCustomCall(OpCall& call);

}  // namespace toroid

#endif  // TOROID_RUNTIME_KERNELS_CUSTOM_CALL_H_
