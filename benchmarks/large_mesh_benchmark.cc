// large_mesh: one MoE layer with 2,048 experts executed with real values on 2,048 simulated devices.
//
//   bazel run -c opt //benchmarks:large_mesh
// A group of 16 tokens on each device, M 16, H 32, capacity 1, forward.
#include <sys/resource.h>

#include <random>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "examples/moe/transformer.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "runtime/partitioned/run_partitioned.h"

namespace toroid {
namespace {

void MoeLayerOnMesh(benchmark::State& state) {
  MoeTransformerConfig config;
  config.devices = config.experts = config.groups = state.range(0);
  config.sequences = 1;
  config.sequence_length = 16;
  config.model = 16;
  config.hidden = 32;
  absl::StatusOr<std::unique_ptr<Module>> module = BuildMoeLayer(config);
  if (!module.ok()) return state.SkipWithError(std::string(module.status().message()).c_str());
  std::mt19937_64 random(1);
  std::uniform_real_distribution<float> distribution(-0.5f, 0.5f);
  std::vector<Literal> arguments;
  for (const Instruction* parameter : (*module)->entry()->parameters()) {
    Literal literal(parameter->shape());
    for (float& value : literal.mutable_data<float>()) value = distribution(random);
    arguments.push_back(std::move(literal));
  }
  for (auto _ : state) {
    absl::StatusOr<Partitioned> partitioned = PartitionModule(**module, PartitionOptions());
    if (!partitioned.ok()) return state.SkipWithError(std::string(partitioned.status().message()).c_str());
    absl::StatusOr<Literal> result =
        RunPartitioned(*partitioned->module, arguments, (*module)->entry()->root()->shape());
    if (!result.ok()) return state.SkipWithError(std::string(result.status().message()).c_str());
    benchmark::DoNotOptimize(*result);
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_GiB"] = static_cast<double>(usage.ru_maxrss) / (1 << 20);
}
BENCHMARK(MoeLayerOnMesh)->Arg(64)->Arg(512)->Arg(2048)->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
}  // namespace toroid

BENCHMARK_MAIN();
