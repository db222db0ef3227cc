// The level of x86-64 whose instructions the loops use: the same loops are compiled for each (per_level.h).
//
// v2 has vectors of 16 bytes (SSE4.2), v3 of 32 (AVX2, FMA), v4 of 64 (AVX-512). All levels give the same bits, but for sums of
// products of floating-point numbers (gemm.h): v3 and v4 round a product and its addition to a sum once, v2, without FMA,
// twice.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace toroid {

enum class ProcessorLevel { kV2, kV3, kV4 };
inline constexpr ProcessorLevel kProcessorLevels[] = {ProcessorLevel::kV2, ProcessorLevel::kV3,
                                                      ProcessorLevel::kV4};

// The level whose loops run.
ProcessorLevel CurrentProcessorLevel();

// Such as "x86-64-v3".
absl::string_view NameOf(ProcessorLevel level);

// Those that this processor has, the lowest first. v2 is among them: the rest of the program needs it.
std::vector<ProcessorLevel> LevelsOfThisProcessor();

// Loops that are asked for from now on are those of `level`, in all threads. Until then they are those of the highest level
// that this processor has. Errors: kInvalidArgument if the processor lacks the level.
absl::Status UseProcessorLevel(ProcessorLevel level);

}  // namespace toroid
