// Assigns the arrays of a computation to buffers: aliases of one array share a buffer.
//
// Every array leaf of an instruction's shape lies in a buffer. These alias the buffers of their operands: tuples,
// get-tuple-element, bitcasts, reshapes that only add or drop unit dimensions, barriers, and custom calls that are identities.
// The done of an asynchronous op aliases the buffers of its start. Every other instruction makes new buffers, after-all of
// several tokens among them. In-place updates and the reuse of free buffers depend on the order of the instructions: see
// peak_memory.h.
// Example: t = tuple(a, b), b2 = get-tuple-element(t), index=1: b2 lies in b's buffer.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "hlo/analysis/memory_spaces.h"
#include "hlo/ir/module.h"

namespace toroid {

struct Buffer {
  const Instruction* maker = nullptr;
  int leaf = 0;       // Number of the leaf in the maker's shape, left to right.
  int64_t bytes = 0;  // 0 for tokens.
};

// Bytes that an array takes in memory; never called for tuples and tokens.
using ArraySize = std::function<int64_t(const Shape& array)>;

// The memory whose bytes count: the device's, or the host's. Arrays in the other one have 0 bytes.
struct CountedMemory {
  const MemorySpaces* spaces;
  bool host = false;
};

// Where a computation writes a leaf of its result.
struct ResultPlace {
  // The leaf of its arguments, counted over all of them from left to right, in whose place it lies; -1: in none.
  int argument = -1;
  bool is_argument = false;  // It is that leaf, unchanged.
};
using ResultPlaces = std::vector<ResultPlace>;  // By leaf.

class Buffers {
 public:
  // Arrays are dense unless `size` is given (for example, with padding to tiles). Without `memory` all arrays count, and a
  // move between host and device is an alias.
  // With `bodies`, by index, of the computations before this one, what a loop or call hands on unchanged is an alias too.
  explicit Buffers(const Computation& computation, const ArraySize* size = nullptr,
                   const CountedMemory* memory = nullptr, const std::vector<ResultPlaces>* bodies = nullptr);

  // Numbers of the buffers of an instruction's leaves, left to right.
  absl::Span<const int> Of(const Instruction& instruction) const { return leaves_[instruction.index()]; }
  int size() const { return static_cast<int>(buffers_.size()); }
  const Buffer& operator[](int number) const { return buffers_[number]; }
  // Says that no array lies in the buffer.
  void Drop(int number) { buffers_[number].bytes = 0; }
  // A further buffer, without bytes, that no leaf lies in: it stands for `maker` having run.
  int AddToken(const Instruction& maker) {
    buffers_.push_back({&maker, 0, 0});
    return size() - 1;
  }

 private:
  void Make(const Instruction& instruction, const Shape& shape);
  // The leaves of the start's tuple element that `done` returns; empty if no element has its shape.
  std::vector<int> LeavesAwaited(const Instruction& done) const;
  // Makes those leaves of a start that are its operands alias them.
  void ShareOperands(const Instruction& start);
  // Makes those leaves of a loop or call that its body hands on unchanged alias them.
  void ShareUnchanged(const Instruction& op, const std::vector<ResultPlaces>& bodies);

  const ArraySize* size_;
  const CountedMemory* memory_;
  std::vector<Buffer> buffers_;
  std::vector<std::vector<int>> leaves_;  // By instruction.
};

// By number: parameters of the entry whose memory the program may reuse (input_output_alias, buffer_donor).
std::vector<bool> DonatedParameters(const Module& module);
// Results that a compiler writes to the memory of donated arguments: those that input_output_alias names; the others in the
// memory of a donor (buffer_donor) of their size that no other result takes. Donors that no result takes stay as they are.
struct ReusedArguments {
  std::vector<bool> by_result;     // By leaf of the entry's result: lies in an argument's memory.
  std::vector<bool> by_parameter;  // By number: the memory of one of its leaves is reused.
};
ReusedArguments FindReusedArguments(const Module& module);

}  // namespace toroid
