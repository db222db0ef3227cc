// figure2_compile_time: partitioning time and program size over the number of devices, SPMD beside MPMD.
//
//   bazel run -c opt //benchmarks:figure2_compile_time
// The program is one MoE layer with 65,536 experts and groups at every point, so that only the number of
// devices changes. SPMD emits one program for all devices. MPMD is emulated by emitting one for each device,
// as far as memory and patience go. Prints a table and writes figure2_compile_time.svg into the current
// folder (the workspace's root under `bazel run`). Source: GShard, arXiv:2006.16668, figure 2.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmark/benchmark.h"
#include "examples/moe_transformer_model.h"
#include "hlo/base/files.h"
#include "hlo/base/stopwatch.h"
#include "hlo/io/module_proto.h"
#include "partitioner/stages/spmd_partitioner.h"

namespace toroid {
namespace {

constexpr int64_t kMostDevices = 65536;
constexpr int64_t kMostBytes = int64_t{2} << 30;  // Of MPMD programs kept.
constexpr double kMostSeconds = 20;               // Of one MPMD point.

struct Point {
  double seconds = 0;
  double bytes = 0;
};
std::map<int64_t, Point> spmd_points, mpmd_points;

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
bool Emit(const Module& layer, benchmark::State& state, std::string* bytes) {
  absl::StatusOr<Partitioned> partitioned = PartitionModule(layer, PartitionOptions());
  if (!partitioned.ok()) {
    state.SkipWithError(std::string(partitioned.status().message()).c_str());
    return false;
  }
  AppendModuleProto(*partitioned->module, bytes);
  return true;
}

void Spmd(benchmark::State& state) {
  const std::unique_ptr<Module> layer = Layer(state.range(0));
  Point& point = spmd_points[state.range(0)];
  point.seconds = 1e9;
  for (auto _ : state) {
    const Stopwatch start;
    std::string bytes;
    if (!Emit(*layer, state, &bytes)) return;
    point.seconds = std::min(point.seconds, start.Seconds());
    point.bytes = static_cast<double>(bytes.size());
  }
  state.counters["program_bytes"] = point.bytes;
}

void Mpmd(benchmark::State& state) {
  const int64_t devices = state.range(0);
  const std::unique_ptr<Module> layer = Layer(devices);
  for (auto _ : state) {
    const Stopwatch start;
    std::vector<std::string> programs;
    int64_t bytes = 0;
    for (int64_t device = 0; device < devices; ++device) {
      programs.emplace_back();
      if (!Emit(*layer, state, &programs.back())) return;
      bytes += static_cast<int64_t>(programs.back().size());
      if (bytes > kMostBytes || start.Seconds() > kMostSeconds) {
        return state.SkipWithError("beyond the memory or time this emulation takes");
      }
    }
    mpmd_points[devices] = {start.Seconds(), static_cast<double>(bytes)};
    state.counters["program_bytes"] = static_cast<double>(bytes);
  }
}

BENCHMARK(Spmd)->RangeMultiplier(4)->Range(16, kMostDevices)->Unit(benchmark::kMillisecond)->MinTime(0.3);
BENCHMARK(Mpmd)->RangeMultiplier(4)->Range(16, kMostDevices)->Unit(benchmark::kMillisecond)->Iterations(1);

// Seconds over devices, both axes logarithmic.
std::string Plot() {
  constexpr double kLeft = 70, kTop = 30, kWidth = 520, kHeight = 300;
  double low = 1e9, high = 0;
  for (const auto* points : {&spmd_points, &mpmd_points}) {
    for (const auto& [devices, point] : *points) {
      low = std::min(low, point.seconds);
      high = std::max(high, point.seconds);
    }
  }
  const double bottom = std::floor(std::log10(low)), top = std::ceil(std::log10(high));
  const auto x = [&](double devices) { return kLeft + kWidth * (std::log2(devices) - 4) / 12; };
  const auto y = [&](double seconds) {
    return kTop + kHeight * (top - std::log10(seconds)) / std::max(1.0, top - bottom);
  };
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"680\" height=\"400\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"680\" height=\"400\" fill=\"white\"/>\n<text x=\"%g\" y=\"18\" "
      "font-size=\"14\">Partitioning time of one MoE layer, 65,536 experts</text>\n",
      kLeft);
  for (double e = bottom; e <= top; ++e) {
    const double at = y(std::pow(10, e));
    absl::StrAppendFormat(&svg, "<line x1=\"%g\" y1=\"%g\" x2=\"%g\" y2=\"%g\" stroke=\"#ddd\"/>\n", kLeft,
                          at, kLeft + kWidth, at);
    absl::StrAppendFormat(&svg, "<text x=\"%g\" y=\"%g\" text-anchor=\"end\">%g s</text>\n", kLeft - 6,
                          at + 4, std::pow(10, e));
  }
  for (int64_t devices = 16; devices <= kMostDevices; devices *= 4) {
    absl::StrAppendFormat(&svg, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">%d</text>\n", x(devices),
                          kTop + kHeight + 18, devices);
  }
  absl::StrAppendFormat(&svg, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">devices</text>\n",
                        kLeft + kWidth / 2, kTop + kHeight + 38);
  const auto curve = [&](const std::map<int64_t, Point>& points, const char* color, const char* name) {
    std::string path;
    for (const auto& [devices, point] : points)
      absl::StrAppendFormat(&path, "%g,%g ", x(devices), y(point.seconds));
    absl::StrAppendFormat(&svg, "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n",
                          path, color);
    for (const auto& [devices, point] : points) {
      absl::StrAppendFormat(&svg, "<circle cx=\"%g\" cy=\"%g\" r=\"3\" fill=\"%s\"/>\n", x(devices),
                            y(point.seconds), color);
    }
    if (!points.empty()) {
      absl::StrAppendFormat(&svg, "<text x=\"%g\" y=\"%g\" fill=\"%s\">%s</text>\n",
                            x(points.rbegin()->first) + 8, y(points.rbegin()->second.seconds) + 4, color,
                            name);
    }
  };
  curve(spmd_points, "#1f6fb4", "SPMD");
  curve(mpmd_points, "#c04a2f", "MPMD");
  return svg + "</svg>\n";
}

void Report() {
  std::printf("\n%10s %14s %14s %14s %16s\n", "devices", "SPMD", "SPMD program", "MPMD", "MPMD programs");
  for (const auto& [devices, point] : spmd_points) {
    std::string mpmd = absl::StrFormat("%14s %16s", "-", "-");
    const auto it = mpmd_points.find(devices);
    if (it != mpmd_points.end()) {
      mpmd = absl::StrFormat("%11.1f ms %13.0f kB", it->second.seconds * 1e3, it->second.bytes / 1e3);
    }
    std::printf("%10lld %11.2f ms %11.1f kB %s\n", static_cast<long long>(devices), point.seconds * 1e3,
                point.bytes / 1e3, mpmd.c_str());
  }
  if (spmd_points.count(16) && spmd_points.count(kMostDevices)) {
    std::printf("65,536 devices over 16 devices, SPMD: %.2f\n",
                spmd_points[kMostDevices].seconds / spmd_points[16].seconds);
  }
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  const std::string path = absl::StrCat(workspace == nullptr ? "." : workspace, "/figure2_compile_time.svg");
  const absl::Status status = WriteFile(path, Plot());
  std::printf("%s\n", status.ok() ? path.c_str() : std::string(status.message()).c_str());
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  toroid::Report();
  return 0;
}
