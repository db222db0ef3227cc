#include "runtime/collectives/all_reduce.h"

#include <utility>
#include <vector>

#include "hlo/base/status.h"
#include "runtime/collectives/group_places.h"
#include "runtime/collectives/group_reduction.h"

namespace toroid {

absl::Status ExecuteAllReduce(OpCall& call) {
  const GroupPlaces* places;
  RETURN_IF_ERROR(FindGroups(call, /*all_take_part=*/true, &places));
  std::vector<MeshBuffer> results(call.num_operands());
  for (int i = 0; i < call.num_operands(); ++i) {
    // If all groups have one size and reduce one shared value, all members get the same result.
    const bool uniform = places->one_group || (call.uniform(i) && places->common_size > 0);
    RETURN_IF_ERROR(call.New(call.operand_shape(i).ByteSize(), uniform, &results[i]));
    RETURN_IF_ERROR(ReduceGroups(call, i, places->groups, /*blocks=*/nullptr, &results[i]));
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
