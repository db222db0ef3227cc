#include "runtime/mesh/block_arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace toroid {
namespace {

// Most memory that stays in free ranges.
constexpr int64_t kMostIdle = int64_t{1} << 30;
constexpr int64_t kHugePage = 2 << 20;
// Behind so many bytes the system is asked for huge pages: a program that takes more writes a few MB the sooner for one page
// fault in place of 512.
constexpr int64_t kSmall = 2 * kHugePage;
// Addresses reserved, as a multiple of the machine's memory: free ranges lie between blocks.
constexpr int64_t kTimesMemory = 4;

char* Map(int64_t size) {
  void* memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

}  // namespace

BlockArena::~BlockArena() {
  if (begin_ != nullptr) munmap(begin_, addresses_);
}

void BlockArena::Reserve() {
  reserved_ = true;
  const int64_t memory = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  addresses_ = std::max<int64_t>(memory, kMostIdle) * kTimesMemory;
  begin_ = Map(addresses_);
  if (begin_ == nullptr) return;
  const auto first = (reinterpret_cast<intptr_t>(begin_) + kSmall + kHugePage - 1) & ~(kHugePage - 1);
  madvise(reinterpret_cast<char*>(first), begin_ + addresses_ - reinterpret_cast<char*>(first),
          MADV_HUGEPAGE);
}

void BlockArena::AddFree(int64_t place, int64_t size) {
  free_[place] = size;
  by_size_.emplace(size, place);
}

void BlockArena::RemoveFree(std::map<int64_t, int64_t>::iterator range) {
  by_size_.erase({range->second, range->first});
  free_.erase(range);
}

char* BlockArena::Take(int64_t size) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!reserved_) Reserve();
  if (begin_ == nullptr || size > addresses_) return Map(size);
  int64_t place;
  if (const auto fit = by_size_.lower_bound({size, 0}); fit != by_size_.end()) {
    const int64_t whole = fit->first;
    place = fit->second;
    RemoveFree(free_.find(place));
    if (whole > size) AddFree(place + size, whole - size);
  } else {
    if (end_ > addresses_ - size) return Map(size);
    place = end_;
    end_ += size;
    high_ = std::max(high_, end_);
  }
  in_use_ += size;
  return begin_ + place;
}

void BlockArena::Give(char* block, int64_t size) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (begin_ == nullptr || block < begin_ || block >= begin_ + addresses_) {
    munmap(block, size);
    return;
  }
  int64_t place = block - begin_, all = size;
  in_use_ -= size;
  const auto after = free_.lower_bound(place);
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == place) {
      place = before->first;
      all += before->second;
      RemoveFree(before);
    }
  }
  if (const auto next = free_.find(place + all); next != free_.end()) {
    all += next->second;
    RemoveFree(next);
  }
  if (place + all == end_) {
    end_ = place;
  } else {
    AddFree(place, all);
  }
  if (high_ - in_use_ > kMostIdle) {
    madvise(begin_ + end_, high_ - end_, MADV_DONTNEED);
    high_ = end_;
  }
  if (high_ - in_use_ > kMostIdle) madvise(block, size, MADV_DONTNEED);
}

}  // namespace toroid
