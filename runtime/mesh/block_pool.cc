#include "runtime/mesh/block_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>

namespace toroid {

namespace {

constexpr int64_t kAlignment = 64;
// Smaller blocks are left to malloc.
constexpr int64_t kPooledBytes = 128 << 10;
// From here on a block begins at a huge page, and the system is asked for such pages: fewer page faults.
constexpr int64_t kHugePage = 2 << 20;
constexpr int64_t kHugeBytes = 2 * kHugePage;
// Most idle memory that a thread keeps.
constexpr int64_t kMaxIdleBytes = int64_t{1} << 30;

// Sizes are rounded up to one of eight steps per power of two: a block fits every request of its step.
int64_t RoundUp(int64_t bytes) {
  int64_t step = kAlignment;
  if (bytes >= kPooledBytes) {
    const int log = 63 - __builtin_clzll(static_cast<uint64_t>(bytes));
    step = int64_t{1} << (log - 3);
  }
  return (bytes + step - 1) & ~(step - 1);
}

char* NewBlock(int64_t size) {
  if (size < kHugeBytes) return static_cast<char*>(std::aligned_alloc(kAlignment, size));
  char* block =
      static_cast<char*>(std::aligned_alloc(kHugePage, (size + kHugePage - 1) / kHugePage * kHugePage));
  if (block != nullptr) madvise(block, size / kHugePage * kHugePage, MADV_HUGEPAGE);
  return block;
}

// Blocks that wait for the next request of their size.
class IdleBlocks {
 public:
  ~IdleBlocks() { Clear(); }

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

}  // namespace

// Lives until its thread has ended and its last block is freed.
struct BlockAccount {
  std::atomic<int64_t> live_bytes{0};
  std::atomic<int64_t> holders{1};  // The thread, and each of its blocks.
  // Read and written by its thread only.
  int64_t limit = INT64_MAX, peak_bytes = 0;
  IdleBlocks idle;

  void Leave() {
    if (holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

namespace {

// A buffer with static lifetime may be freed after its thread has left the account; the block keeps the
// account alive.
struct OwnAccount {
  BlockAccount* account = new BlockAccount;
  ~OwnAccount() { account->Leave(); }
};

BlockAccount& Mine() {
  static thread_local OwnAccount mine;
  return *mine.account;
}

}  // namespace

char* AllocateBlock(int64_t bytes, BlockAccount** account) {
  if (bytes < 0 || bytes > (int64_t{1} << 62)) return nullptr;
  BlockAccount& mine = Mine();
  const int64_t size = RoundUp(bytes);
  if (size > kPooledBytes && size > mine.limit - mine.live_bytes.load(std::memory_order_relaxed))
    return nullptr;
  char* block = size >= kPooledBytes ? mine.idle.Take(size) : nullptr;
  if (block == nullptr) block = NewBlock(size);
  if (block == nullptr) {
    mine.idle.Clear();
    block = NewBlock(size);
  }
  if (block == nullptr) return nullptr;
  const int64_t live = mine.live_bytes.fetch_add(size, std::memory_order_relaxed) + size;
  mine.peak_bytes = std::max(mine.peak_bytes, live);
  mine.holders.fetch_add(1, std::memory_order_relaxed);
  *account = &mine;
  return block;
}

void FreeBlock(char* block, int64_t bytes, BlockAccount* account) {
  const int64_t size = RoundUp(bytes);
  account->live_bytes.fetch_sub(size, std::memory_order_relaxed);
  if (size < kPooledBytes || !account->idle.Put(block, size)) std::free(block);
  account->Leave();
}

ScopedBlockLimit::ScopedBlockLimit(int64_t bytes) : outer_(Mine().limit) { Mine().limit = bytes; }
ScopedBlockLimit::~ScopedBlockLimit() { Mine().limit = outer_; }

int64_t LiveBlockBytes() { return Mine().live_bytes.load(std::memory_order_relaxed); }

int64_t PeakBlockBytes() { return Mine().peak_bytes; }
void ResetPeakBlockBytes() { Mine().peak_bytes = LiveBlockBytes(); }

void NoteScratch(int64_t bytes) {
  BlockAccount& mine = Mine();
  const int64_t live = mine.live_bytes.load(std::memory_order_relaxed);
  if (bytes <= INT64_MAX - live) mine.peak_bytes = std::max(mine.peak_bytes, live + bytes);
}

}  // namespace toroid
