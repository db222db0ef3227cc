#include "runtime/mesh/block_pool.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "runtime/mesh/block_arena.h"

namespace toroid {

namespace {

constexpr int64_t kAlignment = 64;
// Smaller blocks are left to malloc.
constexpr int64_t kPooledBytes = 32 << 10;

int64_t RoundUp(int64_t bytes) {
  const int64_t step = bytes >= kPooledBytes ? BlockArena::kPage : kAlignment;
  return (bytes + step - 1) & ~(step - 1);
}

}  // namespace

// Lives until its thread has ended and its last block is freed.
struct BlockAccount {
  std::atomic<int64_t> live_bytes{0};
  std::atomic<int64_t> holders{1};  // The thread, and each of its blocks.
  // Read and written by its thread only.
  int64_t limit = INT64_MAX;
  int64_t peak_bytes = 0;  // Since the last reset.
  BlockArena arena;

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
  block.data =
      pooled ? mine.arena.Take(block.size) : static_cast<char*>(std::aligned_alloc(kAlignment, block.size));
  if (block.data == nullptr) return {};
  mine.live_bytes.fetch_add(block.size, std::memory_order_relaxed);
  mine.peak_bytes = std::max(mine.peak_bytes, live + block.size);
  mine.holders.fetch_add(1, std::memory_order_relaxed);
  block.account = &mine;
  return block;
}

void FreeBlock(const Block& block) {
  block.account->live_bytes.fetch_sub(block.size, std::memory_order_relaxed);
  if (block.size < kPooledBytes) {
    std::free(block.data);
  } else {
    block.account->arena.Give(block.data, block.size);
  }
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
