// partition_full_size: reading, propagating, partitioning and writing full-size training programs.
//
//   bazel run -c opt //benchmarks:partition_full_size
// BUILD: data = ["//tests/corpus:full_size"]
#include <chrono>
#include <string>

#include "benchmark/benchmark.h"
#include "examples/moe/transformer.h"
#include "hlo/io/file.h"
#include "hlo/io/module_proto.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "tests/corpus_files.h"

namespace toroid {
namespace {

void PartitionFullSize(benchmark::State& state, const std::string& name) {
  const std::string path = CorpusFiles("full_size", name)[0];
  double read = 0, propagate = 0, partition = 0, optimize = 0, write = 0;
  int64_t instructions = 0;
  for (auto _ : state) {
    const auto now = [] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    const double start = now();
    absl::StatusOr<HloFile> file = ReadHloFile(path);
    if (!file.ok()) return state.SkipWithError(std::string(file.status().message()).c_str());
    read += now() - start;
    absl::StatusOr<Partitioned> partitioned = PartitionModule(*file->module, PartitionOptions());
    if (!partitioned.ok()) return state.SkipWithError(std::string(partitioned.status().message()).c_str());
    const double end = now();
    std::string bytes;
    AppendModuleProto(*partitioned->module, &bytes);
    benchmark::DoNotOptimize(bytes);
    write += now() - end;
    propagate += partitioned->propagate_seconds;
    partition += partitioned->partition_seconds;
    optimize += partitioned->optimize_seconds;
    instructions = file->module->NumInstructions();
  }
  const auto milliseconds = [&](double seconds) {
    return benchmark::Counter(seconds * 1e3, benchmark::Counter::kAvgIterations);
  };
  state.counters["read_ms"] = milliseconds(read);
  state.counters["propagate_ms"] = milliseconds(propagate);
  state.counters["partition_ms"] = milliseconds(partition);
  state.counters["optimize_ms"] = milliseconds(optimize);
  state.counters["write_ms"] = milliseconds(write);
  state.counters["instructions"] = static_cast<double>(instructions);
}

BENCHMARK_CAPTURE(PartitionFullSize, moe_2048e_36l_forward,
                  std::string("moe_2048e_36l_forward.shardy.hlo.pb"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(PartitionFullSize, moe_2048e_36l_train, std::string("moe_2048e_36l_train.gspmd.hlo.pb"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(PartitionFullSize, moe_128e_12l_train, std::string("moe_128e_12l_train.shardy.hlo.pb"))
    ->Unit(benchmark::kMillisecond);

// The forward program of 65,536 experts, 36 layers, for any number of devices: the time must not depend on
// that number.
void PartitionBuiltForward(benchmark::State& state) {
  MoeTransformerConfig config = PaperConfig(65536, 36);
  config.devices = state.range(0);
  absl::StatusOr<std::unique_ptr<Module>> module = BuildMoeTransformer(config);
  if (!module.ok()) return state.SkipWithError(std::string(module.status().message()).c_str());
  for (auto _ : state) {
    absl::StatusOr<Partitioned> partitioned = PartitionModule(**module, PartitionOptions());
    if (!partitioned.ok()) return state.SkipWithError(std::string(partitioned.status().message()).c_str());
    benchmark::DoNotOptimize(partitioned->module);
  }
}
BENCHMARK(PartitionBuiltForward)
    ->Arg(16)
    ->Arg(2048)
    ->Arg(65536)
    ->Unit(benchmark::kMillisecond)
    ->Repetitions(5)
    ->ReportAggregatesOnly();

}  // namespace
}  // namespace toroid

BENCHMARK_MAIN();
