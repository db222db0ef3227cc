#include "runtime/moves/run_move.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/status.h"
#include "runtime/loops/strided_copy.h"

namespace toroid {

absl::Status ExecuteMove(OpCall& call) {
  const Move& move = call.Kept<Move>();
  if (move.is_operand) {
    call.result() = call.TakeOperand(0);
    return absl::OkStatus();
  }
  const bool uniform = call.AllUniform();
  RETURN_IF_ERROR(call.NewResult(uniform));
  const int64_t rows = uniform ? 1 : call.copies();
  const int64_t width = ByteWidth(call.shape().element_type());
  const Dims to_strides = RowMajorStrides(call.shape().dims(), width);
  for (const Box& box : move.boxes) {
    StridedLoop loop;
    loop.width = width;
    loop.Add(rows, call.uniform(box.slot) ? 0 : move.operand_elements[box.slot] * width, call.result_bytes());
    int64_t target = 0;
    for (size_t d = 0; d < box.size.size(); ++d) {
      loop.Add(box.size[d], box.strides[d] * width, to_strides[d]);
      target += box.start[d] * to_strides[d];
    }
    ParallelStridedCopy(std::move(loop), call.data(box.slot) + box.from * width,
                        call.result().mutable_data() + target);
  }
  return absl::OkStatus();
}

const Move* MoveOf(const Step& step) {
  return step.kernel == ExecuteMove ? static_cast<const Move*>(step.cache.get()) : nullptr;
}

std::string ToString(const Move& move) {
  std::string text;
  for (const Box& box : move.boxes) {
    absl::StrAppend(&text, "[", absl::StrJoin(box.size, ","), "] at [", absl::StrJoin(box.start, ","),
                    "] from input ", box.slot, " at ", box.from, " by [", absl::StrJoin(box.strides, ","),
                    "]\n");
  }
  return text;
}

}  // namespace toroid
