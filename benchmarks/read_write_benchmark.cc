// read_write: HLO files in and out of the IR, on one core, in bytes of the file per second.
//
//   bazel run -c opt //benchmarks:read_write
//
// ReadProto and WriteProto convert between the bytes of a binary file and the IR; ReadText and WriteText
// between HLO text and the IR. Copy moves the same bytes in memory, as a measure of the machine.
//
// BUILD: data = ["//tests/corpus:full_size"]
#include <string>

#include "benchmark/benchmark.h"
#include "hlo/base/files.h"
#include "hlo/io/file.h"
#include "tests/corpus_files.h"

namespace toroid {
namespace {

std::string Bytes(const std::string& name) { return *ReadFile(CorpusFiles("full_size", name)[0]); }

std::string Text(const std::string& name) { return *SerializeHlo(*ReadHlo(Bytes(name)), Format::kHloText); }

void Copy(benchmark::State& state, const std::string& name) {
  const std::string bytes = Bytes(name);
  for (auto _ : state) {
    std::string copy = bytes;
    benchmark::DoNotOptimize(copy);
  }
  state.SetBytesProcessed(state.iterations() * bytes.size());
}

void Read(benchmark::State& state, const std::string& bytes) {
  for (auto _ : state) {
    absl::StatusOr<HloFile> file = ReadHlo(bytes);
    if (!file.ok()) return state.SkipWithError(std::string(file.status().message()).c_str());
    benchmark::DoNotOptimize(file->module);
  }
  state.SetBytesProcessed(state.iterations() * bytes.size());
}

void Write(benchmark::State& state, const std::string& name, Format format) {
  const absl::StatusOr<HloFile> file = ReadHlo(Bytes(name));
  int64_t size = 0;
  for (auto _ : state) {
    absl::StatusOr<std::string> bytes = SerializeHlo(*file, format);
    if (!bytes.ok()) return state.SkipWithError(std::string(bytes.status().message()).c_str());
    size = bytes->size();
    benchmark::DoNotOptimize(bytes->data());
  }
  state.SetBytesProcessed(state.iterations() * size);
}

void ReadProto(benchmark::State& state, const std::string& name) { Read(state, Bytes(name)); }
void ReadText(benchmark::State& state, const std::string& name) { Read(state, Text(name)); }
void WriteProto(benchmark::State& state, const std::string& name) { Write(state, name, Format::kContainer); }
void WriteText(benchmark::State& state, const std::string& name) { Write(state, name, Format::kHloText); }

#define TOROID_FULL_SIZE_BENCHMARK(function)                                                             \
  BENCHMARK_CAPTURE(function, moe_2048e_36l_forward, std::string("moe_2048e_36l_forward.shardy.hlo.pb")) \
      ->Unit(benchmark::kMillisecond);                                                                   \
  BENCHMARK_CAPTURE(function, moe_2048e_36l_train, std::string("moe_2048e_36l_train.gspmd.hlo.pb"))      \
      ->Unit(benchmark::kMillisecond);                                                                   \
  BENCHMARK_CAPTURE(function, moe_128e_12l_train, std::string("moe_128e_12l_train.shardy.hlo.pb"))       \
      ->Unit(benchmark::kMillisecond)

TOROID_FULL_SIZE_BENCHMARK(Copy);
TOROID_FULL_SIZE_BENCHMARK(ReadProto);
TOROID_FULL_SIZE_BENCHMARK(WriteProto);
TOROID_FULL_SIZE_BENCHMARK(ReadText);
TOROID_FULL_SIZE_BENCHMARK(WriteText);

}  // namespace
}  // namespace toroid

BENCHMARK_MAIN();
