#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "hlo/analysis/memory_spaces.h"
#include "hlo/analysis/peak_memory.h"
#include "simulator/memory/memory_profile.h"
#include "simulator/memory/temporaries.h"
#include "simulator/prediction/prediction_builder.h"
#include "simulator/program/tiling.h"

namespace toroid {
namespace {

constexpr size_t kMostValuesAtPeak = 100;

// The array that is leaf `leaf` of a value of this shape; appends where it stands to `name`: "name{1}{0}".
const Shape& LeafOf(const Shape& shape, int64_t leaf, std::string* name) {
  const Shape* at = &shape;
  while (at->IsTuple()) {
    const Shape* element = nullptr;
    for (size_t i = 0; element == nullptr && i < at->tuple_shapes().size(); ++i) {
      const int64_t leaves = at->tuple_shape(i).NumLeaves();
      if (leaf < leaves) {
        absl::StrAppend(name, "{", i, "}");
        element = &at->tuple_shape(i);
      } else {
        leaf -= leaves;
      }
    }
    if (element == nullptr) break;
    at = element;
  }
  return *at;
}

}  // namespace

void PredictionBuilder::AddMemory() {
  const CoreSpec& core = inputs_.machine.family.core();
  const Tiling tiling{core.vector().sublanes(), core.vector().lanes()};
  // A program that was lowered by plain rules has no layouts.
  const ArraySize size = core.has_simple() ? LeastPaddedSize(tiling) : PaddedSize(tiling);
  const MemoryProfile profile = ProfileMemory(module_, schedule_, inputs_.slots, &size);
  PredictedMemory& memory = prediction_.memory;
  memory.capacity = inputs_.machine.family.core().memory_bytes();
  memory.parameters = profile.bytes(MemoryClass::kParameter);
  memory.slots = profile.bytes(MemoryClass::kSlot);
  memory.state = profile.bytes(MemoryClass::kState) + memory.slots;
  memory.activations = profile.bytes(MemoryClass::kActivation);
  memory.workspace = profile.bytes(MemoryClass::kWorkspace);
  memory.peak = profile.peak_bytes;
  const MemoryNeeds needs = ComputeMemoryNeeds(module_, &size, /*packs=*/core.has_simple());
  memory.temporary = needs.temporary;
  memory.allocated = needs.All();
  memory.host_peak = ComputeHostPeakMemory(module_).bytes;
  const HostTraffic traffic = ComputeHostTraffic(module_, MemorySpaces(module_));
  memory.to_host = traffic.to_host;
  memory.to_device = traffic.to_device;
  if (profile.peak_at != nullptr) memory.peak_at = NameOf(*profile.peak_at);
  for (size_t i = 0; i < std::min(profile.at_peak.size(), kMostValuesAtPeak); ++i) {
    const MemoryProfile::Value& value = profile.at_peak[i];
    std::string name = NameOf(*value.maker);
    const Shape& array = LeafOf(value.maker->shape(), value.leaf, &name);
    memory.largest.push_back({std::move(name), array.ToString(),
                              std::string(MemoryClassName(value.memory_class)),
                              frames_.LineOf(value.maker->metadata()), OpNameOf(*value.maker), value.bytes});
  }
  for (const MemoryProfile::Sample& sample : profile.samples) {
    memory.samples.push_back({sample.start_ps, sample.by_class});
  }
}

void PredictionBuilder::AddNoteOnRematerialization() {
  int64_t again = 0;
  double picoseconds = 0;
  for (const ScheduledOp& op : schedule_.computations[module_.entry()->index()].ops) {
    if (!RulesMarkedOn(*op.instruction)[static_cast<int>(Rule::kRematerialization)]) continue;
    ++again;
    picoseconds += static_cast<double>(op.end_ps - op.start_ps);
  }
  if (again == 0) return;
  prediction_.notes.push_back(absl::StrCat(again, " values are made a second time (",
                                           absl::SixDigits(picoseconds * 1e-9),
                                           " ms), for the program does not fit into memory otherwise"));
}

}  // namespace toroid
