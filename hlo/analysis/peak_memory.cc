#include "hlo/analysis/peak_memory.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "hlo/analysis/memory_order.h"
#include "hlo/analysis/memory_steps.h"
#include "hlo/analysis/memory_walk.h"

namespace toroid {
namespace {

using Ordered = OrderedSteps;

// The peaks of the computations visited so far, by index.
struct Peaks {
  std::vector<int64_t> bytes;
  std::vector<const Instruction*> at;
  std::vector<bool> inside;
  std::vector<ResultPlaces> places;

  void Add(const MemoryWalk& walk) {
    bytes.push_back(walk.peak());
    at.push_back(walk.at());
    inside.push_back(walk.is_inside());
    places.push_back(walk.result_places());
  }
};

Ordered AsWritten(const Computation& computation, const ArraySize* size, const CountedMemory& memory,
                  const Peaks& peaks) {
  Ordered ordered = {StepsAsWritten(computation, size, memory, peaks.places), {}, {}};
  ordered.order.resize(ordered.steps.steps.size());
  std::iota(ordered.order.begin(), ordered.order.end(), 0);
  return ordered;
}

// By buffer of the entry: lies in memory of its own from beginning to end. Results do that no donated argument makes room
// for, and arguments that make no room. Empty for other computations, whose callers hold both.
std::vector<bool> Reserved(const Computation& computation, const Buffers& buffers) {
  if (&computation != computation.module()->entry() || computation.root() == nullptr) return {};
  std::vector<bool> reserved(buffers.size(), false);
  const ReusedArguments reused = FindReusedArguments(*computation.module());
  const auto results = buffers.Of(*computation.root());
  for (size_t leaf = 0; leaf < results.size(); ++leaf) reserved[results[leaf]] = !reused.by_result[leaf];
  for (int p = 0; p < computation.num_parameters(); ++p) {
    for (const int b : buffers.Of(*computation.parameter(p))) reserved[b] = !reused.by_parameter[p];
  }
  return reserved;
}

// What a step is, and whether the steps may be put into another order.
enum class Form { kAsWritten, kReordered, kAsCompiled };

// The order with the lowest peak; of equals the first.
Ordered Reordered(const Computation& computation, MemorySteps steps, const Peaks& peaks) {
  Ordered best = {std::move(steps), {}, {}};
  best.reserved = Reserved(computation, best.steps.buffers);
  int64_t lowest = -1;
  for (std::vector<int>& order : OrdersForMemory(computation, best.steps, peaks.bytes)) {
    MemoryWalk walk(computation, best.steps, order, peaks.bytes, best.reserved);
    walk.Run();
    if (lowest >= 0 && walk.peak() >= lowest) continue;
    lowest = walk.peak();
    best.order = std::move(order);
  }
  return best;
}

Ordered InForm(Form form, const Computation& computation, const ArraySize* size, const CountedMemory& memory,
               const Peaks& peaks) {
  if (form == Form::kAsWritten) return AsWritten(computation, size, memory, peaks);
  const auto steps = form == Form::kAsCompiled ? StepsAsFused : StepsAsWritten;
  return Reordered(computation, steps(computation, size, memory, peaks.places), peaks);
}

std::vector<Ordered> OrderAll(const Module& module, const ArraySize* size, const CountedMemory& memory,
                              Form form, Peaks* peaks) {
  std::vector<Ordered> ordered;
  for (const auto& computation : module.computations()) {
    // What is fused holds no memory: its order is nobody's choice.
    ordered.push_back(
        InForm(computation->is_fusion() ? Form::kAsWritten : form, *computation, size, memory, *peaks));
    MemoryWalk walk(*computation, ordered.back().steps, ordered.back().order, peaks->bytes,
                    ordered.back().reserved);
    walk.Run();
    peaks->Add(walk);
  }
  return ordered;
}

PeakMemory PeakOf(const Module& module, const ArraySize* size, const CountedMemory& memory, Form form) {
  Peaks peaks;
  const std::vector<Ordered> ordered = OrderAll(module, size, memory, form, &peaks);
  PeakMemory peak;
  const Computation* computation = module.entry();
  if (computation == nullptr) return peak;
  peak.bytes = peaks.bytes[computation->index()];
  // Descends into the body with the largest peak, as long as the peak is inside one.
  while (computation != nullptr && peaks.at[computation->index()] != nullptr) {
    const int index = computation->index();
    peak.at = peaks.at[index];
    MemoryWalk walk(*computation, ordered[index].steps, ordered[index].order, peaks.bytes,
                    ordered[index].reserved);
    walk.Run(peak.at, peaks.inside[index]);
    walk.AppendHeld(&peak.live);
    computation = peaks.inside[index] ? walk.Largest(*peak.at) : nullptr;
  }
  std::stable_sort(peak.live.begin(), peak.live.end(),
                   [](const PeakMemory::Value& a, const PeakMemory::Value& b) { return a.bytes > b.bytes; });
  return peak;
}

}  // namespace

std::vector<OrderedSteps> OrderAsCompiled(const Module& module, const MemorySpaces& spaces) {
  Peaks peaks;
  return OrderAll(module, nullptr, {&spaces}, Form::kAsCompiled, &peaks);
}

std::vector<OrderedSteps> OrderForLittleMemory(const Module& module, const ArraySize* size) {
  const MemorySpaces spaces(module);
  Peaks peaks;
  return OrderAll(module, size, {&spaces}, Form::kReordered, &peaks);
}

PeakMemory ComputePeakMemory(const Module& module, const ArraySize* size) {
  const MemorySpaces spaces(module);
  return PeakOf(module, size, {&spaces}, Form::kAsWritten);
}

PeakMemory ComputeCompiledPeakMemory(const Module& module, const ArraySize* size) {
  const MemorySpaces spaces(module);
  return PeakOf(module, size, {&spaces}, Form::kAsCompiled);
}

PeakMemory ComputeHostPeakMemory(const Module& module) {
  const MemorySpaces spaces(module);
  return spaces.any_on_host() ? PeakOf(module, nullptr, {&spaces, /*host=*/true}, Form::kAsWritten)
                              : PeakMemory();
}

std::vector<HeldMemory> MemoryWhileRunning(const Module& module, const ArraySize* size,
                                           const BufferKind& kind) {
  const MemorySpaces spaces(module);
  const CountedMemory memory = {&spaces};
  Peaks peaks;
  std::vector<HeldMemory> during;
  for (const auto& computation : module.computations()) {
    const bool is_entry = computation.get() == module.entry();
    const Ordered ordered = AsWritten(*computation, size, memory, peaks);
    MemoryWalk walk(*computation, ordered.steps, ordered.order, peaks.bytes, {}, is_entry ? kind : nullptr);
    walk.Run();
    peaks.Add(walk);
    if (is_entry) during = walk.TakeDuring();
  }
  return during;
}

}  // namespace toroid
