// The outcome of `hlo-run --check`, and the text that reports it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/types.h"
#include "nlohmann/json.hpp"
#include "runtime/numerics/error_norms.h"

namespace toroid {

// The error of the partitioned program, and of a recorded result, may be this many times that of the unpartitioned
// program: kRoundingFactor in programs without discontinuous ops (promote.h), kJumpingFactor in programs with them. In the
// routing of a mixture of experts, for example, a rounding may send a token to another expert.
inline constexpr double kRoundingFactor = 4;
inline constexpr double kJumpingFactor = 16;
// Two runs without rounding (promote.h) agree to this share of an output's largest element.
inline constexpr double kProofTolerance = 1e-9;

enum class Verdict {
  kEqual,      // The results are equal within the tolerances of their types.
  kProven,     // Without rounding the partitioned and the unpartitioned program compute the same.
  kNotProven,  // As kEqual, but the runs without rounding were not possible.
  kDiffers,
};
absl::string_view VerdictText(Verdict verdict);

// The partitioned program against the unpartitioned one, both without rounding.
struct Proof {
  bool equal = true;
  double max_rel_error = 0;  // The largest over the outputs, without those that are zero except for rounding.
  int64_t rounding_ops = 0;  // Instructions of the partitioned program that still round (promote.h).
};

// Errors relative to a run without rounding, each the largest over the outputs of at least 16 elements.
struct Rounding {
  RelativeErrors run;
  std::optional<RelativeErrors> reference, recorded;
  // The error divided by that of the reference run (of the run itself if there is no reference), the largest over the
  // outputs. More than `allowed` counts as a difference.
  double run_factor = 0, recorded_factor = 0;
  double allowed = kRoundingFactor;
};

// An output in the list that --promote asks for.
struct OutputReport {
  PrimitiveType type;
  double plain_error = 0, promoted_error = 0;  // Relative to the output's largest element.
  absl::string_view verdict;                   // "equal", "rounding" or "differs".
};

struct CheckSeconds {
  double partition = 0, run = 0, reference = 0, proof = 0;
};

struct CheckOutcome {
  Verdict verdict = Verdict::kEqual;
  std::string
      difference;   // The first one, such as "output 2 differs from the unpartitioned run at [0,1]: ..".
  int outputs = 0;  // Array leaves of the result.
  double max_abs_error = 0, max_rel_error = 0;  // Between the runs in the declared types.
  std::vector<double> nonfinite;                // By output, the share of its elements: 0 to 1.
  bool devices_round = false;                   // Devices that hold the same part differ by rounding.
  int64_t num_partitions = 1;
  CheckSeconds seconds;
  std::optional<Proof> proof;
  std::string not_proven;  // Why there is no proof, if one was wanted.
  std::optional<Rounding> rounding;
  std::vector<OutputReport> promoted;

  bool equal() const { return verdict != Verdict::kDiffers; }
};

// The line of JSON (docs/commands.md). `for_reading`: `nonfinite` lists only outputs that have such elements.
nlohmann::ordered_json ToJson(const CheckOutcome& outcome, bool for_reading);

// "proven equal, rounding aside: 776 outputs of 8 devices, largest relative error 1.2e-06, 3.1e-16 without rounding".
std::string EqualText(const CheckOutcome& outcome);

// A line that warns of results which say little because so much of them is NaN or infinite; empty if none is.
// `shares` as NonfiniteShares gives them.
std::string NonfiniteWarning(absl::Span<const double> shares);

}  // namespace toroid
