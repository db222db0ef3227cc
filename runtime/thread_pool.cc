#include "runtime/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace toroid {
namespace {

constexpr int kMaxThreads = 16;

using Body = absl::FunctionRef<void(int64_t, int64_t)>;

// One loop being run. Workers and the caller take chunks until none is left.
struct Loop {
  Loop(int64_t n, int64_t chunk, Body body) : n(n), chunk(chunk), body(body) {}
  const int64_t n;
  const int64_t chunk;
  const Body body;
  std::atomic<int64_t> next{0};
  int running = 0;  // Workers inside, guarded by the pool's mutex.

  void Work() {
    while (true) {
      const int64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= n) return;
      body(begin, std::min(n, begin + chunk));
    }
  }
};

thread_local bool inside_loop = false;

class Pool {
 public:
  // False if another caller is using the workers.
  bool Run(Loop& loop, int threads) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (loop_ != nullptr) return false;
      while (started_ < threads - 1) {
        std::thread([this, i = started_] { Worker(i); }).detach();
        ++started_;
      }
      loop_ = &loop;
      helpers_ = threads - 1;
      ++generation_;
    }
    wake_.notify_all();
    inside_loop = true;
    loop.Work();
    inside_loop = false;
    std::unique_lock<std::mutex> lock(mutex_);
    loop_ = nullptr;
    done_.wait(lock, [&] { return loop.running == 0; });
    return true;
  }

 private:
  void Worker(int index) {
    inside_loop = true;
    int64_t seen = 0;
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return loop_ != nullptr && generation_ != seen && index < helpers_; });
      seen = generation_;
      Loop* loop = loop_;
      ++loop->running;
      lock.unlock();
      loop->Work();
      lock.lock();
      if (--loop->running == 0) done_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  Loop* loop_ = nullptr;
  int64_t generation_ = 0;
  int helpers_ = 0;
  int started_ = 0;
};

Pool& GetPool() {
  static Pool* const pool = new Pool;  // Workers are detached, so it lives as long as the process.
  return *pool;
}

std::atomic<int> num_threads{0};

}  // namespace

int NumThreads() {
  const int threads = num_threads.load(std::memory_order_relaxed);
  if (threads > 0) return threads;
  static const int processors =
      std::clamp<int>(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxThreads);
  return processors;
}

void SetNumThreads(int threads) { num_threads.store(std::clamp(threads, 1, kMaxThreads)); }

void ParallelFor(int64_t n, int64_t grain, Body body) {
  if (n <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  const int64_t grains = (n + grain - 1) / grain;
  const int threads = static_cast<int>(std::min<int64_t>(NumThreads(), grains));
  if (threads > 1 && !inside_loop) {
    // A few chunks per thread even out their speeds.
    const int64_t chunk = std::max<int64_t>(1, grains / (4 * threads)) * grain;
    Loop loop(n, chunk, body);
    if (GetPool().Run(loop, threads)) return;
  }
  body(0, n);
}

}  // namespace toroid
