// Large blocks of memory, side by side in one range of addresses that is reserved once.
//
// A block is cut out of the smallest free range that holds it, else it extends what is in use; neighbours that are free become
// one range. Pages stay where they are when a block is freed, so a program whose arrays have many sizes pays for fresh pages
// once, and takes little more memory than is ever in use at once.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace toroid {

// Thread-safe.
class BlockArena {
 public:
  BlockArena() = default;
  ~BlockArena();
  BlockArena(const BlockArena&) = delete;
  BlockArena& operator=(const BlockArena&) = delete;

  static constexpr int64_t kPage = 4096;
  // `size` bytes, a multiple of kPage; null if there is no memory.
  char* Take(int64_t size);
  void Give(char* block, int64_t size);

 private:
  void Reserve();
  void AddFree(int64_t place, int64_t size);
  void RemoveFree(std::map<int64_t, int64_t>::iterator range);

  std::mutex mutex_;
  bool reserved_ = false;
  // Null: no addresses could be reserved. Then blocks come from the system one by one.
  char* begin_ = nullptr;
  int64_t addresses_ = 0;
  int64_t end_ = 0;   // Of what is in use; no free range ends here.
  int64_t high_ = 0;  // Beyond it no page is held.
  int64_t in_use_ = 0;
  std::map<int64_t, int64_t> free_;                // Place and size.
  std::set<std::pair<int64_t, int64_t>> by_size_;  // Size and place.
};

}  // namespace toroid
