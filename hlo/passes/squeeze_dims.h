// Which dimensions an op keeps of its arrays, when those of one element go.
#ifndef TOROID_HLO_PASSES_SQUEEZE_DIMS_H_
#define TOROID_HLO_PASSES_SQUEEZE_DIMS_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "google/protobuf/repeated_field.h"
#include "hlo/ir/instruction.h"

namespace toroid {

// By dimension: it stays. Those that go have one element.
using KeptDims = absl::InlinedVector<bool, 6>;

KeptDims KeepSized(const Shape& shape);
// The sizes of those that stay.
Dims SqueezedDims(const Shape& array, const KeptDims& kept);
// How many of the dimensions before d stay: its number among those.
int64_t NumberAmong(const KeptDims& kept, int64_t d);
// Of a list of dimensions: those that go are dropped, the others have their numbers among those that stay.
void Renumber(const KeptDims& kept, google::protobuf::RepeatedField<int64_t>* dims);

// Of a list with one entry per dimension, those that stay.
template <typename Repeated>
void DropEntries(const KeptDims& kept, Repeated* entries) {
  int n = 0;
  for (int d = 0; d < entries->size(); ++d) {
    if (kept[d]) entries->SwapElements(n++, d);
  }
  while (entries->size() > n) entries->RemoveLast();
}

// An op without dimensions of one element.
struct SqueezedOp {
  struct Operand {
    Instruction* value;
    KeptDims kept;
  };
  absl::InlinedVector<Operand, 3> operands;
  KeptDims kept;            // Of the result, or of every array of one.
  bool is_operand = false;  // It has nothing to do: the elements are those of operand 0, in their order.
};

}  // namespace toroid

#endif  // TOROID_HLO_PASSES_SQUEEZE_DIMS_H_
