// collectives_speed: the time to simulate a collective, from groups to bytes on every link.
//
//   bazel run -c opt //benchmarks:collectives_speed
// Nothing is cached between rounds. (With the cache, a repeated collective over the same groups is one
// look-up.)
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "benchmark/benchmark.h"
#include "simulator/collectives/collective_simulator.h"

namespace toroid {
namespace {

void Simulate(benchmark::State& state, const std::vector<int64_t>& chips, bool wrap, CollectiveKind kind) {
  NetworkSpec network;
  network.set_link_bytes_per_second(82e9);
  network.set_injection_bytes_per_second(139e9);
  network.mutable_algorithms()->set_all_reduce("axes");
  network.mutable_algorithms()->set_all_to_all("direct");
  SliceSpec slice;
  int64_t cores = 2;
  for (const int64_t n : chips) {
    slice.add_chips(n);
    slice.add_wrap(wrap);
    cores *= n;
  }
  std::vector<int64_t> ids(cores);
  std::iota(ids.begin(), ids.end(), 0);
  DeviceGroups groups;
  groups.Append(ids);
  for (auto _ : state) {
    auto simulator = CollectiveSimulator::Create(network, slice, 2, RouterEfficiencyTable(), ids);
    if (!simulator.ok() || !(*simulator)->Estimate(kind, 8 << 20, groups).ok())
      return state.SkipWithError("failed");
  }
}

constexpr auto kAllToAll = CollectiveKind::kAllToAll, kAllReduce = CollectiveKind::kAllReduce;
BENCHMARK_CAPTURE(Simulate, all_to_all_32x32_mesh, {32, 32}, false, kAllToAll)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Simulate, all_to_all_32x32_torus, {32, 32}, true, kAllToAll)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Simulate, all_to_all_32x32x32_torus, {32, 32, 32}, true, kAllToAll)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Simulate, all_reduce_32x32_mesh, {32, 32}, false, kAllReduce)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Simulate, all_reduce_32x32x32_torus, {32, 32, 32}, true, kAllReduce)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace toroid

BENCHMARK_MAIN();
