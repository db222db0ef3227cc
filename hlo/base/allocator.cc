// BUILD: alwayslink = True
#include "hlo/base/allocator.h"

#include <cstddef>
#include <new>

// A sanitizer brings an allocator of its own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include "mimalloc.h"

// The other forms (arrays, nothrow) call these. mimalloc-new-delete.h is no alternative: its `new` ends the
// program when memory is exhausted, instead of throwing.
void* operator new(size_t bytes) {
  if (void* memory = mi_malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  if (void* memory = mi_malloc_aligned(bytes, static_cast<size_t>(alignment))) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { mi_free(memory); }
void operator delete(void* memory, size_t bytes) noexcept { mi_free_size(memory, bytes); }
void operator delete(void* memory, std::align_val_t alignment) noexcept {
  mi_free_aligned(memory, static_cast<size_t>(alignment));
}
void operator delete(void* memory, size_t bytes, std::align_val_t alignment) noexcept {
  mi_free_size_aligned(memory, bytes, static_cast<size_t>(alignment));
}

#endif
