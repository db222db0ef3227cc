// halo_exchange: partitioning of ops that read rows of other tiles, over the number of devices.
//
//   bazel run -c opt //benchmarks:halo_exchange
// 128 rows per device. Prints the time of one partitioning, and the collectives and bytes per device of the
// program. The time should grow only with the pairs of the permutes, collectives and bytes not at all (a
// cumulative sum gathers one row per device).
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "hlo/analysis/program_statistics.h"
#include "hlo/io/hlo_text.h"
#include "partitioner/stages/spmd_partitioner.h"

namespace toroid {
namespace {

// `op` computes a result of `rows` rows from x and zero.
void Partition(benchmark::State& state, int64_t devices, int64_t rows, const std::string& op) {
  const std::string cut = absl::StrCat(", sharding={devices=[", devices, "]<=[", devices, "]}\n");
  const auto module =
      ParseModule(absl::StrCat("add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, "
                               "b) }\nENTRY main {\n  x = f32[",
                               128 * devices, "] parameter(0)", cut,
                               "  zero = f32[] constant(0)\n  ROOT y = f32[", rows, "] ", op, cut, "}\n"));
  if (!module.ok()) return state.SkipWithError(std::string(module.status().message()).c_str());
  int64_t collectives = 0, bytes = 0;
  for (auto _ : state) {
    const absl::StatusOr<Partitioned> partitioned = PartitionModule(**module, PartitionOptions());
    if (!partitioned.ok()) return state.SkipWithError(std::string(partitioned.status().message()).c_str());
    collectives = bytes = 0;
    for (const auto& [opcode, totals] : ComputeStatistics(*partitioned->module).collectives) {
      collectives += totals.count;
      bytes += totals.sent_bytes;
    }
  }
  state.counters["collectives"] = static_cast<double>(collectives);
  state.counters["sent_bytes"] = static_cast<double>(bytes);
}

void Slice(benchmark::State& state) {
  const int64_t n = 128 * state.range(0);
  Partition(state, state.range(0), n / 2, absl::StrCat("slice(x), slice={[0:", n / 2, "]}"));
}
void Pad(benchmark::State& state) {
  Partition(state, state.range(0), 128 * state.range(0) + 2, "pad(x, zero), padding=2_0");
}
void Window(benchmark::State& state) {
  Partition(state, state.range(0), 128 * state.range(0),
            "reduce-window(x, zero), window={size=5 pad=2_2}, to_apply=add");
}
void CumulativeSum(benchmark::State& state) {
  const int64_t n = 128 * state.range(0);
  Partition(state, state.range(0), n,
            absl::StrCat("reduce-window(x, zero), window={size=", n, " pad=", n - 1, "_0}, to_apply=add"));
}
BENCHMARK(Slice)->RangeMultiplier(16)->Range(16, 65536)->Unit(benchmark::kMillisecond);
BENCHMARK(Pad)->RangeMultiplier(16)->Range(16, 65536)->Unit(benchmark::kMillisecond);
BENCHMARK(Window)->RangeMultiplier(16)->Range(16, 65536)->Unit(benchmark::kMillisecond);
BENCHMARK(CumulativeSum)->RangeMultiplier(16)->Range(16, 65536)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace toroid

BENCHMARK_MAIN();
