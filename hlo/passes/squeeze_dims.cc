#include "hlo/passes/squeeze_dims.h"

#include <algorithm>

namespace toroid {

KeptDims KeepSized(const Shape& shape) {
  KeptDims kept(shape.rank());
  for (int d = 0; d < shape.rank(); ++d) kept[d] = shape.dim(d) != 1;
  return kept;
}

Dims SqueezedDims(const Shape& array, const KeptDims& kept) {
  Dims dims;
  for (int d = 0; d < array.rank(); ++d) {
    if (kept[d]) dims.push_back(array.dim(d));
  }
  return dims;
}

int64_t NumberAmong(const KeptDims& kept, int64_t d) {
  return std::count(kept.begin(), kept.begin() + d, true);
}

void Renumber(const KeptDims& kept, google::protobuf::RepeatedField<int64_t>* dims) {
  int n = 0;
  for (const int64_t d : *dims) {
    if (kept[d]) dims->Set(n++, NumberAmong(kept, d));
  }
  dims->Truncate(n);
}

}  // namespace toroid
