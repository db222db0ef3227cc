#include "simulator/memory/memory_profile.h"

#include <algorithm>

#include "hlo/analysis/peak_memory.h"
#include "hlo/analysis/work.h"
#include "hlo/base/math.h"

namespace toroid {
namespace {

// Kinds of buffers of the entry, which do not depend on when one looks.
enum Kind { kOfParameter, kOfState, kOfSlot, kMade };
static_assert(kMade < kBufferKinds);

class Classifier {
 public:
  Classifier(const Module& module, const std::vector<bool>& slots)
      : entry_(*module.entry()), buffers_(entry_), kinds_(buffers_.size(), kMade) {
    const std::vector<bool> donated = DonatedParameters(module);
    const auto of_state = [&](int64_t p) { return slots[p] ? kOfSlot : kOfState; };
    for (int64_t p = 0; p < entry_.num_parameters(); ++p) {
      for (const int b : buffers_.Of(*entry_.parameter(p)))
        kinds_[b] = donated[p] ? of_state(p) : kOfParameter;
    }
    // A result that a donated argument's memory receives is state from the moment it is made.
    const auto result = buffers_.Of(*entry_.root());
    for (const auto& alias : module.proto().input_output_alias().entries()) {
      const int leaf = LeafOf(entry_.root()->shape(), alias.output_shape_index());
      if (leaf < 0 || leaf >= static_cast<int>(result.size()) || kinds_[result[leaf]] != kMade) continue;
      const int64_t p = alias.parameter_number();
      if (p >= 0 && p < entry_.num_parameters()) kinds_[result[leaf]] = of_state(p);
    }
  }

  Kind KindOf(const Instruction& maker, int leaf) const {
    const int i = maker.index();
    if (i < 0 || i >= entry_.size() || entry_.instruction(i) != &maker) return kMade;
    const auto own = buffers_.Of(maker);
    return leaf < static_cast<int>(own.size()) ? kinds_[own[leaf]] : kMade;
  }

 private:
  template <typename Index>
  static int LeafOf(const Shape& shape, const Index& index) {
    const Shape* at = &shape;
    int64_t leaf = 0;
    for (const int64_t element : index) {
      if (!at->IsTuple() || element < 0 || element >= static_cast<int64_t>(at->tuple_shapes().size()))
        return -1;
      for (int64_t i = 0; i < element; ++i) leaf += at->tuple_shape(i).NumLeaves();
      at = &at->tuple_shape(element);
    }
    return static_cast<int>(leaf);
  }

  const Computation& entry_;
  const Buffers buffers_;
  std::vector<Kind> kinds_;  // By buffer.
};

MemoryClass ClassOf(Kind kind, bool stays) {
  switch (kind) {
    case kOfParameter:
      return MemoryClass::kParameter;
    case kOfState:
      return MemoryClass::kState;
    case kOfSlot:
      return MemoryClass::kSlot;
    case kMade:
      return stays ? MemoryClass::kActivation : MemoryClass::kWorkspace;
  }
  return MemoryClass::kWorkspace;
}

MemoryProfile::Sample SampleOf(const HeldMemory& held, int64_t start_ps) {
  MemoryProfile::Sample sample{start_ps, held.bytes, {}};
  int64_t inside = held.bytes;
  for (const Kind kind : {kOfParameter, kOfState, kOfSlot, kMade}) {
    sample.by_class[static_cast<int>(ClassOf(kind, true))] += held.stays[kind];
    sample.by_class[static_cast<int>(ClassOf(kind, false))] += held.passes[kind];
    inside -= held.stays[kind] + held.passes[kind];
  }
  sample.by_class[static_cast<int>(MemoryClass::kWorkspace)] += inside;
  return sample;
}

std::vector<MemoryProfile::Sample> SamplesOf(const Module& module, const Schedule& schedule,
                                             const Classifier& classifier, const ArraySize* size) {
  const std::vector<HeldMemory> held = MemoryWhileRunning(
      module, size, [&](const Buffer& buffer) { return classifier.KindOf(*buffer.maker, buffer.leaf); });
  std::vector<MemoryProfile::Sample> samples;
  for (const ScheduledOp& op : schedule.computations[module.entry()->index()].ops) {
    const MemoryProfile::Sample sample = SampleOf(held[op.instruction->index()], op.start_ps);
    if (!samples.empty() && samples.back().by_class == sample.by_class) continue;
    if (!samples.empty() && samples.back().start_ps == op.start_ps) {
      if (sample.bytes > samples.back().bytes) samples.back() = sample;
    } else {
      samples.push_back(sample);
    }
  }
  return samples;
}

bool HoldsProduct(const Instruction& op, const std::vector<bool>& computation_does) {
  if (IsMatrixOp(op.opcode())) return true;
  const auto called = op.called();
  return std::any_of(called.begin(), called.end(),
                     [&](const Computation* c) { return computation_does[c->index()]; });
}

}  // namespace

absl::string_view MemoryClassName(MemoryClass c) {
  switch (c) {
    case MemoryClass::kParameter:
      return "parameters";
    case MemoryClass::kState:
      return "state";
    case MemoryClass::kSlot:
      return "slots";
    case MemoryClass::kActivation:
      return "activations";
    case MemoryClass::kWorkspace:
      return "workspace";
  }
  return "";
}

std::vector<bool> FindSlots(const Module& module) {
  std::vector<bool> does(module.num_computations(), false);
  for (const auto& computation : module.computations()) {
    for (const auto& op : computation->instructions()) {
      if (HoldsProduct(*op, does)) does[computation->index()] = true;
    }
  }
  // What products are made from.
  const Computation& entry = *module.entry();
  std::vector<bool> reaches(entry.size(), false);
  for (int i = entry.size() - 1; i >= 0; --i) {
    const Instruction& op = *entry.instruction(i);
    if (!reaches[i] && !HoldsProduct(op, does)) continue;
    for (const Instruction* operand : op.operands()) reaches[operand->index()] = true;
  }
  std::vector<bool> slots = DonatedParameters(module);
  bool any_reaches = false;
  for (int64_t p = 0; p < entry.num_parameters(); ++p) {
    if (!slots[p] || !reaches[entry.parameter(p)->index()]) continue;
    slots[p] = false;
    any_reaches = true;
  }
  if (!any_reaches) slots.assign(slots.size(), false);
  return slots;
}

MemoryProfile ProfileMemory(const Module& module, const Schedule& schedule, const std::vector<bool>& slots,
                            const ArraySize* size) {
  MemoryProfile profile;
  const PeakMemory peak = ComputePeakMemory(module, size);
  profile.peak_bytes = peak.bytes;
  profile.peak_at = peak.at;
  if (peak.at == nullptr) return profile;
  const Classifier classifier(module, slots);
  for (const PeakMemory::Value& value : peak.live) {
    const bool stays = value.until_after && value.maker != peak.at;
    const MemoryClass c = ClassOf(classifier.KindOf(*value.maker, value.leaf), stays);
    profile.at_peak.push_back({value.maker, value.leaf, value.bytes, c});
    int64_t& sum = profile.by_class[static_cast<int>(c)];
    sum = SaturatingAdd(sum, value.bytes);
  }
  profile.samples = SamplesOf(module, schedule, classifier, size);
  return profile;
}

}  // namespace toroid
