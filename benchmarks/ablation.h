// What each rule of the simulator (simulator/rules) is worth: errors with and without it, over the batches of
// tests/corpus/tpu_v3.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "benchmarks/chip_estimates.h"
#include "hlo/io/file.h"
#include "simulator/machines/core.pb.h"
#include "simulator/rules/rule.h"

namespace toroid {

// A program of which Google's compiler estimates every group, or of which only those are compared that it estimates.
struct JudgedProgram {
  std::string name;
  int batch = 0;
  HloFile file;
  double compiler_us = 0;
  bool is_partial = false;
};

struct JudgedPrograms {
  std::vector<std::string> batches;  // Their names.
  std::vector<JudgedProgram> programs;
};
// Adds the programs of an archive or folder (program_set.h) as one more batch.
absl::Status AddBatch(const std::string& path, const std::string& name, JudgedPrograms* judged);
// All batches of TPU v3 that rules were found on, and MoE layers and steps as XLA partitions them.
absl::StatusOr<JudgedPrograms> ReadBatches(const std::string& corpus);

// The prediction of one program.
struct Judgement {
  double error = 0;  // |model / compiler - 1|.
  RuleSet decided;   // Rules recorded for something of the program.
  RuleSet asked;     // Rules that were found to hold somewhere. Only without these anything changes.
};
absl::StatusOr<Judgement> Judge(const JudgedProgram& program, const CoreSpec& core);
absl::StatusOr<std::vector<Judgement>> JudgeAll(absl::Span<const JudgedProgram> programs,
                                                const CoreSpec& core, int threads);

// Errors of the plain rules (PredictSimply), program by program; negative where they count nothing.
absl::StatusOr<std::vector<double>> SimpleErrors(absl::Span<const JudgedProgram> programs,
                                                 const CoreSpec& core);

// One rule against all.
struct RuleWorth {
  int decided = 0;              // Programs in which it is recorded.
  int changed = 0;              // Programs whose estimate is another one without it.
  int touched = 0;              // Either.
  std::vector<double> errors;   // Of all programs, without the rule.
  std::vector<int> of_touched;  // Their indices.
};
// Programs in which the rule was not asked for keep their errors.
absl::StatusOr<RuleWorth> WorthOf(Rule rule, absl::Span<const JudgedProgram> programs,
                                  absl::Span<const Judgement> with_all, const CoreSpec& core, int threads);

struct Errors {
  double median = 0, ninetieth = 0, mean = 0;
};
Errors ErrorsOf(std::vector<double> errors);

CoreSpec Without(const CoreSpec& core, absl::string_view rule);

}  // namespace toroid
