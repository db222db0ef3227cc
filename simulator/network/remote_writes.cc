#include "simulator/network/remote_writes.h"

#include <algorithm>
#include <vector>

#include "hlo/base/math.h"
#include "simulator/network/draw.h"

namespace toroid {
namespace {

// A permutation of [0, n), another one for each key: four rounds of a Feistel network, repeated until the result is
// in range. Nothing is stored.
int64_t Shuffled(int64_t i, int64_t n, uint64_t key) {
  int half = 1;
  while (int64_t{1} << (2 * half) < n) ++half;
  const uint64_t mask = (uint64_t{1} << half) - 1;
  uint64_t x = static_cast<uint64_t>(i);
  do {
    uint64_t left = x >> half, right = x & mask;
    for (uint64_t round = 0; round < 4; ++round) {
      const uint64_t mixed = left ^ (Drawn((key * 4 + round) ^ (right << 32)) & mask);
      left = right;
      right = mixed;
    }
    x = left << half | right;
  } while (x >= static_cast<uint64_t>(n));
  return static_cast<int64_t>(x);
}

}  // namespace

WritesOfCore AllToAllWrites(const Topology& topology, const RouterSpec& router, Bytes bytes_per_core,
                            uint64_t seed) {
  const int64_t cores = topology.cores();
  const Bytes piece = CeilOfRatio(bytes_per_core, cores), chunk = router.write_bytes();
  return [=](int64_t core, int64_t index, RemoteWrite* write) {
    if (cores < 2) return false;
    const int64_t round = index / (cores - 1);
    if (round * chunk >= piece) return false;
    const uint64_t key = Drawn(seed) + static_cast<uint64_t>(core);
    write->target_core = (core + 1 + Shuffled(index % (cores - 1), cores - 1, key)) % cores;
    write->bytes = std::min(chunk, piece - round * chunk);
    return true;
  };
}

WritesOfCore PermuteWrites(const Topology& topology, const RouterSpec& router,
                           absl::Span<const std::pair<int64_t, int64_t>> pairs, Bytes bytes) {
  std::vector<int64_t> target(topology.cores(), -1);
  for (const auto& [from, to] : pairs) target[from] = to;
  const Bytes chunk = router.write_bytes();
  return [=](int64_t core, int64_t index, RemoteWrite* write) {
    if (target[core] < 0 || index * chunk >= bytes) return false;
    write->target_core = target[core];
    write->bytes = std::min(chunk, bytes - index * chunk);
    return true;
  };
}

}  // namespace toroid
