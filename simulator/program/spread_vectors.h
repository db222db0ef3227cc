// Values that are made elementwise of vectors alone, each spread over the dimensions that it has not: masks, such as one-hot
// rows.
//   multiply(convert(compare(broadcast(expert), iota)), broadcast(weight))  =>  expert, weight
// A cumulative sum makes them in its own group; whatever reads an array of as many elements is written before.
// Seen in Google's compiler for TPU v3.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/ir/instruction.h"

namespace toroid {

// The vectors that are spread along dimension `lanes` of `value`, each once; those that lie along it are none of them. Null if
// an array is read that is not spread, or if `value` is made in more than some hundred steps.
std::optional<std::vector<const Instruction*>> VectorsSpreadAlong(const Instruction& value, int64_t lanes);

// A reshape, transpose or bitcast: elements keep their values.
bool KeepsElements(const Instruction& op);

}  // namespace toroid
