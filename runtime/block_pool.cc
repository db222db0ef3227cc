#include "runtime/block_pool.h"

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>

namespace toroid {
namespace {

constexpr int64_t kAlignment = 64;
// Smaller blocks are the business of malloc.
constexpr int64_t kPooledBytes = 128 << 10;
// Idle memory that the pool keeps at most.
constexpr int64_t kMaxIdleBytes = int64_t{1} << 30;

std::atomic<int64_t> live_bytes{0};
std::atomic<int64_t> block_limit{INT64_MAX};

// Sizes are rounded up to one of eight steps per power of two: a block fits every request of its step.
int64_t RoundUp(int64_t bytes) {
  int64_t step = kAlignment;
  if (bytes >= kPooledBytes) {
    const int log = 63 - __builtin_clzll(static_cast<uint64_t>(bytes));
    step = int64_t{1} << (log - 3);
  }
  return (bytes + step - 1) & ~(step - 1);
}

class Pool {
 public:
  char* Take(int64_t size) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = idle_.find(size);
    if (it == idle_.end()) return nullptr;
    char* block = it->second;
    idle_.erase(it);
    idle_bytes_ -= size;
    return block;
  }

  // False if the pool is full.
  bool Put(char* block, int64_t size) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (idle_bytes_ + size > kMaxIdleBytes) return false;
    idle_.emplace(size, block);
    idle_bytes_ += size;
    return true;
  }

  void Clear() {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [size, block] : idle_) std::free(block);
    idle_.clear();
    idle_bytes_ = 0;
  }

 private:
  std::mutex mutex_;
  std::multimap<int64_t, char*> idle_;
  int64_t idle_bytes_ = 0;
};

Pool& GetPool() {
  static Pool* const pool = new Pool;
  return *pool;
}

}  // namespace

char* AllocateBlock(int64_t bytes) {
  if (bytes < 0 || bytes > (int64_t{1} << 62)) return nullptr;
  const int64_t size = RoundUp(bytes);
  if (size > kPooledBytes && size > block_limit.load(std::memory_order_relaxed) - LiveBlockBytes())
    return nullptr;
  char* block = size >= kPooledBytes ? GetPool().Take(size) : nullptr;
  if (block == nullptr) block = static_cast<char*>(std::aligned_alloc(kAlignment, size));
  if (block == nullptr) {
    GetPool().Clear();
    block = static_cast<char*>(std::aligned_alloc(kAlignment, size));
  }
  if (block != nullptr) live_bytes.fetch_add(size, std::memory_order_relaxed);
  return block;
}

void FreeBlock(char* block, int64_t bytes) {
  const int64_t size = RoundUp(bytes);
  live_bytes.fetch_sub(size, std::memory_order_relaxed);
  if (size < kPooledBytes || !GetPool().Put(block, size)) std::free(block);
}

void SetBlockLimit(int64_t bytes) { block_limit.store(bytes, std::memory_order_relaxed); }

int64_t LiveBlockBytes() { return live_bytes.load(std::memory_order_relaxed); }

}  // namespace toroid
