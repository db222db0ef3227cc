#include "hlo/analysis/peak_memory.h"

#include <algorithm>
#include <array>
#include <utility>

#include "hlo/analysis/buffers.h"
#include "hlo/base/math.h"

namespace toroid {
namespace {

// Allocates and frees the buffers of one computation in program order.
class Walk {
 public:
  // `peaks`: by index, those of the computations before this one, its callees among them.
  Walk(const Computation& computation, const std::vector<int64_t>& peaks, const ArraySize* size,
       const CountedMemory& memory, const BufferKind& kind = nullptr)
      : computation_(computation),
        peaks_(peaks),
        buffers_(computation, size, &memory),
        held_(buffers_.size(), 0),
        passed_(buffers_.size(), false),
        kind_(buffers_.size(), 0),
        during_(computation.size()) {
    FindLastUses();
    for (int b = 0; kind != nullptr && b < buffers_.size(); ++b) kind_[b] = kind(buffers_[b]);
  }

  // Runs to the end; sets peak(), at() and is_inside().
  void Run() { Run(-1, false); }
  // Runs up to instruction `stop`: if `inside`, until its body runs, otherwise until its results are made.
  void Run(int stop, bool inside) {
    const int n = computation_.size();
    for (const Instruction* parameter : computation_.parameters()) {
      if (IsEntry()) Take(*parameter);
    }
    Raise(0, nullptr);
    std::vector<std::vector<int>> last_used(n + 1);
    for (int b = 0; b < buffers_.size(); ++b) {
      if (until_[b] >= 0) last_used[until_[b]].push_back(b);  // -1: nothing uses the buffer.
    }
    for (const int b : made_) Move(b, &now_.passes, &now_.stays);
    made_.clear();
    for (int i = 0; i < n; ++i) {
      const Instruction& instruction = *computation_.instruction(i);
      for (const int b : last_used[i]) Move(b, &now_.stays, &now_.passes);
      if (instruction.opcode() == Opcode::kParameter) {
        Raise(0, &instruction);  // Parameters are held from the start.
      } else if (instruction.opcode() != Opcode::kWhile && HasTrait(instruction.opcode(), kRunsBody)) {
        // The body makes the results.
        Raise(PeakOfCallees(instruction), &instruction);
        if (i == stop && inside) return;
        Take(instruction);
        Raise(0, &instruction);
      } else {
        TakePlacesOfOperands(instruction);
        Take(instruction);
        Raise(PeakOfCallees(instruction), &instruction);
      }
      if (i == stop) return;
      for (const int b : last_used[i]) Free(b);
      for (const int b : made_) Move(b, &now_.passes, &now_.stays);
      made_.clear();
    }
  }

  int64_t peak() const { return peak_; }
  const Instruction* at() const { return at_; }
  // True if the peak is inside a computation that at() runs.
  bool is_inside() const { return is_inside_; }

  // Appends the buffers that are held at instruction `at`.
  void AppendHeld(int at, std::vector<PeakMemory::Value>* values) const {
    for (int b = 0; b < buffers_.size(); ++b) {
      if (held_[b] > 0) values->push_back({buffers_[b].maker, buffers_[b].leaf, held_[b], until_[b] > at});
    }
  }
  std::vector<HeldMemory> TakeDuring() { return std::move(during_); }

  // The callee of `instruction` with the largest peak.
  const Computation* Largest(const Instruction& instruction) const {
    const Computation* largest = nullptr;
    for (const Computation* callee : instruction.called()) {
      if (largest == nullptr || peaks_[callee->index()] > peaks_[largest->index()]) largest = callee;
    }
    return largest;
  }

 private:
  bool IsEntry() const { return &computation_ == computation_.module()->entry(); }

