// Which dimensions an op keeps when its unit dimensions (dimensions of one element) are squeezed out.
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "google/protobuf/repeated_field.h"
#include "hlo/ir/instruction.h"

namespace toroid {

// By dimension: true if it stays. Dimensions that go have one element.
using KeptDims = absl::InlinedVector<bool, 6>;

KeptDims KeepSized(const Shape& shape);
// The sizes of the dimensions that stay.
Dims SqueezedDims(const Shape& array, const KeptDims& kept);
// The number of dimension d in the squeezed array: how many dimensions before it stay.
int64_t NumberAmong(const KeptDims& kept, int64_t d);
// Renumbers a list of dimensions for the squeezed array, and drops those that go.
void Renumber(const KeptDims& kept, google::protobuf::RepeatedField<int64_t>* dims);

// Drops the entries of squeezed dimensions from a list with one entry for each dimension.
template <typename Repeated>
void DropEntries(const KeptDims& kept, Repeated* entries) {
  int n = 0;
  for (int d = 0; d < entries->size(); ++d) {
    if (kept[d]) entries->SwapElements(n++, d);
  }
  while (entries->size() > n) entries->RemoveLast();
}

// An op, its operands and the dimensions that each keeps.
struct SqueezedOp {
  struct Operand {
    Instruction* value;
    KeptDims kept;
  };
  absl::InlinedVector<Operand, 3> operands;
  KeptDims kept;            // Dimensions of the result, or of every array of a tuple.
  bool is_operand = false;  // The op does nothing: its elements are those of operand 0, in the same order.
};

}  // namespace toroid
