// Views line by line: a line is a run of elements along the innermost dimension.
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "runtime/groups/view.h"

namespace toroid {

// Copies n elements of `width` bytes that are `stride` elements apart to neighbouring ones; 0: n times the same.
void CopyLine(int64_t width, const char* from, int64_t stride, int64_t n, char* to);

// Goes through the lines of a view, from one element on.
class ViewLines {
 public:
  ViewLines(absl::Span<const View::Dim> dims, int64_t first) : dims_(dims), at_(dims.size()) {
    for (int d = static_cast<int>(dims.size()) - 1; d >= 0; --d) {
      at_[d] = first % dims[d].size;
      first /= dims[d].size;
      offset_ += at_[d] * dims[d].stride;
    }
  }
  // Elements from here to the end of the line.
  int64_t left() const { return dims_.back().size - at_.back(); }
  int64_t stride() const { return dims_.back().stride; }
  int64_t offset() const { return offset_; }
  // To the next line; only from within a line that was used to its end.
  void Next() {
    offset_ -= at_.back() * dims_.back().stride;
    at_.back() = 0;
    for (int d = static_cast<int>(dims_.size()) - 2; d >= 0; --d) {
      offset_ += dims_[d].stride;
      if (++at_[d] < dims_[d].size) return;
      offset_ -= dims_[d].size * dims_[d].stride;
      at_[d] = 0;
    }
  }

 private:
  const absl::Span<const View::Dim> dims_;
  absl::InlinedVector<int64_t, 6> at_;
  int64_t offset_ = 0;
};

}  // namespace toroid
