// Elementwise ops of two operands: out[i] = op(a[i], b[i]).
//
// Result type: the operands' type; complex for the op `complex`, an integer type for stochastic-convert.
// Errors: kUnimplemented for an op that is not defined on the type.
#pragma once

#include "absl/status/status.h"
#include "hlo/opcode.h"
#include "runtime/loops/loop_of_two.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// The loop of an op on elements of `type` (not a narrow float, see ComputeType); null if the op is not
// defined on it.
BinaryLoop FindBinaryLoop(Opcode opcode, PrimitiveType type);

// The rows of two operands and of their result, n elements each; an operand with one row uses it for all.
struct RowsOfTwo {
  const char* a;
  int64_t a_rows;
  const char* b;
  int64_t b_rows;
  char* out;
  int64_t n;
  int64_t width;      // Bytes per operand element.
  int64_t out_width;  // Bytes per result element.
};

// Calls `loop` for all rows.
void ForEachRow(const RowsOfTwo& rows, BinaryLoop loop);

absl::Status ExecuteBinary(OpCall& call);

}  // namespace toroid
