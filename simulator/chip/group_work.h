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
  // Those that read others' results first.
  std::vector<MatrixWork> products;
  // Read and written, but for what products read to make their operands.
  double bytes = 0;
  // Of them those that are written.
  double written_bytes = 0;
  // Elements passed through registers beyond that, as 4-byte words: a group that writes no 32-bit array as large as
  // what it works on keeps one anyway, in whole registers.
  double spill_bytes = 0;
  // Vector instructions, in registers, and registers of what the group works on. Of groups with products: after them.
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
  bool single =
      false;  // An instruction alone, but for copies and concatenations, which have windows as large as groups have.
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

// Of an instruction of a lowered module; nothing for what costs nothing (parameters, tuples, ...), and for calls, loops,
// branches and collectives, which others account for.
GroupWork GroupWorkOf(const Instruction& group, const CoreSpec& core);

}  // namespace toroid
