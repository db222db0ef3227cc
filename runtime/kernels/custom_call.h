// custom-call: the targets whose meaning is known, by one table from target name to kernel.
//
// Identities   Sharding, SPMDFullToShardShape and SPMDShardToFullShape (where both shapes agree), ShardBarrierFrom,
//              ShardBarrierTo, annotate_device_placement, MoveToHost, MoveToDevice, PinToDevice, PinToDeviceSram, Pin,
//              Unpin, LayoutConstraint, InspectSharding, AssumeGatherIndicesInBound, and all of xla.sdy.*
// Halos        _SPMDInternalOp_RotateRight, _MultiRotate, _MultiSlice, _MultiPad, _Wrap (custom_halo.h)
// Selection    TopK, mhlo.topk (topk.h), ApproxTopK, PartialReduce (approximate_topk.h)
// Elementwise  mhlo.erf, .tan, .sinh, .cosh, .asin, .acos, .atan, .asinh, .acosh, .atanh (custom_elementwise.h)
// Bits         X64Combine, X64SplitLow, X64SplitHigh (custom_elementwise.h)
// Dynamic      PadToStatic, SliceToDynamic (runtime/dynamic/dynamic_size.h)
//
// Those of linear algebra are there in programs that link //runtime/kernels/linear_algebra:
// Matrices     Cholesky, Eigh, Qr, LuDecomposition, ProductOfElementaryHouseholderReflectors (decompositions.h)
// LAPACK       lapack_sgetrf_ffi and others that JAX calls on CPU (lapack.h)
//
// Others can be added while a program runs: RegisterCustomCall. docs/adding_an_op.md says what a new target takes.
// Errors: kUnimplemented naming an unknown target.
#ifndef TOROID_RUNTIME_KERNELS_CUSTOM_CALL_H_
#define TOROID_RUNTIME_KERNELS_CUSTOM_CALL_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteCustomCall(OpCall& call);

// Gives a target a kernel, in place of any it has. Not while modules run.
void RegisterCustomCall(absl::string_view target, Kernel kernel);

// Gives targets the kernels that `find` returns for them; null for others. Not while modules run.
void RegisterCustomCallFinder(Kernel (*find)(absl::string_view target));

// The targets that have a kernel by name, not by a finder; sorted.
std::vector<std::string> KnownCustomCalls();

}  // namespace toroid

#endif  // TOROID_RUNTIME_KERNELS_CUSTOM_CALL_H_
