// Folds rows into one: acc = to_apply(acc, row), element by element.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/loops/loop_of_two.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// The reducer of a collective on operand i. If the body is one op, narrow floats are folded in f32 and
// rounded once.
class Fold {
 public:
  Fold(OpCall& call, int i);

  int64_t elements() const { return n_; }
  int64_t width() const { return width_; }
  PrimitiveType type() const { return type_; }
  // Bytes of an element of a partial result, which is not rounded yet.
  int64_t partial_width() const { return narrow_ ? sizeof(float) : width_; }
  // Whether the body is one op, and which.
  bool one_op() const { return loop_ != nullptr; }
  Opcode opcode() const { return opcode_; }

  // Folds elements [begin, end) of all rows, in order, into `partial`, which holds these elements; with
  // `first` the first row overwrites `partial`. Errors: those of to_apply, kResourceExhausted.
  absl::Status Add(absl::Span<const char* const> rows, int64_t begin, int64_t end, bool first, char* partial);
  // Rounds all elements of a partial result to the type, in place.
  void Round(char* partial) const;
  // Folds the first `elements` elements of all rows to their total. Gives the same bits as Add and Round.
  absl::Status Total(absl::Span<const char* const> rows, int64_t elements, char* total);

 private:
  absl::Status AddByBody(absl::Span<const char* const> rows, int64_t begin, int64_t end, bool first,
                         char* partial);

  OpCall& call_;
  PrimitiveType type_;
  int64_t n_ = 0, width_ = 1;
  bool narrow_ = false;
  Opcode opcode_ = Opcode::kAdd;
  BinaryLoop loop_ = nullptr;
};

}  // namespace toroid
