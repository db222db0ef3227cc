// Random numbers that depend only on a seed and their position: a counter-based generator made of elementwise
// ops.
//
// Element i of a stream is a hash of (seed, site, i), so each device computes its own part of an array, and
// the stream is the same on any number of devices. The backward pass may compute it again.
//   row r of the array (all dimensions but the last): a = Mix(r ^ s1), c = Mix(r + s2),
//                                                     with keys s1, s2 of seed and site
//   element j of the row: Mix(c + Fold((j ^ a) * 0x9e3779b1)), Fold(x) = x ^ (x >> 15)
// Mix is a permutation of 32 bits whose every output bit depends on every input bit nearly evenly.
// Source of Mix: Wellons, "Prospecting for Hash Functions", 2018, lowbias32.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "hlo/builder/instruction_builder.h"

namespace toroid {

// u32[dims], uniform over all values; rank 1 or more. seed: u32[]. `site` distinguishes the streams of one
// seed.
Value RandomBits(Value seed, uint32_t site, absl::Span<const int64_t> dims, InstructionBuilder* b);

// f32[dims], uniform in [0, 1): multiples of 2^-24.
Value RandomUniform(Value seed, uint32_t site, absl::Span<const int64_t> dims, InstructionBuilder* b);

// A separate seed for each step. seed: u32[], step: s32[].
Value SeedOfStep(Value seed, Value step, InstructionBuilder* b);

}  // namespace toroid
