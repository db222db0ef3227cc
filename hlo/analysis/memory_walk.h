// Allocates and frees the buffers of one computation step by step, in a given order of its steps.
//
// A buffer is allocated when its maker runs, unless it takes the place of another one that is read for the last time there
// (MemoryStep::places), and freed after its last use. While a step runs bodies, the largest of them counts in addition.
// Arguments of bodies belong to their callers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "hlo/analysis/memory_steps.h"
#include "hlo/ir/module.h"

namespace toroid {

// A buffer that is held while a step runs.
struct HeldValue {
  const Instruction* maker;
  int leaf;  // Number of the leaf in the maker's shape.
  int64_t bytes;
  bool until_after;  // Used after the step.
};

// The caller may sort buffers into kinds.
inline constexpr int kBufferKinds = 4;
using BufferKind = std::function<int(const Buffer&)>;  // Result: 0 .. kBufferKinds - 1.

// The peak of the memory held while one instruction runs.
struct HeldMemory {
  int64_t bytes = 0;                          // The sum of all kinds and of bodies.
  std::array<int64_t, kBufferKinds> stays{};  // By kind: made before the instruction and needed after it.
  // By kind: made by the instruction, or needed by it for the last time. The rest of `bytes` is the memory of
  // the bodies that it runs.
  std::array<int64_t, kBufferKinds> passes{};
};

class MemoryWalk {
 public:
  // `order`: positions in `steps.steps`. `peaks`: by index, in bytes, of the computations before this one, its callees among
  // them. `reserved`: by buffer, lies in memory of its own from beginning to end, which values that it takes the place of may
  // use before; empty: none does. `kind`: see MemoryWhileRunning.
  MemoryWalk(const Computation& computation, const MemorySteps& steps, const std::vector<int>& order,
             const std::vector<int64_t>& peaks, const std::vector<bool>& reserved = {},
             const BufferKind& kind = nullptr);

  // Runs to the end; sets peak(), at(), is_inside() and result_places().
  void Run() { Run(nullptr, false); }
  // Runs up to the step of `stop`: if `inside`, until its body runs, otherwise until its results are made.
  void Run(const Instruction* stop, bool inside);

  int64_t peak() const { return peak_; }
  const Instruction* at() const { return at_; }
  // True if the peak is inside a computation that at() runs.
  bool is_inside() const { return is_inside_; }
  ResultPlaces result_places() const;

  // Appends the buffers that are held at the step where Run stopped.
  void AppendHeld(std::vector<HeldValue>* values) const;
  // By index of instructions that are steps.
  std::vector<HeldMemory> TakeDuring() { return std::move(during_); }
  // The callee of `instruction` with the largest peak.
  const Computation* Largest(const Instruction& instruction) const;

 private:
  bool IsEntry() const { return &computation_ == computation_.module()->entry(); }
  const Buffers& buffers() const { return steps_.buffers; }
  void FindLastUses();
  // Does not belong to the caller, and is read at step `at` for the last time.
  bool Dies(int buffer, int at) const { return until_[buffer] == at && !stays_[buffer]; }
  bool IsReserved(int buffer) const { return !reserved_.empty() && reserved_[buffer]; }
  bool LiesInReserved(int buffer) const { return IsReserved(buffer) || in_reserved_[buffer]; }
  bool IsStep(const Instruction& op) const;
  // Marks values in whose places reserved buffers are written: they lie there too.
  void FindValuesInReserved();
  // False, and nothing, if `from` does not die there or does not fit. Values in reserved buffers have no bytes to pass on.
  bool PassOn(int from, int to, int at);
  // Allocates the buffers that an instruction makes, except those that took an operand's place.
  void Take(const Instruction& instruction);
  void Free(int buffer);
  void Move(int buffer, std::array<int64_t, kBufferKinds>* from, std::array<int64_t, kBufferKinds>* to) const;
  int64_t PeakOfCallees(const Instruction& instruction) const;
  void Raise(int64_t inside, const Instruction* at);

  const Computation& computation_;
  const MemorySteps& steps_;
  const std::vector<int>& order_;
  const std::vector<int64_t>& peaks_;
  const std::vector<bool> reserved_;
  std::vector<bool> in_reserved_;  // By buffer: has no memory besides that of a reserved one.
  std::vector<int64_t> held_;      // By buffer: bytes.
  std::vector<int> passed_from_;   // By buffer: the one whose place it took; -1.
  std::vector<int> until_;  // By buffer: place in the order of its last reader; their number for results; -1.
  std::vector<bool> stays_;  // By buffer: belongs to the caller, which frees it.
  std::vector<int> kind_;    // By buffer.
  std::vector<int> made_;    // Buffers made by the current step.
  std::vector<HeldMemory> during_;
  HeldMemory now_;  // Without bodies.
  int stopped_at_ = -1;
  int64_t peak_ = 0;
  const Instruction* at_ = nullptr;
  bool is_inside_ = false;
};

}  // namespace toroid
