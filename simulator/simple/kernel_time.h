// Times of attention kernels and grouped products that are written in Pallas and come as custom calls (`tpu_custom_call`).
//
// A kernel cuts queries and keys into blocks, of which a mask says which are computed. Everything is in the module: the mask is
// the second operand, s8[.., q blocks, k blocks], 0 for a block that is skipped; the op's name says which pass it is. A block
// takes the longer of its products at the peak of the matrix units and of its other instructions, bundle by bundle, which were
// counted in emitted code. Source of the figures: kernels.textproto. Products of groups of rows: grouped_product.h.
#pragma once

#include <optional>

#include "hlo/ir/instruction.h"
#include "simulator/machines/core.pb.h"

namespace toroid {

struct KernelTime {
  double seconds = 0;
  double flops = 0;  // Of the blocks that are computed.
  double bytes = 0;  // Read and written; 0: operands and results once each.
  bool is_matrix_bound = false;
};

// Nullopt for what is no such kernel, or has no mask that can be read.
std::optional<KernelTime> KernelTimeOf(const Instruction& group, const CoreSpec& core);

}  // namespace toroid
