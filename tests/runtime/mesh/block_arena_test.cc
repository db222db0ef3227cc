// BUILD: size = "small"
#include "runtime/mesh/block_arena.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace toroid {
namespace {

constexpr int64_t kPage = BlockArena::kPage;

TEST(BlockArenaTest, FreedNeighboursHoldALargerBlock) {
  BlockArena arena;
  char* const a = arena.Take(3 * kPage);
  char* const b = arena.Take(5 * kPage);
  char* const c = arena.Take(2 * kPage);
  EXPECT_EQ(b, a + 3 * kPage);
  arena.Give(a, 3 * kPage);
  arena.Give(b, 5 * kPage);
  EXPECT_EQ(arena.Take(8 * kPage), a);
  arena.Give(c, 2 * kPage);
  EXPECT_EQ(arena.Take(4 * kPage), c);
}

TEST(BlockArenaTest, TheSmallestRangeThatHoldsABlockIsCut) {
  BlockArena arena;
  char* const large = arena.Take(9 * kPage);
  arena.Take(kPage);
  char* const small = arena.Take(3 * kPage);
  arena.Take(kPage);
  arena.Give(large, 9 * kPage);
  arena.Give(small, 3 * kPage);
  EXPECT_EQ(arena.Take(2 * kPage), small);
  EXPECT_EQ(arena.Take(2 * kPage), large);
}

// Blocks of random sizes, each filled with a number of its own: none may touch another, and what they take from first to last
// is little more than they ever took at once.
TEST(BlockArenaTest, RandomBlocksKeepTheirContents) {
  struct Held {
    char* data;
    int64_t size;
    char mark;
  };
  std::mt19937 random(1);
  BlockArena arena;
  std::vector<Held> held;
  int64_t bytes = 0, most = 0;
  char *first = nullptr, *last = nullptr;
  for (int i = 0; i < 20000; ++i) {
    const bool take = held.empty() || (bytes < 8'000'000 && random() % 2 == 0);
    if (take) {
      const int64_t size = (1 + random() % (random() % 4 == 0 ? 200 : 20)) * kPage;
      const Held block{arena.Take(size), size, static_cast<char>(random())};
      ASSERT_NE(block.data, nullptr);
      std::memset(block.data, block.mark, size);
      held.push_back(block);
      bytes += size;
      most = std::max(most, bytes);
      first = first == nullptr ? block.data : std::min(first, block.data);
      last = std::max(last, block.data + size);
      continue;
    }
    const size_t which = random() % held.size();
    const Held block = held[which];
    for (int64_t at = 0; at < block.size; at += 1021) ASSERT_EQ(block.data[at], block.mark);
    ASSERT_EQ(block.data[block.size - 1], block.mark);
    arena.Give(block.data, block.size);
    held[which] = held.back();
    held.pop_back();
    bytes -= block.size;
  }
  EXPECT_LT(last - first, most * 3 / 2);
}

}  // namespace
}  // namespace toroid
