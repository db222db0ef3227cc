// The arithmetic of folding rows into one: acc = to_apply(acc, row), element by element.
#ifndef TOROID_RUNTIME_COLLECTIVES_FOLD_H_
#define TOROID_RUNTIME_COLLECTIVES_FOLD_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/loops/loop_of_two.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// The reducer of a collective on operand i. Narrow floats of one-op bodies are folded in f32 and rounded once.
class Fold {
 public:
  Fold(OpCall& call, int i);

  int64_t elements() const { return n_; }
  int64_t width() const { return width_; }
  PrimitiveType type() const { return type_; }
  // Of an element of what is folded up to now, which is not rounded yet.
  int64_t partial_width() const { return narrow_ ? sizeof(float) : width_; }
  // Of the body, if it is one op.
  bool one_op() const { return loop_ != nullptr; }
  Opcode opcode() const { return opcode_; }

  // Folds elements [begin, end) of all rows, in order, into the `partial` of these elements; with `first` the first
  // row is where it starts. Errors: those of to_apply, kResourceExhausted.
  absl::Status Add(absl::Span<const char* const> rows, int64_t begin, int64_t end, bool first, char* partial);
  // Rounds all elements to the type, in place.
  void Round(char* partial) const;
  // Folds `elements` elements of all rows to their total. Same bits as Add and Round.
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

#endif  // TOROID_RUNTIME_COLLECTIVES_FOLD_H_
