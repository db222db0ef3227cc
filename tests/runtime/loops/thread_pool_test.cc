#include "runtime/loops/thread_pool.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace toroid {
namespace {

// Loops one after another: some at once, while the threads still look for work, some after they have gone to sleep. Each index
// is visited once, by a range that the grain allows.
TEST(ThreadPoolTest, EachIndexIsVisitedOnceInLoopsThatFollowAtAnyTime) {
  std::mt19937 random(1);
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    const ScopedThreads scope(pool);
    for (int loop = 0; loop < 2000; ++loop) {
      const int64_t n = random() % 40, grain = 1 + random() % 4;
      std::vector<std::atomic<int>> visits(n);
      std::atomic<bool> whole_grains = true;
      ParallelFor(n, grain, [&](int64_t begin, int64_t end) {
        if (begin % grain != 0 || (end % grain != 0 && end != n)) whole_grains = false;
        for (int64_t i = begin; i < end; ++i) ++visits[i];
      });
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(visits[i], 1) << "index " << i << " of " << n;
      ASSERT_TRUE(whole_grains);
      if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
    }
  }
}

TEST(ThreadPoolTest, ALoopInsideALoopRunsOnItsThread) {
  ThreadPool pool(4);
  const ScopedThreads scope(pool);
  std::atomic<int64_t> sum = 0;
  std::atomic<bool> same_thread = true;
  ParallelFor(50, 1, [&](int64_t begin, int64_t end) {
    const auto me = std::this_thread::get_id();
    for (int64_t i = begin; i < end; ++i) {
      ParallelFor(50, 1, [&](int64_t from, int64_t to) {
        if (std::this_thread::get_id() != me) same_thread = false;
        for (int64_t j = from; j < to; ++j) sum += i * j;
      });
    }
  });
  EXPECT_EQ(sum, 1225 * 1225);
  EXPECT_TRUE(same_thread);
}

// Each run has its own threads: loops of two runs at once do not meet.
TEST(ThreadPoolTest, PoolsOfTwoThreadsDoNotMeet) {
  const auto run = [](int64_t* total) {
    ThreadPool pool(2);
    const ScopedThreads scope(pool);
    for (int loop = 0; loop < 3000; ++loop) {
      std::atomic<int64_t> sum = 0;
      ParallelFor(20, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
      *total += sum;
    }
  };
  int64_t first = 0, second = 0;
  std::thread other(run, &first);
  run(&second);
  other.join();
  EXPECT_EQ(first, 60000);
  EXPECT_EQ(second, 60000);
}

}  // namespace
}  // namespace toroid
