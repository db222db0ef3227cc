#include "runtime/engine/kernel_table.h"

#include "hlo/base/status.h"
#include "runtime/collectives/all_gather.h"
#include "runtime/collectives/all_reduce.h"
#include "runtime/collectives/all_to_all.h"
#include "runtime/collectives/collective_permute.h"
#include "runtime/collectives/host_transfer.h"
#include "runtime/collectives/reduce_scatter.h"
#include "runtime/dynamic/dynamic_size.h"
#include "runtime/kernels/batch_norm.h"
#include "runtime/kernels/bitcast_convert.h"
#include "runtime/kernels/control_flow.h"
#include "runtime/kernels/convolution.h"
#include "runtime/kernels/custom_call.h"
#include "runtime/kernels/dot.h"
#include "runtime/kernels/dynamic_slice.h"
#include "runtime/kernels/elementwise.h"
#include "runtime/kernels/fft.h"
#include "runtime/kernels/gather.h"
#include "runtime/kernels/linear_algebra.h"
#include "runtime/kernels/map.h"
#include "runtime/kernels/movement.h"
#include "runtime/kernels/ragged_dot.h"
#include "runtime/kernels/reduce.h"
#include "runtime/kernels/reduce_window.h"
#include "runtime/kernels/rng.h"
#include "runtime/kernels/scatter.h"
#include "runtime/kernels/select_and_scatter.h"
#include "runtime/kernels/sort.h"
#include "runtime/kernels/structure.h"
#include "runtime/kernels/topk.h"

namespace toroid {

Kernel KernelOf(Opcode opcode) {
  switch (opcode) {
#define HLO_OP(enumerator, name, arity, family, attributes, traits) \
  case Opcode::enumerator:                                          \
    return Execute##family;
#include "hlo/opcode.inc"
#undef HLO_OP
    case Opcode::kUnknown:
      break;
  }
  TOROID_CHECK(false, "kernel of an unknown opcode");
  return nullptr;
}

int64_t ScratchBytes(const Instruction& instruction, absl::Span<const int64_t> rows) {
  switch (instruction.opcode()) {
    case Opcode::kDot:
      return DotScratchBytes(instruction, rows);
    case Opcode::kSort:
      return SortScratchBytes(instruction, rows);
    case Opcode::kConvolution:
      return ConvolutionScratchBytes(instruction, rows);
    case Opcode::kFft:
      return FftScratchBytes(instruction, rows);
    case Opcode::kReduce:
      return ReduceScratchBytes(instruction, rows);
    case Opcode::kReduceWindow:
      return ReduceWindowScratchBytes(instruction, rows);
    case Opcode::kSelectAndScatter:
      return SelectAndScatterScratchBytes(instruction, rows);
    case Opcode::kScatter:
      return ScatterScratchBytes(instruction, rows);
    default:
      return 0;
  }
}

}  // namespace toroid