  void FindLastUses() {
    const int n = computation_.size();
    until_.assign(buffers_.size(), -1);
    stays_.assign(buffers_.size(), false);
    for (int i = 0; i < n; ++i) {
      const Instruction& instruction = *computation_.instruction(i);
      for (const int b : buffers_.Of(instruction)) {
        if (buffers_[b].maker == &instruction) until_[b] = i;
      }
      if (HasTrait(instruction.opcode(), kNoStorage)) continue;  // An alias does not read the buffer.
      for (const Instruction* operand : instruction.operands()) {
        for (const int b : buffers_.Of(*operand)) until_[b] = i;
      }
    }
    if (computation_.root() != nullptr) {
      for (const int b : buffers_.Of(*computation_.root())) until_[b] = n;
    }
    if (!IsEntry()) return;
    const std::vector<bool> donated = DonatedParameters(*computation_.module());
    for (int p = 0; p < computation_.num_parameters(); ++p) {
      if (donated[p]) continue;
      for (const int b : buffers_.Of(*computation_.parameter(p))) {
        until_[b] = n;
        stays_[b] = true;
      }
    }
  }

  bool Dies(int buffer, int at) const { return until_[buffer] == at && !stays_[buffer]; }

  // Moves an operand's buffer to a result that is written in its place.
  void TakePlacesOfOperands(const Instruction& instruction) {
    const auto results = buffers_.Of(instruction);
    const int i = instruction.index();
    if (HasTrait(instruction.opcode(), kInPlace)) {
      std::vector<int> operands;
      for (const Instruction* operand : instruction.operands()) {
        const auto own = buffers_.Of(*operand);
        operands.insert(operands.end(), own.begin(), own.end());
      }
      for (size_t leaf = 0; leaf < results.size() && leaf < operands.size(); ++leaf) {
        PassOn(operands[leaf], results[leaf], i);
      }
    } else if (IsElementwise(instruction.opcode()) && results.size() == 1) {
      for (const Instruction* operand : instruction.operands()) {
        const auto own = buffers_.Of(*operand);
        if (own.size() == 1 && PassOn(own[0], results[0], i)) return;
      }
    }
  }

  bool PassOn(int from, int to, int at) {
    if (passed_[to] || !Dies(from, at) || buffers_[from].bytes != buffers_[to].bytes) return false;
    held_[to] = held_[from];
    Less(held_[from], &now_.passes[kind_[from]]);
    now_.passes[kind_[to]] = SaturatingAdd(now_.passes[kind_[to]], held_[to]);
    made_.push_back(to);
    held_[from] = 0;
    until_[from] = -1;  // A buffer is handed on once.
    passed_[to] = true;
    return true;
  }

  // Allocates the buffers that an instruction makes, except those that reuse an operand's.
  void Take(const Instruction& instruction) {
    for (const int b : buffers_.Of(instruction)) {
      if (buffers_[b].maker != &instruction || passed_[b]) continue;
      held_[b] = buffers_[b].bytes;
      now_.bytes = SaturatingAdd(now_.bytes, held_[b]);
      now_.passes[kind_[b]] = SaturatingAdd(now_.passes[kind_[b]], held_[b]);
      made_.push_back(b);
    }
  }
  // Sums saturate, so that `bytes` may exceed `*sum`.
  static void Less(int64_t bytes, int64_t* sum) { *sum = std::max<int64_t>(0, *sum - bytes); }
  void Free(int buffer) {
    Less(held_[buffer], &now_.bytes);
    Less(held_[buffer], &now_.passes[kind_[buffer]]);
    held_[buffer] = 0;
  }
  void Move(int buffer, std::array<int64_t, kBufferKinds>* from,
            std::array<int64_t, kBufferKinds>* to) const {
    Less(held_[buffer], &(*from)[kind_[buffer]]);
    (*to)[kind_[buffer]] = SaturatingAdd((*to)[kind_[buffer]], held_[buffer]);
  }

  int64_t PeakOfCallees(const Instruction& instruction) const {
    if (!HasTrait(instruction.opcode(), kRunsBody)) return 0;
    const Computation* callee = Largest(instruction);
    return callee == nullptr ? 0 : peaks_[callee->index()];
  }

