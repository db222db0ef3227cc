#include "runtime/mesh/block_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
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

// Idle blocks are given back to the system beyond this share of the most bytes that were live at once.
constexpr int64_t kIdleShare = 16;
// A request takes a block that is larger by up to this share.
constexpr int64_t kSpareShare = 8;

// Sizes are rounded up to one of sixteen steps per power of two: a block fits every request of its step.
int64_t RoundUp(int64_t bytes) {
  int64_t step = kAlignment;
  if (bytes >= kPooledBytes) {
    const int log = 63 - __builtin_clzll(static_cast<uint64_t>(bytes));
    step = int64_t{1} << (log - 4);
  }
  return (bytes + step - 1) & ~(step - 1);
}

// Blocks from kPooledBytes on come from the system and go back to it: an allocator would keep what is freed.
char* NewBlock(int64_t size) {
  if (size < kPooledBytes) return static_cast<char*>(std::aligned_alloc(kAlignment, size));
  const bool huge = size >= kHugeBytes;
  const int64_t more = huge ? kHugePage : 0;
  void* memory = mmap(nullptr, size + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  char* block = static_cast<char*>(memory);
  if (!huge) return block;
  const int64_t before = -reinterpret_cast<intptr_t>(block) & (kHugePage - 1);
  if (before > 0) munmap(block, before);
  if (before < more) munmap(block + before + size, more - before);
  block += before;
  madvise(block, size / kHugePage * kHugePage, MADV_HUGEPAGE);
  return block;
}

void DeleteBlock(char* block, int64_t size) {
  if (size < kPooledBytes) {
    std::free(block);
  } else {
    munmap(block, size);
  }
}

// Blocks that wait for a request of about their size.
class IdleBlocks {
 public:
  ~IdleBlocks() { Shrink(0); }

  // Sets data and size to those of the smallest idle block that has at least this size, unless that is much larger.
  void Take(Block* block) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = idle_.lower_bound(block->size);
    if (it == idle_.end() || it->first > block->size + block->size / kSpareShare) return;
    block->size = it->first;
    block->data = it->second;
    idle_.erase(it);
    idle_bytes_ -= block->size;
  }

  // False if the pool is full.
  bool Put(const Block& block) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (idle_bytes_ + block.size > kMaxIdleBytes) return false;
    idle_.emplace(block.size, block.data);
    idle_bytes_ += block.size;
    return true;
  }

  // Gives back the largest blocks until at most `bytes` are idle.
  void Shrink(int64_t bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    while (idle_bytes_ > std::max<int64_t>(0, bytes)) {
      const auto last = std::prev(idle_.end());
      DeleteBlock(last->second, last->first);
      idle_bytes_ -= last->first;
      idle_.erase(last);
    }
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
  int64_t limit = INT64_MAX;
  int64_t peak_bytes = 0;  // Since the last reset.
  int64_t most_bytes = 0;  // Ever live at once.
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

Block AllocateBlock(int64_t bytes) {
  if (bytes < 0 || bytes > (int64_t{1} << 62)) return {};
  BlockAccount& mine = Mine();
  Block block;
  block.size = RoundUp(bytes);
  const bool pooled = block.size >= kPooledBytes;
  const int64_t live = mine.live_bytes.load(std::memory_order_relaxed);
  if (pooled && block.size > mine.limit - live) return {};
  if (pooled) mine.idle.Take(&block);
  if (block.data == nullptr) {
    mine.most_bytes = std::max(mine.most_bytes, live + block.size);
    if (pooled) mine.idle.Shrink(mine.most_bytes + mine.most_bytes / kIdleShare - live - block.size);
    block.data = NewBlock(block.size);
  }
  if (block.data == nullptr) {
    mine.idle.Shrink(0);
    block.data = NewBlock(block.size);
  }
  if (block.data == nullptr) return {};
  mine.live_bytes.fetch_add(block.size, std::memory_order_relaxed);
  mine.peak_bytes = std::max(mine.peak_bytes, live + block.size);
  mine.most_bytes = std::max(mine.most_bytes, live + block.size);
  mine.holders.fetch_add(1, std::memory_order_relaxed);
  block.account = &mine;
  return block;
}

void FreeBlock(const Block& block) {
  block.account->live_bytes.fetch_sub(block.size, std::memory_order_relaxed);
  if (block.size < kPooledBytes || !block.account->idle.Put(block)) DeleteBlock(block.data, block.size);
  block.account->Leave();
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
