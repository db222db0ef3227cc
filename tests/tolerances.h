// How far a figure of ours may be from one that was published, measured or estimated by Google's compiler. A test uses the
// smallest of four shares that holds; a test that needs a larger one gives the reason.
//
//   EXPECT_THAT(microseconds, IsWithin(kFivePercent, 656.5));
#pragma once

#include <cmath>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"

namespace toroid {

inline constexpr double kTwoPercent = 0.02, kFivePercent = 0.05, kTenPercent = 0.10, kTwentyPercent = 0.20;

// For a value that is computed in two ways, in doubles and in whole picoseconds.
inline constexpr double kRounding = 1e-6;

// Matches a number that differs from `figure` by at most this share of it.
MATCHER_P2(IsWithin, share, figure,
           absl::StrCat(negation ? "is not" : "is", " within ", share * 100, " % of ", figure)) {
  const double difference = static_cast<double>(arg) - static_cast<double>(figure);
  *result_listener << "which is off by " << difference / static_cast<double>(figure) * 100 << " %";
  return std::abs(difference) <= share * std::abs(static_cast<double>(figure));
}

}  // namespace toroid
