// Memory blocks of buffers. Freed large blocks wait for the next request of about their size, so that
// programs which allocate and free equal sizes do not pay for fresh pages each time.
#ifndef TOROID_RUNTIME_BLOCK_POOL_H_
#define TOROID_RUNTIME_BLOCK_POOL_H_

#include <cstdint>

namespace toroid {

// `bytes` uninitialized bytes aligned to 64; null if there is no memory. Thread-safe, as all functions here.
char* AllocateBlock(int64_t bytes);

// Gives back a block of AllocateBlock(bytes).
void FreeBlock(char* block, int64_t bytes);

// Blocks that would bring the live bytes above the limit are refused (null); INT64_MAX, the default, for
// none.
void SetBlockLimit(int64_t bytes);

// Bytes handed out and not yet given back.
int64_t LiveBlockBytes();

}  // namespace toroid

#endif  // TOROID_RUNTIME_BLOCK_POOL_H_
