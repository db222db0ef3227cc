// Speed of the runtime's kernels beside the speed of the machine.
//
//   bazel run -c opt //benchmarks:runtime_kernels
//
// Pairs to compare: Dot and EigenProduct (GFLOP/s); Multiply, Reduce, Transpose and MemorySweep (bytes read
// and written per second, 64 MiB arrays); ScalarWhile reports seconds per iteration of a loop of small scalar
// ops.
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "Eigen/Core"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "benchmark/benchmark.h"
#include "hlo/base/status.h"
#include "hlo/io/hlo_text.h"
#include "runtime/engine/executor.h"
#include "runtime/loops/thread_pool.h"

namespace toroid {
namespace {

constexpr int64_t kBytes = 64 << 20;

template <typename T>
T ValueOrDie(absl::StatusOr<T> value) {
  TOROID_CHECK(value.ok(), value.status().ToString());
  return std::move(value).value();
}

// A module with arguments of ones, run repeatedly.
class Program {
 public:
  explicit Program(const std::string& text) : module_(ValueOrDie(ParseModule(text))) {
    executor_ = ValueOrDie(Executor::Create(*module_));
    for (const Instruction* parameter : module_->entry()->parameters()) {
      Literal ones(parameter->shape());
      if (parameter->shape().element_type() == xla::F32) {
        for (float& x : ones.mutable_data<float>()) x = 1;
      }
      arguments_.push_back(ValueOrDie(MeshValue::Uniform(ones, 1)));
    }
  }
  MeshValue Run() { return ValueOrDie(executor_->Run(arguments_, RunOptions())); }

 private:
  std::unique_ptr<Module> module_;
  std::unique_ptr<Executor> executor_;
  std::vector<MeshValue> arguments_;
};

void Dot(benchmark::State& state) {
  const int64_t n = state.range(0);
  Program program(absl::Substitute(R"(HloModule m
    ENTRY main {
      a = f32[$0,$0] parameter(0)
      b = f32[$0,$0] parameter(1)
      ROOT c = f32[$0,$0] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    })",
                                   n));
  ThreadPool pool(static_cast<int>(state.range(1)));
  const ScopedThreads threads(pool);
  for (auto _ : state) benchmark::DoNotOptimize(program.Run());
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * n * n * n * state.iterations(), benchmark::Counter::kIsRate);
}
BENCHMARK(Dot)->Args({1024, 1})->Args({1024, 2})->UseRealTime();

void EigenProduct(benchmark::State& state) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const int64_t n = state.range(0);
  const Matrix a = Matrix::Ones(n, n), b = Matrix::Ones(n, n);
  Matrix c(n, n);
  for (auto _ : state) {
    c.noalias() = a * b;
    benchmark::DoNotOptimize(c.data());
    benchmark::ClobberMemory();
  }
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * n * n * n * state.iterations(), benchmark::Counter::kIsRate);
}
BENCHMARK(EigenProduct)->Arg(1024)->UseRealTime();

// Reads one array and writes another, on `range(0)` threads.
void MemorySweep(benchmark::State& state) {
  ThreadPool pool(static_cast<int>(state.range(0)));
  const ScopedThreads threads(pool);
  std::vector<float> in(kBytes / sizeof(float), 1), out(kBytes / sizeof(float));
  for (auto _ : state) {
    ParallelFor(static_cast<int64_t>(in.size()), 16 << 10, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = in[i] + 1;
    });
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(2 * kBytes * state.iterations());
}
BENCHMARK(MemorySweep)->Arg(1)->Arg(2)->UseRealTime();

// Reads one array.
void MemoryRead(benchmark::State& state) {
  std::vector<float> in(kBytes / sizeof(float), 1);
  for (auto _ : state) benchmark::DoNotOptimize(Eigen::Map<Eigen::ArrayXf>(in.data(), in.size()).sum());
  state.SetBytesProcessed(kBytes * state.iterations());
}
BENCHMARK(MemoryRead)->UseRealTime();

void RunArrays(benchmark::State& state, const std::string& body, int64_t bytes) {
  Program program(absl::StrCat(R"(HloModule m
    add { x = f32[] parameter(0)
          y = f32[] parameter(1)
          ROOT z = f32[] add(x, y) }
    ENTRY main { x = f32[4096,4096] parameter(0)
    )",
                               body, "}"));
  ThreadPool pool(static_cast<int>(state.range(0)));
  const ScopedThreads threads(pool);
  for (auto _ : state) benchmark::DoNotOptimize(program.Run());
  state.SetBytesProcessed(bytes * state.iterations());
}

