// A group: elementwise instructions, and reductions at their ends, that run together block by block.
//
// Values between the instructions of a group live in blocks that stay in cache; only outputs are arrays. Broadcasts, slices and
// iotas that a group reads are views (view.h), never arrays.
//
// All values of a group have `elements` elements per device, in order. With a row length, elements are also seen as rows, and a
// value may have one element per row: the sums of rows that a softmax divides by, for instance.
//
//   softmax over f32[8,512]: elements 4096, row_length 512
//     0  source x                       3  exp(2)                  6  divide(3, 5)   output
//     1  rows maximum(0)      per row   4  rows add(3)   per row
//     2  subtract(0, expand(1))         5  expand(4)
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "hlo/ir/instruction.h"
#include "runtime/groups/element_op.h"
#include "runtime/groups/view.h"
#include "runtime/loops/reduce_loops.h"
#include "runtime/plan/plan.h"

namespace toroid {

struct GroupNode {
  enum class Kind : uint8_t {
    kSource,      // A view of an input.
    kCount,       // A view of the numbers 0, 1, 2, ...: an iota.
    kOp,          // An elementwise op on the operands.
    kExpand,      // Operand 0, one element per row, as one value for all elements of its row.
    kReduceRows,  // Operand 0 reduced along rows, combined with operand 1: one element per row.
    kReduceLines,  // Rows folded into one: each run of segment_rows rows gives row_length elements. An output only.
    kReduceLong,  // Like kReduceRows, of rows too long for a block. An output only.
  };
  Kind kind = Kind::kOp;
  bool per_row = false;
  PrimitiveType type = xla::PRIMITIVE_TYPE_INVALID;
  const Instruction* instruction = nullptr;  // Null for sources and expansions.
  absl::InlinedVector<int, 3>
      operands;  // Nodes. Of kReduceLines and kReduceLong the second is the start value.
  ElementOp op;
  // kSource and kCount.
  View view;
  int input = 0;
  int64_t input_elements = 0;  // Per device, of the whole input.
  // Reductions.
  Opcode folds = Opcode::kUnknown;  // What they fold by.
  LineReduction line;
  BinaryLoop fold = nullptr;
};

struct Group : KernelCache {
  struct Output {
    int node;
    int64_t bytes;     // Per device.
    uint64_t depends;  // Bit i: on input i.
  };

  int64_t elements = 1;    // Per device.
  int64_t row_length = 0;  // 0: no rows.
  bool long_rows = false;  // Blocks are parts of rows.
  int64_t segment_rows = 0;
  int num_inputs = 0;
  std::vector<GroupNode> nodes;  // Operands before users.
  std::vector<Output> outputs;
  // What it runs over its blocks (BlockProgram), by the outputs computed, bit i for output i; made at first use.
  mutable std::vector<std::pair<uint64_t, std::unique_ptr<KernelCache>>> programs;
};

// Most inputs, and most outputs, of a group.
inline constexpr int kMostGroupValues = 60;
// Longest rows that a block holds whole.
inline constexpr int64_t kLongestRow = 16 << 10;

// How a reduction sees its operand: dimensions of size 1 left out, neighbours merged.
struct ReduceForm {
  enum class Kind : uint8_t { kNone, kRows, kLines };
  Kind kind = Kind::kNone;
  int64_t row_length = 0;    // kRows: elements that give one; kLines: elements that stay side by side.
  int64_t segment_rows = 0;  // kLines: rows that are folded into one.
  Opcode opcode = Opcode::kUnknown;  // Of the body.
  LineReduction line;
  BinaryLoop fold = nullptr;
};

// kNone for reductions that groups do not do: of several arrays, by more than one op, of other dimensions.
ReduceForm ReduceFormOf(const Instruction& reduce);

// The group of one elementwise instruction alone; its inputs are the operands.
std::unique_ptr<Group> GroupOf(const Instruction& instruction);

// One line per node.
std::string ToString(const Group& group);

}  // namespace toroid
