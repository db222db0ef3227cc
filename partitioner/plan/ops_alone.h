// What a program sends if nothing is shared between its ops.
#pragma once

#include "partitioner/plan/plan_memo.h"

namespace toroid {

// The bytes that a device sends if each op takes its operands from, and brings its results to, the shardings of a plan, as
// partitioners do that decide op by op.
double BytesOfOpsAlone(const ShardingPlan& shardings, PlanMemo* memo);

}  // namespace toroid
