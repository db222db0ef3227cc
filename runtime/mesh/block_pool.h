// Memory blocks of buffers. Freed large blocks wait for the next request of about their size, so that
// programs which allocate and free equal sizes do not pay for fresh pages each time. Limit, count and idle blocks are those
// of the thread that runs: two runs on two threads share nothing.
#ifndef TOROID_RUNTIME_MESH_BLOCK_POOL_H_
#define TOROID_RUNTIME_MESH_BLOCK_POOL_H_

#include <cstdint>

namespace toroid {

// What counts the bytes of the blocks that a thread took and that are not given back yet, by whomever.
struct BlockAccount;

// `bytes` uninitialized bytes aligned to 64; null if there is no memory, or above the limit of this thread. Gives the
// account that counts them. Thread-safe, as all functions here.
char* AllocateBlock(int64_t bytes, BlockAccount** account);

// Gives back a block of AllocateBlock(bytes).
void FreeBlock(char* block, int64_t bytes, BlockAccount* account);

// While it lives, blocks that would bring the live bytes of this thread above the limit are refused.
class ScopedBlockLimit {
 public:
  explicit ScopedBlockLimit(int64_t bytes);
  ~ScopedBlockLimit();
  ScopedBlockLimit(const ScopedBlockLimit&) = delete;
  ScopedBlockLimit& operator=(const ScopedBlockLimit&) = delete;

 private:
  int64_t outer_;
};

// Bytes handed out to this thread and not yet given back.
int64_t LiveBlockBytes();

}  // namespace toroid

#endif  // TOROID_RUNTIME_MESH_BLOCK_POOL_H_
