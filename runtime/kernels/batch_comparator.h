// The comparator of a sort, run on many pairs of elements at once.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// `arrays` are the operands, of elements of `widths` bytes; those that the comparator does not look at may be null.
class BatchComparator {
 public:
  // Pairs at a time: the comparator's values stay in the second-level cache.
  static constexpr int64_t kBatch = 16 << 10;

  BatchComparator(OpCall& call, absl::Span<const int64_t> widths);

  // Whether the comparator looks at an operand.
  bool Uses(size_t operand) const;

  // answers[i]: whether element a[i] goes before element b[i].
  absl::Status Before(absl::Span<const char* const> arrays, absl::Span<const int64_t> a,
                      absl::Span<const int64_t> b, uint8_t* answers);

  // The same in three steps. Begins a batch of n pairs.
  absl::Status Begin(int64_t n);
  // Sets the pairs at .. at + n - 1: the elements from .. from + n - 1, and the pivot; the pivot stands first if `swapped`.
  void Set(absl::Span<const char* const> arrays, int64_t at, int64_t n, int64_t from, int64_t pivot,
           bool swapped);
  // Answers for all n pairs.
  absl::Status Run(int64_t n, uint8_t* answers);

 private:
  OpCall& call_;
  Plan& plan_;
  const absl::Span<const int64_t> widths_;
  std::vector<MeshBuffer> arguments_;
};

}  // namespace toroid
