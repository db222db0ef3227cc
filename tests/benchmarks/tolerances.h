// How far a figure may be from what was published or measured: one of four shares, chosen before the figure is seen.
// Exceptions stand where they are used, each with its reason.
#ifndef TOROID_TESTS_BENCHMARKS_TOLERANCES_H_
#define TOROID_TESTS_BENCHMARKS_TOLERANCES_H_

namespace toroid {

inline constexpr double kTwoPercent = 0.02, kFivePercent = 0.05, kTenPercent = 0.10, kTwentyPercent = 0.20;

}  // namespace toroid

#endif  // TOROID_TESTS_BENCHMARKS_TOLERANCES_H_
