#include "runtime/op_call.h"

#include "absl/strings/str_cat.h"
#include "hlo/base/math.h"

namespace toroid {

bool OpCall::AllUniform(int first) const {
  for (int i = first; i < num_operands(); ++i) {
    if (!uniform(i)) return false;
  }
  return true;
}

bool OpCall::ReuseOperand(int i, bool uniform) {
  if (!dying(i)) return false;
  MeshBuffer& slot = slots_[step_.operands[i]];
  const int64_t rows = uniform ? 1 : copies();
  if (slot.empty() || slot.is_tuple() || !slot.unique() || slot.uniform() != uniform ||
      slot.bytes() != rows * step_.bytes) {
    return false;
  }
  result() = std::move(slot);
  if (result().sizes() != nullptr) result().set_sizes(MeshBuffer());
  return true;
}

absl::Status OpCall::ReuseOrNewResult(int count, bool uniform) {
  for (int i = 0; i < count; ++i) {
    if (ReuseOperand(i, uniform)) return absl::OkStatus();
  }
  return NewResult(uniform);
}

absl::Status OpCall::New(int64_t row_bytes, bool uniform, MeshBuffer* buffer) const {
  const int64_t rows = uniform ? 1 : copies();
  const std::optional<int64_t> bytes = CheckedMultiply(row_bytes, rows);
  // Small blocks need no look at the limit.
  if (!bytes.has_value() || (*bytes > 4096 && *bytes > mesh_.run->max_bytes - MeshBuffer::LiveBytes())) {
    return absl::ResourceExhaustedError(absl::StrCat("needs ", row_bytes, " bytes on each of ", rows,
                                                     " devices beside the ", MeshBuffer::LiveBytes(),
                                                     " in use; the limit is ", mesh_.run->max_bytes));
  }
  *buffer = MeshBuffer::Array(*bytes, uniform);
  if (buffer->empty())
    return absl::ResourceExhaustedError(absl::StrCat("out of memory (", *bytes, " bytes)"));
  return absl::OkStatus();
}

}  // namespace toroid
