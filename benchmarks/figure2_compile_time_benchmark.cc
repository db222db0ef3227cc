// figure2_compile_time: partitioning time and program size over the number of devices, SPMD beside MPMD.
//
//   bazel run -c opt //benchmarks:figure2_compile_time
// At every point the program is one MoE layer with 65,536 experts and 65,536 groups, so that only the number
// of devices changes. SPMD emits one program for all devices and decides each op alone; "searched" adds the
// search for better plans. "writing" is the serialization, which is part of the column "SPMD"; a file lists
// the number of each device (its device assignment), some 7 bytes per device. MPMD is emulated by emitting
// one program for each device, up to a limit of memory and time. An SPMD time is the best of all runs within
// 0.3 s; MPMD runs once. Prints a table and writes it to benchmarks/results/figure2_compile_time.txt, with a
// plot beside it.
// Source: GShard, arXiv:2006.16668, figure 2.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmark/benchmark.h"
#include "benchmarks/gnuplot.h"
#include "examples/moe/transformer.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/io/module_proto.h"
#include "partitioner/stages/spmd_partitioner.h"

namespace toroid {
namespace {

constexpr int64_t kMostDevices = 65536;
constexpr int64_t kMostBytes = int64_t{2} << 30;  // Limit for the MPMD programs kept.
constexpr double kMostSeconds = 20;               // Limit for one MPMD point.

struct Point {
  double seconds = 1e9;  // To partition and write.
  double writing = 1e9;  // Part of `seconds`: serialization.
  double bytes = 0;
};
std::map<int64_t, Point> spmd_points, searched_points, mpmd_points;

std::unique_ptr<Module> Layer(int64_t devices) {
  MoeTransformerConfig config;
  config.devices = devices;
  config.experts = config.groups = kMostDevices;
  config.sequences = 1;
  config.sequence_length = 1024;
  absl::StatusOr<std::unique_ptr<Module>> module = BuildMoeLayer(config);
  if (!module.ok()) {
    std::fprintf(stderr, "%s\n", std::string(module.status().message()).c_str());
    std::exit(1);
  }
  return *std::move(module);
}

// Partitions and serializes once; false on an error.
bool Emit(const Module& layer, bool searched, benchmark::State& state, std::string* bytes,
          double* writing = nullptr) {
  PartitionOptions options;
  if (!searched) options.strategies = NoSearch();
  absl::StatusOr<Partitioned> partitioned = PartitionModule(layer, options);
  if (!partitioned.ok()) {
    state.SkipWithError(std::string(partitioned.status().message()).c_str());
    return false;
  }
  const Stopwatch start;
  AppendModuleProto(*partitioned->module, bytes);
  if (writing != nullptr) *writing = start.Seconds();
  return true;
}

void OneProgram(benchmark::State& state, bool searched, std::map<int64_t, Point>* points) {
  const std::unique_ptr<Module> layer = Layer(state.range(0));
  Point& point = (*points)[state.range(0)];
  for (auto _ : state) {
    const Stopwatch start;
    std::string bytes;
    double writing = 0;
    if (!Emit(*layer, searched, state, &bytes, &writing)) return;
    point.seconds = std::min(point.seconds, start.Seconds());
    point.writing = std::min(point.writing, writing);
    point.bytes = static_cast<double>(bytes.size());
  }
  state.counters["program_bytes"] = point.bytes;
}

void Spmd(benchmark::State& state) { OneProgram(state, /*searched=*/false, &spmd_points); }
void SpmdSearched(benchmark::State& state) { OneProgram(state, /*searched=*/true, &searched_points); }

void Mpmd(benchmark::State& state) {
  const int64_t devices = state.range(0);
  const std::unique_ptr<Module> layer = Layer(devices);
  for (auto _ : state) {
    const Stopwatch start;
    std::vector<std::string> programs;
    int64_t bytes = 0;
    for (int64_t device = 0; device < devices; ++device) {
      programs.emplace_back();
      if (!Emit(*layer, /*searched=*/false, state, &programs.back())) return;
      bytes += static_cast<int64_t>(programs.back().size());
      if (bytes > kMostBytes || start.Seconds() > kMostSeconds) {
        return state.SkipWithError("beyond the memory or time this emulation takes");
      }
    }
    mpmd_points[devices] = {start.Seconds(), 0, static_cast<double>(bytes)};
    state.counters["program_bytes"] = static_cast<double>(bytes);
  }
}

BENCHMARK(Spmd)->RangeMultiplier(4)->Range(16, kMostDevices)->Unit(benchmark::kMillisecond)->MinTime(0.3);
BENCHMARK(SpmdSearched)
    ->RangeMultiplier(4)
    ->Range(16, kMostDevices)
    ->Unit(benchmark::kMillisecond)
    ->MinTime(0.3);
BENCHMARK(Mpmd)->RangeMultiplier(4)->Range(16, kMostDevices)->Unit(benchmark::kMillisecond)->Iterations(1);

// Plots seconds over devices, both axes logarithmic.
std::string PlotScript() {
  std::string script;
  const auto block = [&](const char* name, const std::map<int64_t, Point>& points) {
    absl::StrAppend(&script, name, " << EOD\n");
    for (const auto& [devices, point] : points)
      absl::StrAppendFormat(&script, "%d %g\n", devices, point.seconds);
    script += "EOD\n";
  };
  block("$spmd", spmd_points);
  block("$mpmd", mpmd_points);
  script +=
      "set title 'Partitioning time of one MoE layer, 65,536 experts'\nset logscale xy\nset format y '%g'\nset grid\n"
      "set xlabel 'devices'\nset ylabel 'seconds'\nset xtics (16,64,256,1024,4096,16384,65536)\nset xrange [12:90000]\n"
      "set key right center\n"
      "plot $mpmd using 1:2 with linespoints lw 2 pt 7 lc rgb '#c04a2f' title 'MPMD: a program for each device', "
      "$spmd using 1:2 with linespoints lw 2 pt 7 lc rgb '#1f6fb4' title 'SPMD: one program'\n";
  return script;
}

std::string Table() {
  std::string text = absl::StrFormat("%10s %14s %14s %14s %14s %14s %16s\n", "devices", "SPMD", "writing",
                                     "searched", "SPMD program", "MPMD", "MPMD programs");
  for (const auto& [devices, point] : spmd_points) {
    std::string mpmd = absl::StrFormat("%14s %16s", "-", "-");
    const auto it = mpmd_points.find(devices);
    if (it != mpmd_points.end()) {
      mpmd = absl::StrFormat("%11.1f ms %13.0f kB", it->second.seconds * 1e3, it->second.bytes / 1e3);
    }
    absl::StrAppendFormat(&text, "%10d %11.2f ms %11.2f ms %11.2f ms %11.1f kB %s\n", devices,
                          point.seconds * 1e3, point.writing * 1e3, searched_points[devices].seconds * 1e3,
                          point.bytes / 1e3, mpmd);
  }
  if (spmd_points.count(16) && spmd_points.count(kMostDevices)) {
    const Point &few = spmd_points[16], &most = spmd_points[kMostDevices];
    absl::StrAppendFormat(
        &text, "SPMD time for 65,536 devices divided by that for 16: %.2f; without writing: %.2f\n",
        most.seconds / few.seconds, (most.seconds - most.writing) / (few.seconds - few.writing));
  }
  return text;
}

absl::Status Report() {
  const std::string text = absl::StrCat(
      "GShard, figure 2: partitioning time of one MoE layer with 65,536 experts. Written by "
      "//benchmarks:figure2_compile_time.\nMeasured on one machine. -: more than 2 GB of programs, or more than 20 s.\n\n",
      Table());
  std::printf("\n%s", text.c_str());
  RETURN_IF_ERROR(WriteFile(ResultPath("figure2_compile_time.txt"), text));
  return PlotSvg(PlotScript(), ResultPath("figure2_compile_time.svg"));
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  // A run of selected benchmarks (--benchmark_filter) leaves the results unchanged.
  if (toroid::spmd_points.empty() || toroid::mpmd_points.empty()) return 0;
  const absl::Status status = toroid::Report();
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}
