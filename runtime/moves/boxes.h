// What an array holds, as boxes: each a part of another array that is in memory, read at regular distances.
//
//   concatenate(slice(x, 2 to 6), slice(x, 0 to 2)) of f32[6]: [0, 4) from x at 2, [4, 6) from x at 0
//   pad(x, c, low 1) of f32[6]: [0, 1) from c at 0 with distance 0, [1, 7) from x at 0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/instruction.h"

namespace toroid {

struct Box {
  int slot = 0;      // The array that is read.
  Dims start;        // Place in the result.
  Dims size;         // None is 0.
  int64_t from = 0;  // The first element that is read.
  Dims strides;      // Elements of the array that is read, by dimension of the result.
};

// Boxes that cover an array, none twice. Their order has no meaning.
using Boxes = std::vector<Box>;

// The whole array in the slot.
Boxes WholeArray(const Shape& shape, int slot);

// The op only moves elements, in a way that boxes state.
bool MovesBoxes(const Instruction& op);

// The result of the op through what its operands hold; nullopt if no more than `most` boxes cannot state it.
std::optional<Boxes> BoxesThrough(const Instruction& op, absl::Span<const Boxes* const> operands,
                                  size_t most);

}  // namespace toroid