void Multiply(benchmark::State& state) {
  RunArrays(state, "ROOT y = f32[4096,4096] multiply(x, x)", 2 * kBytes);
}
BENCHMARK(Multiply)->Arg(1)->Arg(2)->UseRealTime();

void ReduceAll(benchmark::State& state) {
  RunArrays(state, "z = f32[] constant(0) ROOT y = f32[] reduce(x, z), dimensions={0,1}, to_apply=add",
            kBytes);
}
BENCHMARK(ReduceAll)->Arg(1)->Arg(2)->UseRealTime();

void ReduceRows(benchmark::State& state) {
  RunArrays(state, "z = f32[] constant(0) ROOT y = f32[4096] reduce(x, z), dimensions={1}, to_apply=add",
            kBytes);
}
BENCHMARK(ReduceRows)->Arg(1)->Arg(2)->UseRealTime();

void ReduceColumns(benchmark::State& state) {
  RunArrays(state, "z = f32[] constant(0) ROOT y = f32[4096] reduce(x, z), dimensions={0}, to_apply=add",
            kBytes);
}
BENCHMARK(ReduceColumns)->Arg(1)->Arg(2)->UseRealTime();

void Transpose(benchmark::State& state) {
  RunArrays(state, "ROOT y = f32[4096,4096] transpose(x), dimensions={1,0}", 2 * kBytes);
}
BENCHMARK(Transpose)->Arg(1)->Arg(2)->UseRealTime();

void Exponential(benchmark::State& state) {
  RunArrays(state, "ROOT y = f32[4096,4096] exponential(x)", 2 * kBytes);
}
BENCHMARK(Exponential)->Arg(1)->Arg(2)->UseRealTime();

void ScalarWhile(benchmark::State& state) {
  Program program(absl::Substitute(R"(HloModule m
    body { s = (s32[], f32[]) parameter(0)
           i = s32[] get-tuple-element(s), index=0
           x = f32[] get-tuple-element(s), index=1
           one = s32[] constant(1)
           half = f32[] constant(0.5)
           next = s32[] add(i, one)
           y = f32[] multiply(x, half)
           z = f32[] add(y, half)
           ROOT t = (s32[], f32[]) tuple(next, z) }
    condition { s = (s32[], f32[]) parameter(0)
                i = s32[] get-tuple-element(s), index=0
                n = s32[] constant($0)
                ROOT go = pred[] compare(i, n), direction=LT }
    ENTRY main { zero = s32[] constant(0)
                 x = f32[] parameter(0)
                 s = (s32[], f32[]) tuple(zero, x)
                 ROOT w = (s32[], f32[]) while(s), condition=condition, body=body })",
                                   state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(program.Run());
  state.counters["per_iteration"] =
      benchmark::Counter(static_cast<double>(state.range(0) * state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(ScalarWhile)->Arg(100000)->UseRealTime()->Unit(benchmark::kMillisecond);

// One step of a tanh layer on 2048 devices, each with a shard of 8 x 64, weights shared.
void SmallShards(benchmark::State& state) {
  const int64_t devices = 2048;
  const auto module = ValueOrDie(ParseModule(R"(HloModule m, num_partitions=2048
    add { x = f32[] parameter(0)
          y = f32[] parameter(1)
          ROOT z = f32[] add(x, y) }
    ENTRY main { x = f32[8,64] parameter(0)
                 w = f32[64,64] parameter(1)
                 y = f32[8,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
                 t = f32[8,64] tanh(y)
                 g = f32[64,64] dot(x, t), lhs_contracting_dims={0}, rhs_contracting_dims={0}
                 ROOT r = f32[64,64] all-reduce(g), to_apply=add, channel_id=1, use_global_device_ids=true,
                   replica_groups=[1,2048]<=[2048] })"));
  const auto executor = ValueOrDie(Executor::Create(*module));
  const std::vector<Literal> shards(devices, Literal(Shape(xla::F32, {8, 64})));
  const std::vector<MeshValue> arguments = {
      ValueOrDie(MeshValue::PerDevice(shards)),
      ValueOrDie(MeshValue::Uniform(Literal(Shape(xla::F32, {64, 64})), devices))};
  RunOptions options;
  options.num_partitions = devices;
  for (auto _ : state) benchmark::DoNotOptimize(ValueOrDie(executor->Run(arguments, options)));
}
BENCHMARK(SmallShards)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace toroid

BENCHMARK_MAIN();
