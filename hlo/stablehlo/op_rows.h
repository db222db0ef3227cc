// The families of operations, one file each. A row says how one operation of StableHLO becomes HLO.
// BUILD: srcs += "elementwise_rows.cc", "movement_rows.cc", "contraction_rows.cc", "reduction_rows.cc"
// BUILD: srcs += "control_flow_rows.cc", "collective_rows.cc", "call_rows.cc", "shardy_rows.cc"
// BUILD: srcs += "linear_algebra_rows.cc", "chlo_rows.cc", "transfer_rows.cc"
// BUILD: srcs += "body_converter.h", "body_converter.cc", "op_conversion.h", "op_conversion.cc"
#pragma once

#include "absl/types/span.h"
#include "hlo/stablehlo/body_converter.h"
#include "hlo/stablehlo/op_conversion.h"

namespace toroid {

absl::Span<const OpRow> ElementwiseRows();
absl::Span<const OpRow> MovementRows();     // Broadcasts, reshapes, slices, gathers.
absl::Span<const OpRow> ContractionRows();  // Products and convolutions.
absl::Span<const OpRow> ReductionRows();    // Operations that run a region on scalars.
absl::Span<const OpRow> ControlFlowRows();
absl::Span<const OpRow> CollectiveRows();
absl::Span<const OpRow> CallRows();      // Calls of functions and of other programs.
absl::Span<const OpRow> TransferRows();  // Infeed, outfeed, send, recv.
absl::Span<const OpRow> LinearAlgebraRows();
absl::Span<const OpRow> ShardyRows();
absl::Span<const OpRow> ChloRows();

}  // namespace toroid
