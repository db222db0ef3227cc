// Memory blocks of buffers, large ones from an arena (block_arena.h). The limit, the count of bytes and the arena belong to the
// thread that allocates: runs on two threads share nothing.
#pragma once

#include <cstdint>

namespace toroid {

// Counts the bytes of the blocks that one thread allocated, until some thread frees them.
struct BlockAccount;

struct Block {
  char* data = nullptr;
  int64_t size = 0;  // At least what was asked for.
  BlockAccount* account = nullptr;
};

// `bytes` uninitialized bytes, aligned to 64; data is null if there is no memory or the limit of this thread would be exceeded.
// Thread-safe, like all functions here.
Block AllocateBlock(int64_t bytes);

void FreeBlock(const Block& block);

// While it lives, a block that would bring the live bytes of this thread above the limit is refused.
class ScopedBlockLimit {
 public:
  explicit ScopedBlockLimit(int64_t bytes);
  ~ScopedBlockLimit();
  ScopedBlockLimit(const ScopedBlockLimit&) = delete;
  ScopedBlockLimit& operator=(const ScopedBlockLimit&) = delete;

 private:
  int64_t outer_;
};

// Bytes that this thread allocated and nobody has freed.
int64_t LiveBlockBytes();

// Most bytes that were live at once in this thread since the last reset, with what NoteScratch says.
int64_t PeakBlockBytes();
void ResetPeakBlockBytes();
// Memory that a kernel is about to take beside the live blocks, from here or from elsewhere.
void NoteScratch(int64_t bytes);

}  // namespace toroid
