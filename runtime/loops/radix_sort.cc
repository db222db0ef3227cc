// BUILD: copts = ["-O3"]
#include "runtime/loops/radix_sort.h"

#include <algorithm>
#include <array>

#include "runtime/loops/thread_pool.h"

namespace toroid {
namespace {

constexpr int kDigitBits = 11;  // 2,048 places to write to: what the caches and the table of pages hold.
constexpr int kDigits = 1 << kDigitBits;
constexpr int64_t kLeastPart = 32 << 10;  // Numbers for which another thread is worth it.

using Counts = std::array<int64_t, kDigits>;

// Moves the numbers into the order of one digit. False if all have the same, and nothing was moved.
bool SortByDigit(int shift, uint64_t mask, const std::vector<uint64_t>& from, int64_t parts,
                 std::vector<Counts>& counts, std::vector<uint64_t>& to) {
  const int64_t n = static_cast<int64_t>(from.size());
  ParallelFor(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      Counts& count = counts[part];
      count.fill(0);
      for (int64_t i = n * part / parts; i < n * (part + 1) / parts; ++i) ++count[from[i] >> shift & mask];
    }
  });
  // Where each part's numbers of a digit begin: behind those of smaller digits, and of the parts before.
  int64_t next = 0;
  for (int digit = 0; digit < kDigits; ++digit) {
    const int64_t before = next;
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t count = counts[part][digit];
      counts[part][digit] = next;
      next += count;
    }
    if (next - before == n) return false;
  }
  ParallelFor(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      Counts& place = counts[part];
      for (int64_t i = n * part / parts; i < n * (part + 1) / parts; ++i) {
        to[place[from[i] >> shift & mask]++] = from[i];
      }
    }
  });
  return true;
}

}  // namespace

void RadixSort(int first_bit, int bits, bool parallel, std::vector<uint64_t>* numbers,
               std::vector<uint64_t>* scratch) {
  const int64_t n = static_cast<int64_t>(numbers->size());
  const int64_t parts = parallel ? std::clamp<int64_t>(n / kLeastPart, 1, NumThreads()) : 1;
  std::vector<Counts> counts(parts);
  scratch->resize(n);
  // Digits of equal widths, but for the last.
  const int digits = (bits + kDigitBits - 1) / kDigitBits,
            width = digits == 0 ? 0 : (bits + digits - 1) / digits;
  for (int done = 0; done < bits; done += width) {
    const uint64_t mask = (uint64_t{1} << std::min(width, bits - done)) - 1;
    if (SortByDigit(first_bit + done, mask, *numbers, parts, counts, *scratch)) numbers->swap(*scratch);
  }
}

}  // namespace toroid