  void Raise(int64_t inside, const Instruction* at) {
    const int64_t bytes = SaturatingAdd(now_.bytes, inside);
    if (at != nullptr && bytes > during_[at->index()].bytes) {
      during_[at->index()] = now_;
      during_[at->index()].bytes = bytes;
    }
    if (bytes <= peak_ && at_ != nullptr) return;
    peak_ = bytes;
    at_ = at != nullptr ? at : computation_.size() > 0 ? computation_.instruction(0) : nullptr;
    is_inside_ = inside > 0;
  }

  const Computation& computation_;
  const std::vector<int64_t>& peaks_;
  const Buffers buffers_;
  std::vector<int64_t> held_;  // By buffer.
  std::vector<bool> passed_;   // Took an operand's place.
  std::vector<int> until_;     // Index of the last user; the computation's size for its results.
  std::vector<bool> stays_;    // Belongs to the caller, which frees it.
  std::vector<int> kind_;
  std::vector<int> made_;           // Buffers made by the current instruction.
  std::vector<HeldMemory> during_;  // By instruction.
  HeldMemory now_;                  // Without bodies.
  int64_t peak_ = 0;
  const Instruction* at_ = nullptr;
  bool is_inside_ = false;
};

}  // namespace

std::vector<bool> DonatedParameters(const Module& module) {
  std::vector<bool> donated(module.entry()->num_parameters(), false);
  const auto donate = [&](int64_t parameter) {
    if (parameter >= 0 && parameter < static_cast<int64_t>(donated.size())) donated[parameter] = true;
  };
  for (const auto& alias : module.proto().input_output_alias().entries()) donate(alias.parameter_number());
  for (const auto& donor : module.proto().buffer_donor().entries()) donate(donor.parameter_number());
  return donated;
}

namespace {

PeakMemory PeakOf(const Module& module, const ArraySize* size, const CountedMemory& memory) {
  std::vector<int64_t> peaks(module.num_computations(), 0);
  std::vector<const Instruction*> at(module.num_computations(), nullptr);
  std::vector<bool> inside(module.num_computations(), false);
  for (const auto& computation : module.computations()) {
    Walk walk(*computation, peaks, size, memory);
    walk.Run();
    peaks[computation->index()] = walk.peak();
    at[computation->index()] = walk.at();
    inside[computation->index()] = walk.is_inside();
  }
  PeakMemory peak;
  const Computation* computation = module.entry();
  if (computation == nullptr) return peak;
  peak.bytes = peaks[computation->index()];
  // Descends into the body with the largest peak, as long as the peak is inside one.
  while (computation != nullptr && at[computation->index()] != nullptr) {
    peak.at = at[computation->index()];
    Walk walk(*computation, peaks, size, memory);
    walk.Run(peak.at->index(), inside[computation->index()]);
    walk.AppendHeld(peak.at->index(), &peak.live);
    computation = inside[computation->index()] ? walk.Largest(*peak.at) : nullptr;
  }
  std::stable_sort(peak.live.begin(), peak.live.end(),
                   [](const PeakMemory::Value& a, const PeakMemory::Value& b) { return a.bytes > b.bytes; });
  return peak;
}

}  // namespace

PeakMemory ComputePeakMemory(const Module& module, const ArraySize* size) {
  const MemorySpaces spaces(module);
  return PeakOf(module, size, {&spaces});
}

PeakMemory ComputeHostPeakMemory(const Module& module) {
  const MemorySpaces spaces(module);
  return spaces.any_on_host() ? PeakOf(module, nullptr, {&spaces, /*host=*/true}) : PeakMemory();
}

std::vector<HeldMemory> MemoryWhileRunning(const Module& module, const ArraySize* size,
                                           const BufferKind& kind) {
  const MemorySpaces spaces(module);
  const CountedMemory memory = {&spaces};
  std::vector<int64_t> peaks(module.num_computations(), 0);
  std::vector<HeldMemory> during;
  for (const auto& computation : module.computations()) {
    const bool is_entry = computation.get() == module.entry();
    Walk walk(*computation, peaks, size, memory, is_entry ? kind : nullptr);
    walk.Run();
    peaks[computation->index()] = walk.peak();
    if (is_entry) during = walk.TakeDuring();
  }
  return during;
}

}  // namespace toroid
