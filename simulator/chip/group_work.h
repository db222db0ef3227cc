// What a group of instructions that run as one asks of each unit of a core.
//
// A group is a fusion, or an instruction alone. Its operands come from memory, its results go there; whatever is between
// them stays on the chip. Sizes are those of padded tiles (simulator/program/tiling.h).
// BUILD: srcs += "accountant.h", "accountant.cc", "fused_work.cc"
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/ir/module.h"
#include "simulator/chip/matrix_work.h"
#include "simulator/machines/core.pb.h"

namespace toroid {

struct GroupWork {
  // Products of matrices. One that reads the result of another one stands before that one.
  std::vector<MatrixWork> products;
  // Bytes that are read and written, without those from which operands of products are made.
  double bytes = 0;
  // Those of them that are written.
  double written_bytes = 0;
  // Bytes of a 32-bit array that the compiler counts though the program has none: a group that writes no 32-bit array as large
  // as those that it works on writes one anyway, in whole registers (rule kept_32_bit_words).
  double spill_bytes = 0;
  // Vector instructions, one for each register, and registers of the arrays that the group works on. Of groups with products:
  // of what is done to their results.
  double slots = 0;
  double registers = 0;
  // Registers that instructions load from operands and store to results.
  double accesses = 0;
  // Cycles in which elements change their place within registers.
  double movement_cycles = 0;
  // Cycles in which predicates are packed into bytes, after arithmetic and before they are stored.
  double packing_cycles = 0;
  // Rows that are read or written one by one, at indices.
  double rows = 0;
  // An instruction alone, whose windows are smaller than a group's. Copies and concatenations have windows as large as a
  // group's.
  bool single = false;
  // What an ideal core would have to do: no padding, no recomputation.
  double matrix_flops = 0, vector_flops = 0;
  double ideal_bytes = 0;

  template <typename H>
  friend H AbslHashValue(H h, const GroupWork& w) {
    return H::combine(std::move(h), w.products, w.bytes, w.written_bytes, w.spill_bytes, w.slots, w.registers,
                      w.accesses, w.movement_cycles, w.packing_cycles, w.rows, w.single, w.matrix_flops,
                      w.vector_flops, w.ideal_bytes);
  }
  bool operator==(const GroupWork&) const = default;
};

// What an instruction of a lowered module asks for. Nothing for parameters, tuples and the like, which take no time, and for
// calls, loops, branches and collectives, whose time is counted elsewhere.
GroupWork GroupWorkOf(const Instruction& group, const CoreSpec& core);

}  // namespace toroid
