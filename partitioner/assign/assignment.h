// How one op is computed: which axes cut each of its factors.
//
// Given the shardings of the operands and those wanted of the results, the best of some guesses is chosen
// (assignment_costs.h).
#pragma once

#include <cstdint>

#include "partitioner/assign/assignment_costs.h"
#include "partitioner/assign/assignment_problem.h"

namespace toroid {

// Flops that an additional byte must save for IdleAxes::kCutForFlops, under which whole programs are compared
// and must not send much more. About the f32 flops that the target does in the time in which it sends a
// byte.
inline constexpr double kFlopsOfAByte = 256;
// The same for IdleAxes::kCutForFewFlops: programs of small arrays, which should be partitioned like the
// larger ones that they stand for.
inline constexpr double kFewFlopsOfAByte = 4;

// Whether to cut a contraction also over idle axes, which its best assignment does not use:
//
//   kLeave           no
//   kCut             if that sends no more bytes and takes no more time to send them. Example: a result that
//                    is partial over other axes, and is reduced in pieces anyway
//   kCutForFlops     or if it saves kFlopsOfAByte flops for each additional byte
//   kCutForFewFlops  or if it saves kFewFlopsOfAByte flops for each additional byte
enum class IdleAxes : uint8_t { kLeave, kCut, kCutForFlops, kCutForFewFlops };

Assignment ChooseAssignment(const AssignmentProblem& problem, const Pricing& pricing,
                            IdleAxes idle_axes = IdleAxes::kLeave);

}  // namespace toroid
