#include "simulator/memory/memory_profile.h"

#include <algorithm>

#include "hlo/analysis/peak_memory.h"
#include "hlo/base/math.h"

namespace toroid {
namespace {

class Classifier {
 public:
  explicit Classifier(const Module& module)
      : entry_(*module.entry()), buffers_(entry_), donated_(DonatedParameters(module)), is_result_(buffers_.size(), false) {
    // A result that a donated argument's memory receives is state from the moment it is made.
    const auto result = buffers_.Of(*entry_.root());
    for (const auto& alias : module.proto().input_output_alias().entries()) {
      const int leaf = LeafOf(entry_.root()->shape(), alias.output_shape_index());
      if (leaf >= 0 && leaf < static_cast<int>(result.size())) is_result_[result[leaf]] = true;
    }
  }

  MemoryClass Classify(const PeakMemory::Value& value, const Instruction& peak_at) const {
    if (value.maker->opcode() == Opcode::kParameter && IsInEntry(value)) {
      return donated_[value.maker->parameter_number()] ? MemoryClass::kState : MemoryClass::kParameter;
    }
    if (IsInEntry(value)) {
      const auto own = buffers_.Of(*value.maker);
      if (value.leaf < static_cast<int>(own.size()) && is_result_[own[value.leaf]]) return MemoryClass::kState;
    }
    const bool made_here = value.maker == &peak_at;
    return value.until_after && !made_here ? MemoryClass::kActivation : MemoryClass::kWorkspace;
  }

 private:
  bool IsInEntry(const PeakMemory::Value& value) const {
    const int i = value.maker->index();
    return i >= 0 && i < entry_.size() && entry_.instruction(i) == value.maker;
  }

  template <typename Index>
  static int LeafOf(const Shape& shape, const Index& index) {
    const Shape* at = &shape;
    int64_t leaf = 0;
    for (const int64_t element : index) {
      if (!at->IsTuple() || element < 0 || element >= static_cast<int64_t>(at->tuple_shapes().size())) return -1;
      for (int64_t i = 0; i < element; ++i) leaf += at->tuple_shape(i).NumLeaves();
      at = &at->tuple_shape(element);
    }
    return static_cast<int>(leaf);
  }

  const Computation& entry_;
  const Buffers buffers_;
  const std::vector<bool> donated_;
  std::vector<bool> is_result_;  // By buffer: written where a donated argument lay.
};

std::vector<MemoryProfile::Sample> SamplesOf(const Module& module, const Schedule& schedule, const ArraySize* size) {
  const int entry = module.entry()->index();
  const std::vector<int64_t> bytes = MemoryWhileRunning(module, size)[entry];
  std::vector<MemoryProfile::Sample> samples;
  for (const ScheduledOp& op : schedule.computations[entry].ops) {
    const int64_t held = bytes[op.instruction->index()];
    if (!samples.empty() && samples.back().bytes == held) continue;
    if (!samples.empty() && samples.back().start_ps == op.start_ps) {
      samples.back().bytes = std::max(samples.back().bytes, held);
    } else {
      samples.push_back({op.start_ps, held});
    }
  }
  return samples;
}

}  // namespace

absl::string_view MemoryClassName(MemoryClass c) {
  switch (c) {
    case MemoryClass::kParameter:
      return "parameters";
    case MemoryClass::kState:
      return "state";
    case MemoryClass::kActivation:
      return "activations";
    case MemoryClass::kWorkspace:
      return "workspace";
  }
  return "";
}

MemoryProfile ProfileMemory(const Module& module, const Schedule& schedule, const ArraySize* size) {
  MemoryProfile profile;
  const PeakMemory peak = ComputePeakMemory(module, size);
  profile.peak_bytes = peak.bytes;
  profile.peak_at = peak.at;
  if (peak.at == nullptr) return profile;
  const Classifier classifier(module);
  for (const PeakMemory::Value& value : peak.live) {
    const MemoryClass c = classifier.Classify(value, *peak.at);
    profile.at_peak.push_back({value.maker, value.leaf, value.bytes, c});
    int64_t& sum = c == MemoryClass::kParameter    ? profile.parameter_bytes
                   : c == MemoryClass::kState      ? profile.state_bytes
                   : c == MemoryClass::kActivation ? profile.activation_bytes
                                                   : profile.workspace_bytes;
    sum = SaturatingAdd(sum, value.bytes);
  }
  profile.samples = SamplesOf(module, schedule, size);
  return profile;
}

}  // namespace toroid
