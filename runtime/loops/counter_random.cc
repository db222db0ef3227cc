// BUILD: per_level
#include "runtime/loops/counter_random.h"

#include <algorithm>

namespace toroid::TOROID_LEVEL {
namespace {

// Counters that are taken through the rounds beside each other, in vectors.
constexpr int kBeside = 64;

uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }
uint32_t High(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

// Four rounds on all counters, and the keys after them.
template <int kR0, int kR1, int kR2, int kR3>
void FourRounds(uint32_t* __restrict x, uint32_t* __restrict y, uint32_t key_x, uint32_t key_y) {
  for (int i = 0; i < kBeside; ++i) {
    uint32_t a = x[i], b = y[i];
    a += b;
    b = (b << kR0 | b >> (32 - kR0)) ^ a;
    a += b;
    b = (b << kR1 | b >> (32 - kR1)) ^ a;
    a += b;
    b = (b << kR2 | b >> (32 - kR2)) ^ a;
    a += b;
    b = (b << kR3 | b >> (32 - kR3)) ^ a;
    x[i] = a + key_x;
    y[i] = b + key_y;
  }
}

void ThreefryRounds(std::array<uint32_t, 2> key, uint32_t* x, uint32_t* y) {
  const uint32_t k[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA};
  for (int i = 0; i < kBeside; ++i) {
    x[i] += k[0];
    y[i] += k[1];
  }
  FourRounds<13, 15, 26, 6>(x, y, k[1], k[2] + 1);
  FourRounds<17, 29, 16, 24>(x, y, k[2], k[0] + 2);
  FourRounds<13, 15, 26, 6>(x, y, k[0], k[1] + 3);
  FourRounds<17, 29, 16, 24>(x, y, k[1], k[2] + 4);
  FourRounds<13, 15, 26, 6>(x, y, k[2], k[0] + 5);
}

// All ten rounds on all counters; c[w] are words w.
void PhiloxRounds(std::array<uint32_t, 2> key, uint32_t (*__restrict c)[kBeside]) {
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kBeside; ++i) {
      const uint64_t a = uint64_t{0xD2511F53} * c[0][i], b = uint64_t{0xCD9E8D57} * c[2][i];
      c[0][i] = High(b) ^ c[1][i] ^ key[0];
      c[1][i] = Low(b);
      c[2][i] = High(a) ^ c[3][i] ^ key[1];
      c[3][i] = Low(a);
    }
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
}

// words[4 i ..] of the counters that set_counter(i, c, j) puts into column j of c.
template <typename SetCounter>
void Philox(std::array<uint32_t, 2> key, int64_t n, uint32_t* words, SetCounter&& set_counter) {
  uint32_t c[4][kBeside];
  for (int64_t first = 0; first < n; first += kBeside) {
    for (int j = 0; j < kBeside; ++j) set_counter(static_cast<uint64_t>(first + j), c, j);
    PhiloxRounds(key, c);
    const int64_t count = std::min<int64_t>(kBeside, n - first);
    for (int64_t j = 0; j < count; ++j) {
      for (int w = 0; w < 4; ++w) words[4 * (first + j) + w] = c[w][j];
    }
  }
}

}  // namespace

void ThreefryBlocks(std::array<uint32_t, 2> key, uint64_t counter, int64_t n, uint32_t* first,
                    uint32_t* second) {
  uint32_t x[kBeside], y[kBeside];
  for (int64_t i = 0; i < n; i += kBeside) {
    for (int j = 0; j < kBeside; ++j) {
      const uint64_t value = counter + static_cast<uint64_t>(i + j);
      x[j] = Low(value);
      y[j] = High(value);
    }
    ThreefryRounds(key, x, y);
    const int64_t count = std::min<int64_t>(kBeside, n - i);
    std::copy_n(x, count, first + i);
    std::copy_n(y, count, second + i);
  }
}

void PhiloxBlocks(std::array<uint32_t, 2> key, uint64_t low, uint64_t high, int64_t n, uint32_t* words) {
  Philox(key, n, words, [&](uint64_t i, uint32_t(*c)[kBeside], int j) {
    const uint64_t sum = low + i, carried = high + (sum < low);
    c[0][j] = Low(sum);
    c[1][j] = High(sum);
    c[2][j] = Low(carried);
    c[3][j] = High(carried);
  });
}

void PhiloxOfIndices(std::array<uint32_t, 2> key, uint64_t first, uint64_t draw, int64_t n, uint32_t* words) {
  Philox(key, n, words, [&](uint64_t i, uint32_t(*c)[kBeside], int j) {
    c[0][j] = Low(first + i);
    c[1][j] = High(first + i);
    c[2][j] = Low(draw);
    c[3][j] = High(draw);
  });
}

std::array<uint32_t, 2> Threefry2x32(std::array<uint32_t, 2> key, std::array<uint32_t, 2> input) {
  std::array<uint32_t, 2> words;
  ThreefryBlocks(key, input[0] | static_cast<uint64_t>(input[1]) << 32, 1, &words[0], &words[1]);
  return words;
}

std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 2> key, std::array<uint32_t, 4> c) {
  std::array<uint32_t, 4> words;
  PhiloxBlocks(key, c[0] | static_cast<uint64_t>(c[1]) << 32, c[2] | static_cast<uint64_t>(c[3]) << 32, 1,
               words.data());
  return words;
}

}  // namespace toroid::TOROID_LEVEL
