// custom-call: the known targets, in one table from target name to kernel.
//
// Identities   Sharding, SPMDFullToShardShape and SPMDShardToFullShape (where both shapes agree),
//              ShardBarrierFrom, ShardBarrierTo, annotate_device_placement, MoveToHost, MoveToDevice,
//              PinToDevice, PinToDeviceSram, Pin, Unpin, LayoutConstraint, InspectSharding,
//              AssumeGatherIndicesInBound, and all of xla.sdy.*
// Halos        _SPMDInternalOp_RotateRight, _MultiRotate, _MultiSlice, _MultiPad, _Wrap (custom_halo.h)
// Selection    TopK, mhlo.topk (topk.h), ApproxTopK, PartialReduce (approximate_topk.h)
// Elementwise  mhlo.erf, .tan, .sinh, .cosh, .asin, .acos, .atan, .asinh, .acosh, .atanh
//              (custom_elementwise.h)
// Bits         X64Combine, X64SplitLow, X64SplitHigh (custom_elementwise.h)
// Dynamic      PadToStatic, SliceToDynamic (runtime/dynamic/dynamic_size.h)
//
// Linear algebra, in programs that link //runtime/kernels/linear_algebra:
// Matrices     Cholesky, Eigh, Qr, LuDecomposition, ProductOfElementaryHouseholderReflectors
//              (decompositions.h)
// LAPACK       lapack_sgetrf_ffi and others that JAX calls on CPU (lapack.h)
//
// A program can add targets while it runs: RegisterCustomCall. docs/adding_an_op.md tells how to add one
// here.
// Errors: kUnimplemented naming an unknown target.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteCustomCall(OpCall& call);

// Sets the kernel of a target, in place of any it has. Must not be called while modules run.
void RegisterCustomCall(absl::string_view target, Kernel kernel);

// Adds a finder: `find` returns the kernel of a target, or null for targets that it does not know. Must not
// be called while modules run.
void RegisterCustomCallFinder(Kernel (*find)(absl::string_view target));

// The sorted targets whose kernel was set by name, not by a finder.
std::vector<std::string> KnownCustomCalls();

}  // namespace toroid
