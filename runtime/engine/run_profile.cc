#include "runtime/engine/run_profile.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "hlo/analysis/source_frames.h"
#include "hlo/base/stopwatch.h"
#include "hlo/base/text_table.h"
#include "nlohmann/json.hpp"
#include "runtime/engine/plan_text.h"
#include "runtime/loops/gemm.h"
#include "runtime/loops/thread_pool.h"

namespace toroid {
namespace {

constexpr double kMeasureSeconds = 0.04;
constexpr size_t kMostRows = 30;

// Calls per second of `work`, from the fastest of several.
template <typename Work>
double FastestSeconds(Work work) {
  const Stopwatch all;
  double fastest = 1e9;
  do {
    const Stopwatch one;
    work();
    fastest = std::min(fastest, one.Seconds());
  } while (all.Seconds() < kMeasureSeconds);
  return fastest;
}

std::string ShareText(double value, double of) {
  if (of <= 0 || value <= 0) return "";
  return absl::StrFormat("%.0f %%", 100 * value / of);
}

}  // namespace

RunProfile ProfileOf(const StepTimer& timer, int threads) {
  RunProfile profile;
  profile.seconds = timer.Seconds();
  profile.threads = threads;
  std::vector<std::pair<const Step*, StepTimer::Times>> steps(timer.times().begin(), timer.times().end());
  std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) {
    if (a.second.own_seconds != b.second.own_seconds) return a.second.own_seconds > b.second.own_seconds;
    return a.first < b.first;
  });
  absl::flat_hash_map<const Module*, std::unique_ptr<SourceFrames>> frames;
  absl::flat_hash_map<const Step*, int> row_of;
  for (const auto& [step, times] : steps) {
    const StepCost cost = CostOf(*step);
    const Module& module = *step->instruction->computation()->module();
    std::unique_ptr<SourceFrames>& lines = frames[&module];
    if (lines == nullptr) lines = std::make_unique<SourceFrames>(module);
    RunProfile::Row row;
    row.kind = KindText(*step);
    row.name = NameText(*step);
    row.line = lines->LineOf(step->instruction->metadata());
    row.calls = times.calls;
    row.seconds = times.own_seconds;
    row.bytes = static_cast<double>(cost.bytes_read + cost.bytes_written) * static_cast<double>(times.rows);
    row.flops = static_cast<double>(cost.flops) * static_cast<double>(times.rows);
    row_of[step] = static_cast<int>(profile.rows.size());
    profile.rows.push_back(std::move(row));
  }
  for (const StepTimer::Event& event : timer.events()) {
    profile.events.push_back({row_of.at(event.step), event.begin, event.end});
  }
  return profile;
}

MachineRates MeasureRates() {
  MachineRates rates;
  constexpr int64_t kBytes = 32 << 20, kChunk = 1 << 20, kSide = 512;
  std::vector<char> from(kBytes, 1), to(kBytes, 2);
  const double copy = FastestSeconds([&] {
    ParallelFor(kBytes, kChunk, [&](int64_t begin, int64_t end) {
      std::memcpy(to.data() + begin, from.data() + begin, end - begin);
    });
  });
  rates.bytes = 2.0 * kBytes / copy;
  std::vector<float> a(kSide * kSide, 1.0f), b(kSide * kSide, 1.0f), c(kSide * kSide);
  GemmBatch gemm;
  gemm.m = gemm.n = gemm.k = kSide;
  const double product = FastestSeconds([&] { Gemm(xla::F32, gemm, a.data(), b.data(), c.data()); });
  rates.flops = 2.0 * kSide * kSide * kSide / product;
  return rates;
}

std::string ProfileText(const RunProfile& profile, const MachineRates& rates, int width) {
  std::string text =
      absl::StrFormat("%.1f ms on %d threads; this machine copies %.1f GB/s and multiplies %.0f GFLOP/s\n",
                      profile.seconds * 1e3, profile.threads, rates.bytes / 1e9, rates.flops / 1e9);
  std::vector<std::vector<std::string>> table = {
      {"ms", "share", "calls", "bytes", "of memory", "flops", "of products", "step", "instructions", "line"}};
  double rest = 0;
  for (size_t r = 0; r < profile.rows.size(); ++r) {
    const RunProfile::Row& row = profile.rows[r];
    if (r >= kMostRows) {
      rest += row.seconds;
      continue;
    }
    table.push_back(
        {absl::StrFormat("%.2f", row.seconds * 1e3), ShareText(row.seconds, profile.seconds),
         CountText(row.calls), BytesText(static_cast<int64_t>(row.bytes)),
         ShareText(row.bytes / std::max(row.seconds, 1e-9), rates.bytes), absl::StrFormat("%.3g", row.flops),
         ShareText(row.flops / std::max(row.seconds, 1e-9), rates.flops), row.kind, row.name, row.line});
  }
  absl::StrAppend(&text, TableText(table, width));
  if (rest > 0) {
    absl::StrAppend(&text, absl::StrFormat("  %.2f ms in %d further steps\n", rest * 1e3,
                                           static_cast<int>(profile.rows.size() - kMostRows)));
  }
  return text;
}

std::string TraceJson(const RunProfile& profile) {
  // Viewers take process and thread 0 for an idle loop, and a thread of the process's number for its main thread.
  constexpr int kProcess = 1, kThread = 2;
  nlohmann::json events = nlohmann::json::array();
  events.push_back({{"name", "thread_name"},
                    {"ph", "M"},
                    {"pid", kProcess},
                    {"tid", kThread},
                    {"args", {{"name", "steps"}}}});
  // They round to nanoseconds, and drop what then begins before the step before it ends.
  const auto nanoseconds = [](double seconds) { return std::floor(seconds * 1e9); };
  for (const RunProfile::Event& event : profile.events) {
    const RunProfile::Row& row = profile.rows[event.row];
    const double begin = nanoseconds(event.begin);
    events.push_back({{"name", row.kind + " " + row.name},
                      {"cat", row.kind},
                      {"ph", "X"},
                      {"ts", begin * 1e-3},
                      {"dur", (nanoseconds(event.end) - begin) * 1e-3},
                      {"pid", kProcess},
                      {"tid", kThread},
                      {"args", {{"line", row.line}}}});
  }
  return nlohmann::json{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}.dump();
}

}  // namespace toroid
