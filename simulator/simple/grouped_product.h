// Products of groups of rows, each with a matrix of its own: the Pallas kernels of Megablox.
//
//   rows[m,k] x matrices[g,k,n] -> [m,n]    (gmm; the matrices may be [g,n,k])
//   rows[m,k], rows[m,n] -> matrices[g,k,n] (tgmm, the matrices' gradient)
// Which rows belong to which matrix is known when it runs. The kernel cuts rows into blocks of block_m, and does a block
// once for each group in it: with groups of any size m / block_m + g - 1 times, where the device has all groups; of a part of
// them, that share of the rows is assumed. Block sizes are in the kernel's body (kernel_body.h).
// Operands before the arrays: [number of blocks,] offsets of groups, group of each block, rows of each block, first group.
#pragma once

#include <optional>

#include "hlo/ir/instruction.h"

namespace toroid {

struct GroupedProduct {
  double block_m = 1, block_k = 1, block_n = 1;
  double blocks = 1;            // Of block_m x block_k x block_n.
  bool is_of_matrices = false;  // tgmm: sums are of [block_k, block_n].
  double flops = 0;             // Of the rows, each once.
  double bytes = 0;             // A block of an operand is read again when another one was read between.
};

// Nullopt for a call that has not these operands, or no readable body.
std::optional<GroupedProduct> GroupedProductOf(const Instruction& call);

}  // namespace toroid
