// Loops on several threads, for kernels. Whether and how a loop is split never changes its result: bodies
// write disjoint outputs, and partial reductions use fixed chunks.
//
// Each run has a thread pool of its own, so two runs in one process share no threads.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"

namespace toroid {

// Threads that wait for loops; started by the first loop, ended with the pool.
class ThreadPool {
 public:
  // `threads` includes the caller of a loop; 0: one per processor that this process may use, at most 16.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

 private:
  friend void ParallelFor(int64_t, int64_t, absl::FunctionRef<void(int64_t, int64_t)>);
  class Workers;

  const int threads_;
  const std::unique_ptr<Workers> workers_;
};

// While it lives, loops of this thread run on the pool. Scopes may be nested; the innermost counts.
class ScopedThreads {
 public:
  explicit ScopedThreads(ThreadPool& pool);
  ~ScopedThreads();
  ScopedThreads(const ScopedThreads&) = delete;
  ScopedThreads& operator=(const ScopedThreads&) = delete;

  // Whether this thread has a pool.
  static bool Any();

 private:
  ThreadPool* const outer_;
};

// Threads that ParallelFor may use, the caller included; 1 without a pool.
int NumThreads();

// Calls body(begin, end) for disjoint ranges that cover [0, n), in any order, possibly at the same time; all
// ranges but the last are multiples of `grain` long. A loop of one grain, or inside another loop, runs on the
// calling thread.
void ParallelFor(int64_t n, int64_t grain, absl::FunctionRef<void(int64_t begin, int64_t end)> body);

}  // namespace toroid
