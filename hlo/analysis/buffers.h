// Which memory the arrays of a computation lie in: names of one array share a buffer.
//
// Every array leaf of an instruction's shape lies in a buffer. Tuples, their elements, bitcasts, reshapes that add or drop
// dimensions of one element, barriers and identities among custom calls name buffers of their operands; what waits for an
// asynchronous op names those of its start; every other instruction makes new ones. What an op may write in place, and where buffers are free again,
// depends on the order of the instructions: peak_memory.h.
// Example: t = tuple(a, b), b2 = get-tuple-element(t), index=1: b2 lies in b's buffer.
#ifndef TOROID_HLO_ANALYSIS_BUFFERS_H_
#define TOROID_HLO_ANALYSIS_BUFFERS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/module.h"

namespace toroid {

struct Buffer {
  const Instruction* maker = nullptr;
  int leaf = 0;       // Of the maker's shape, left to right.
  int64_t bytes = 0;  // 0 for tokens.
};

// Bytes that an array takes in memory; not asked for tuples and tokens.
using ArraySize = std::function<int64_t(const Shape& array)>;

class Buffers {
 public:
  // Arrays without holes, unless `size` says otherwise (padded to tiles, for one).
  explicit Buffers(const Computation& computation, const ArraySize* size = nullptr);

  // Numbers of the buffers of an instruction's leaves, left to right.
  absl::Span<const int> Of(const Instruction& instruction) const { return leaves_[instruction.index()]; }
  int size() const { return static_cast<int>(buffers_.size()); }
  const Buffer& operator[](int number) const { return buffers_[number]; }

 private:
  void Make(const Instruction& instruction, const Shape& shape);
  // The leaves of the operand's element that a waiting op gives; empty if none has its shape.
  std::vector<int> LeavesAwaited(const Instruction& done) const;
  // Lets the leaves of a start that are its operands name them.
  void ShareOperands(const Instruction& start);

  const ArraySize* size_;
  std::vector<Buffer> buffers_;
  std::vector<std::vector<int>> leaves_;  // By instruction.
};

}  // namespace toroid

#endif  // TOROID_HLO_ANALYSIS_BUFFERS_H_
