#include "runtime/collectives/all_reduce.h"

#include <cstring>
#include <utility>
#include <vector>

#include "hlo/base/status.h"
#include "runtime/collectives/group_reduction.h"
#include "runtime/collectives/group_rows.h"

namespace toroid {

absl::Status ExecuteAllReduce(OpCall& call) {
  const GroupRows* rows;
  RETURN_IF_ERROR(FindGroupRows(call, /*all_take_part=*/true, &rows));
  std::vector<MeshBuffer> results(call.num_operands());
  for (int i = 0; i < call.num_operands(); ++i) {
    const int64_t bytes = call.operand_shape(i).ByteSize();
    // Groups of one size that reduce one shared value all get the same.
    const bool uniform = rows->one_group || (call.uniform(i) && rows->common_size > 0);
    const auto groups = uniform ? std::vector<std::vector<int64_t>>{rows->groups[0]} : rows->groups;
    RETURN_IF_ERROR(call.New(bytes, uniform, &results[i]));
    char* out = results[i].mutable_data();
    RETURN_IF_ERROR(ReduceGroups(call, i, groups, [&](int64_t g, const char* total) {
      if (bytes == 0) return;
      if (uniform) {
        std::memcpy(out, total, bytes);
      } else {
        for (const int64_t row : groups[g]) std::memcpy(out + row * bytes, total, bytes);
      }
    }));
  }
  SetResults(call, std::move(results));
  return absl::OkStatus();
}

absl::Status ExecuteAllReduceStart(OpCall& call) { return ExecuteAllReduce(call); }

absl::Status ExecuteAllReduceDone(OpCall& call) {
  call.result() = call.TakeOperand(0);
  return absl::OkStatus();
}

}  // namespace toroid
