// Loops on several threads, for kernels. Whether and how a loop is split never changes its result: bodies
// write disjoint outputs, and partial reductions use fixed chunks.
#ifndef TOROID_RUNTIME_THREAD_POOL_H_
#define TOROID_RUNTIME_THREAD_POOL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace toroid {

// Threads that ParallelFor may use, the caller included; at least 1. Initially the processors, 16 at most.
int NumThreads();
void SetNumThreads(int threads);

// Calls body(begin, end) for disjoint ranges that cover [0, n), in any order, possibly at the same time;
// ranges are multiples of `grain` long but for the last. A loop of one grain, or inside another loop, runs in
// place.
void ParallelFor(int64_t n, int64_t grain, absl::FunctionRef<void(int64_t begin, int64_t end)> body);

}  // namespace toroid

#endif  // TOROID_RUNTIME_THREAD_POOL_H_
