#include "runtime/plan/op_call.h"

#include "absl/strings/str_cat.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/base/text_table.h"
#include "runtime/mesh/block_pool.h"
#include "runtime/mesh/limit_error.h"

namespace toroid {

bool OpCall::AllUniform(int first) const {
  for (int i = first; i < num_operands(); ++i) {
    if (!uniform(i)) return false;
  }
  return true;
}

bool OpCall::ReuseOperand(int i, bool uniform) {
  if (!last_use(i)) return false;
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

absl::Status OpCall::CheckMemory(int64_t bytes) const {
  const RunState& run = *mesh_.run;
  const int64_t used = MeshBuffer::LiveBytes() + run.held_bytes;
  if (bytes <= run.max_bytes - used) {
    NoteScratch(bytes);
    return absl::OkStatus();
  }
  return OverMemoryLimit(absl::StrCat("needs ", BytesText(bytes), " beside the ", BytesText(used),
                                      " in use, the limit is ", BytesText(run.max_bytes)));
}

absl::Status OpCall::New(int64_t row_bytes, bool uniform, MeshBuffer* buffer) const {
  const int64_t rows = uniform ? 1 : copies();
  const std::optional<int64_t> bytes = CheckedMultiply(row_bytes, rows);
  if (!bytes.has_value()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("needs ", row_bytes, " bytes on each of ", rows, " devices"));
  }
  // A block this small is allocated without comparing with the limit.
  if (*bytes > 256) RETURN_IF_ERROR(CheckMemory(*bytes));
  *buffer = MeshBuffer::Array(*bytes, uniform);
  if (buffer->empty())
    return absl::ResourceExhaustedError(absl::StrCat("out of memory (", *bytes, " bytes)"));
  return absl::OkStatus();
}

}  // namespace toroid
