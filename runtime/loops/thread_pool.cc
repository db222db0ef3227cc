#include "runtime/loops/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace toroid {
namespace {

constexpr int kMaxThreads = 16;
// How often a thread looks for the next loop, or the end of this one, before it sleeps: some 25 microseconds, less than it
// takes to wake a thread.
constexpr int kLooks = 1000;

// Whether `condition` came true within so many looks.
template <typename Condition>
bool Look(int looks, const Condition& condition) {
  for (int i = 0; i < looks; ++i) {
    if (condition()) return true;
    __builtin_ia32_pause();
  }
  return false;
}

using Body = absl::FunctionRef<void(int64_t, int64_t)>;

// A loop being run. Each thread, the caller among them, takes the chunks of its own share, then those that are left of
// others': the next loop over the same arrays finds in a core's cache what that core wrote.
struct Loop {
  Loop(int64_t n, int64_t chunk, int threads, Body body) : chunk(chunk), shares(threads), body(body) {
    const int64_t chunks = (n + chunk - 1) / chunk;
    for (int t = 0; t < threads; ++t) next[t].at = chunks * t / threads * chunk;
    for (int t = 0; t < threads; ++t) next[t].end = t + 1 < threads ? next[t + 1].at.load() : n;
  }
  struct alignas(64) Share {
    std::atomic<int64_t> at{0};
    int64_t end = 0;
  };
  const int64_t chunk;
  const int shares;
  const Body body;
  Share next[kMaxThreads];
  std::atomic<int> running{0};  // Workers inside the loop; changed under the pool's mutex.

  void Work(int thread) {
    for (int s = 0; s < shares; ++s) {
      Share& share = next[(thread + s) % shares];
      while (share.at.load(std::memory_order_relaxed) < share.end) {
        const int64_t begin = share.at.fetch_add(chunk, std::memory_order_relaxed);
        if (begin < share.end) body(begin, std::min(share.end, begin + chunk));
      }
    }
  }
};

thread_local bool inside_loop = false;
thread_local ThreadPool* current = nullptr;

int ThreadsOf(int wanted) {
  if (wanted <= 0) wanted = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(wanted, 1, kMaxThreads);
}

}  // namespace

class ThreadPool::Workers {
 public:
  // Threads that share processors with each other sleep at once: a look would keep another from work.
  explicit Workers(int threads) : looks_(threads <= ThreadsOf(0) ? kLooks : 0) {}

  ~Workers() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ended_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  // Only one thread may call it at a time.
  void Run(Loop& loop, int threads) {
    bool sleepers;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      while (static_cast<int>(threads_.size()) < threads - 1) {
        threads_.emplace_back([this, index = static_cast<int>(threads_.size())] { Work(index); });
      }
      loop_ = &loop;
      helpers_ = threads - 1;
      generation_.fetch_add(1, std::memory_order_release);
      sleepers = sleepers_ > 0;
    }
    if (sleepers) wake_.notify_all();
    inside_loop = true;
    loop.Work(0);
    inside_loop = false;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      loop_ = nullptr;
    }
    const auto done = [&] { return loop.running.load(std::memory_order_acquire) == 0; };
    if (Look(looks_, done)) return;
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, done);
  }

 private:
  void Work(int index) {
    inside_loop = true;
    int64_t seen = 0;
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      ++sleepers_;
      wake_.wait(lock, [&] {
        return ended_ || (loop_ != nullptr && generation_.load() != seen && index < helpers_);
      });
      --sleepers_;
      while (!ended_ && loop_ != nullptr && generation_.load() != seen && index < helpers_) {
        seen = generation_.load();
        Loop* loop = loop_;
        loop->running.fetch_add(1);
        lock.unlock();
        loop->Work(index + 1);
        lock.lock();
        if (loop->running.fetch_sub(1, std::memory_order_release) == 1) done_.notify_all();
        lock.unlock();
        Look(looks_, [&] { return generation_.load(std::memory_order_acquire) != seen; });
        lock.lock();
      }
      if (ended_) return;
    }
  }

  const int looks_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  Loop* loop_ = nullptr;
  std::atomic<int64_t> generation_{0};  // Changed under the mutex.
  int helpers_ = 0;
  int sleepers_ = 0;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

ThreadPool::ThreadPool(int threads) : threads_(ThreadsOf(threads)), workers_(new Workers(threads_)) {}
ThreadPool::~ThreadPool() = default;

ScopedThreads::ScopedThreads(ThreadPool& pool) : outer_(current) { current = &pool; }
ScopedThreads::~ScopedThreads() { current = outer_; }
bool ScopedThreads::Any() { return current != nullptr; }

int NumThreads() { return current == nullptr ? 1 : current->threads(); }

void ParallelFor(int64_t n, int64_t grain, Body body) {
  if (n <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  const int64_t grains = (n + grain - 1) / grain;
  const int threads = static_cast<int>(std::min<int64_t>(NumThreads(), grains));
  if (threads <= 1 || inside_loop) {
    body(0, n);
    return;
  }
  // A few chunks per thread balance the load of threads that run at different speeds.
  const int64_t chunk = std::max<int64_t>(1, grains / (4 * threads)) * grain;
  Loop loop(n, chunk, threads, body);
  current->workers_->Run(loop, threads);
}

}  // namespace toroid
