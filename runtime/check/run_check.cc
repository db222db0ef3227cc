#include "runtime/check/run_check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "hlo/base/status.h"
#include "runtime/mesh/limit_error.h"
#include "runtime/numerics/compare.h"
#include "runtime/numerics/error_norms.h"
#include "runtime/numerics/promote.h"

namespace toroid {
namespace {

// Values below this share of those of a run in the declared types are zero but for rounding: that run rounds at least
// 2^29 times as much as f64.
constexpr double kVanishing = 1e-6;

// Elements of an output from which on its error says how much a program rounds: the ratio of the root mean squares of 16
// random errors exceeds 4 once in a million times.
constexpr int64_t kFewestMeasured = 16;

void AppendLeafTypes(const Shape& shape, std::vector<PrimitiveType>* types) {
  for (const Shape& element : shape.tuple_shapes()) AppendLeafTypes(element, types);
  if (shape.IsArray()) types->push_back(shape.element_type());
}

void AppendLeaves(const Literal& literal, std::vector<const Literal*>* leaves) {
  for (const Literal& element : literal.elements()) AppendLeaves(element, leaves);
  if (literal.shape().IsArray()) leaves->push_back(&literal);
}

double LargestOf(const Literal& literal) { return ErrorsFrom(literal, literal)[0].exact_max; }

// One check: runs what is wanted, and gathers the outcome.
class Checker {
 public:
  Checker(const RunCheck& check, const ProgramRun& run, ProgramRunner& runner)
      : check_(check), run_(run), runner_(runner) {
    AppendLeafTypes(run.result.shape(), &types_);
  }

  absl::StatusOr<CheckOutcome> Check() {
    Describe();
    RETURN_IF_ERROR(RunReference());
    const bool wanted = !check_.tolerance_is_given || check_.promote;
    if (wanted && NeedsExactResult()) RETURN_IF_ERROR(RunWithoutRounding());
    JudgeReference();
    if (!reference_.has_value() && exact_.has_value()) MeasureYardstick();
    JudgeRecorded();
    ReportOutputs();
    return std::move(outcome_);
  }

 private:
  void Describe() {
    outcome_.seconds.partition = check_.partition_seconds;
    outcome_.seconds.run = run_.seconds;
    outcome_.nonfinite = NonfiniteShares(run_.result);
    outcome_.devices_round = !run_.device_rounding.empty();
    outcome_.num_partitions = check_.num_partitions;
  }

  // The runs in the declared types, compared by the tolerances.
  absl::Status RunReference() {
    if (check_.reference != nullptr) {
      ASSIGN_OR_RETURN(reference_, runner_.Run(*check_.reference, nullptr, "reference run"));
      outcome_.seconds.reference = reference_->seconds;
      plain_ = Compare(run_.result, reference_->result, check_.tolerances);
      AddErrors(*plain_);
    }
    if (check_.recorded != nullptr) {
      from_recorded_ = Compare(run_.result, *check_.recorded, check_.tolerances);
      AddErrors(*from_recorded_);
    }
    return absl::OkStatus();
  }

  void AddErrors(const Comparison& comparison) {
    outcome_.outputs = static_cast<int>(comparison.outputs.size());
    outcome_.max_abs_error = std::max(outcome_.max_abs_error, comparison.max_abs_error);
    outcome_.max_rel_error = std::max(outcome_.max_rel_error, comparison.max_rel_error);
  }

  // The declared types round, and the verdict depends on by how much.
  bool NeedsExactResult() const {
    if (!ComputesBelowF64(*check_.program)) return false;
    return reference_.has_value() || check_.promote || !from_recorded_->equal;
  }

  absl::Status RunWithoutRounding() {
    auto program = runner_.RunPromoted(*check_.program, check_.global, "run without rounding");
    if (IsOverMemoryLimit(program.status())) {
      outcome_.not_proven = absl::StrCat("the run without rounding: ", program.status().message());
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(program.status());
    outcome_.seconds.proof = program->seconds;
    if (!reference_.has_value()) {
      exact_ = program->result;
      exact_program_ = std::move(*program);
      return absl::OkStatus();
    }
    auto reference = runner_.RunPromoted(*check_.reference, nullptr, "reference run without rounding");
    if (IsOverMemoryLimit(reference.status())) {
      outcome_.not_proven =
          absl::StrCat("the reference run without rounding: ", reference.status().message());
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(reference.status());
    outcome_.seconds.proof += reference->seconds;
    exact_ = std::move(reference->result);
    exact_program_ = std::move(*program);
    return absl::OkStatus();
  }

  void JudgeReference() {
    if (!reference_.has_value()) return;
    if (exact_program_.has_value() && exact_.has_value()) {
      Prove();
      MeasureYardstick();
      JudgeRounding();
    }
    if (check_.tolerance_is_given || !outcome_.proof.has_value()) {
      if (!outcome_.not_proven.empty()) outcome_.verdict = Verdict::kNotProven;
      for (size_t i = 0; i < plain_->outputs.size(); ++i) {
        if (!plain_->outputs[i].equal) Differs(i, "the unpartitioned run", plain_->outputs[i].difference);
      }
    }
  }

  // Compares the runs without rounding.
  void Prove() {
    Proof proof;
    proof.rounding_ops = exact_program_->rounding_ops;
    const Comparison exact = Compare(exact_program_->result, *exact_, kProofTolerance);
    std::vector<const Literal*> ours, theirs, plain;
    AppendLeaves(exact_program_->result, &ours);
    AppendLeaves(*exact_, &theirs);
    AppendLeaves(reference_->result, &plain);
    proven_.resize(exact.outputs.size());
    vanishes_.resize(exact.outputs.size());
    for (size_t i = 0; i < exact.outputs.size(); ++i) {
      const ArrayComparison& output = exact.outputs[i];
      const bool vanishes = !output.equal && ours.size() == theirs.size() && i < plain.size() &&
                            ours[i]->shape().Compatible(theirs[i]->shape()) &&
                            IsZeroButForRounding(i, *ours[i], *theirs[i], *plain[i]);
      proven_[i] = output.equal || vanishes;
      vanishes_[i] = vanishes;
      if (!vanishes) proof.max_rel_error = std::max(proof.max_rel_error, output.max_rel_error);
      if (proven_[i]) continue;
      proof.equal = false;
      if (check_.tolerance_is_given) continue;
      Differs(i, "the unpartitioned run",
              absl::StrCat(output.difference, ", both computed without rounding"));
    }
    if (!check_.tolerance_is_given && outcome_.verdict == Verdict::kEqual)
      outcome_.verdict = Verdict::kProven;
    outcome_.proof = proof;
  }

  // True for an output such as the gradient of a bias before a norm: a sum of values that cancel. Its rounding error is
  // relative to the largest addend, not to the output's largest element.
  bool IsZeroButForRounding(size_t i, const Literal& ours, const Literal& theirs, const Literal& plain) {
    if (!IsFloat(types_[i]) && !IsComplex(types_[i])) return false;
    const double exact = std::max(LargestOf(ours), LargestOf(theirs));
    const double declared = LargestOf(PromotedLiteral(plain));
    if (declared > 0) return exact <= kVanishing * declared;
    // Both runs in the declared types give zeros.
    return plain_->outputs[i].max_abs_error == 0 && exact <= kProofTolerance * LargestExact();
  }

  // The largest element of all outputs.
  double LargestExact() {
    double largest = 0;
    for (const ErrorNorms& output : ErrorsFrom(*exact_, *exact_))
      largest = std::max(largest, output.exact_max);
    return largest;
  }

  double ToleranceOf(size_t output) const {
    const size_t leaf = check_.tolerances.size() == 1 ? 0 : output;
    return leaf < check_.tolerances.size() ? check_.tolerances[leaf] : Tolerance(types_[output]);
  }

  // The errors of few elements, or of noise around zero, are chance: they measure nothing.
  bool IsMeasured(size_t output, const ErrorNorms& errors) const {
    if (!IsFloat(types_[output]) && !IsComplex(types_[output])) return false;
    return errors.elements >= kFewestMeasured && (output >= vanishes_.size() || !vanishes_[output]);
  }

  static void TakeLarger(const RelativeErrors& errors, RelativeErrors* largest) {
    largest->rms = std::max(largest->rms, errors.rms);
    largest->max = std::max(largest->max, errors.max);
  }

  // How far the run is from the exact result by which others are judged. Outputs share the roundings of a program, one
  // more, one less by chance, so each is judged by the worst of those with its tolerance.
  void MeasureYardstick() {
    const Literal& declared = reference_.has_value() ? reference_->result : run_.result;
    const std::vector<ErrorNorms> errors = ErrorsFrom(*exact_, declared);
    for (size_t i = 0; i < errors.size(); ++i) {
      own_error_.push_back(Relative(errors[i]));
      if (IsMeasured(i, errors[i])) TakeLarger(own_error_[i], &yardstick_[ToleranceOf(i)]);
    }
    outcome_.rounding.emplace();
    if (exact_program_->jumps) outcome_.rounding->allowed = kJumpingFactor;
    RelativeErrors all;
    for (const auto& [tolerance, largest] : yardstick_) TakeLarger(largest, &all);
    (reference_.has_value() ? outcome_.rounding->reference.emplace() : outcome_.rounding->run) = all;
  }

  double FactorOf(size_t output, const ErrorNorms& errors) {
    // An output of few elements that nearly cancel may be farther than all that are measured.
    RelativeErrors yardstick = yardstick_[ToleranceOf(output)];
    TakeLarger(own_error_[output], &yardstick);
    return TimesAsFar(Relative(errors), yardstick, ToleranceOf(output) / outcome_.rounding->allowed);
  }

  // The run in the declared types may be farther from the exact result than the reference run by a factor.
  void JudgeRounding() {
    if (!run_.result.shape().Compatible(reference_->result.shape())) return;
    Rounding& rounding = *outcome_.rounding;
    const std::vector<ErrorNorms> errors = ErrorsFrom(*exact_, run_.result);
    for (size_t i = 0; i < errors.size(); ++i) {
      if (!IsMeasured(i, errors[i])) continue;
      TakeLarger(Relative(errors[i]), &rounding.run);
      const double factor = FactorOf(i, errors[i]);
      rounding.run_factor = std::max(rounding.run_factor, factor);
      if (factor <= rounding.allowed || check_.tolerance_is_given) continue;
      Differs(absl::StrCat("output ", i, " is ", absl::StrFormat("%.3g", factor),
                           " times as far from the exact result as the unpartitioned run, more than ",
                           rounding.allowed, "; without rounding both compute the same"));
    }
  }

  void JudgeRecorded() {
    if (check_.recorded == nullptr) return;
    const Comparison& plain = *from_recorded_;
    std::vector<ErrorNorms> errors;
    if (outcome_.rounding.has_value() && run_.result.shape().Compatible(check_.recorded->shape())) {
      errors = ErrorsFrom(*exact_, *check_.recorded);
      outcome_.rounding->recorded.emplace();
    }
    for (size_t i = 0; i < plain.outputs.size(); ++i) {
      bool is_rounding = false;
      if (i < errors.size()) {
        const double factor = FactorOf(i, errors[i]);
        // A yardstick that overflowed measures nothing.
        is_rounding = !check_.tolerance_is_given && factor <= outcome_.rounding->allowed &&
                      std::isfinite(yardstick_[ToleranceOf(i)].max) && std::isfinite(own_error_[i].max);
        if (IsMeasured(i, errors[i])) {
          TakeLarger(Relative(errors[i]), &*outcome_.rounding->recorded);
          outcome_.rounding->recorded_factor = std::max(outcome_.rounding->recorded_factor, factor);
        }
      }
      if (!plain.outputs[i].equal && !is_rounding) {
        Differs(i, "the recorded result", plain.outputs[i].difference);
      }
    }
  }

  void Differs(size_t output, absl::string_view from, absl::string_view where) {
    Differs(absl::StrCat("output ", output, " differs from ", from, " at ", where));
  }
  void Differs(std::string what) {
    outcome_.verdict = Verdict::kDiffers;
    if (outcome_.difference.empty()) outcome_.difference = std::move(what);
  }

  // The list of --promote.
  void ReportOutputs() {
    if (!check_.promote || !exact_.has_value()) return;
    const bool proves = outcome_.proof.has_value();
    const Comparison& plain = proves ? *plain_ : *from_recorded_;
    const Comparison exact =
        Compare(exact_program_->result, proves ? *exact_ : PromotedLiteral(*check_.recorded));
    for (size_t i = 0; i < plain.outputs.size() && i < exact.outputs.size(); ++i) {
      OutputReport report;
      report.type = types_[i];
      report.plain_error = plain.outputs[i].max_rel_error;
      report.promoted_error = exact.outputs[i].max_rel_error;
      const bool same = plain.outputs[i].equal && plain.outputs[i].max_abs_error == 0;
      const bool rounds = proves ? proven_[i] : plain.outputs[i].equal;
      report.verdict = proves && !proven_[i] ? "differs" : same ? "equal" : rounds ? "rounding" : "differs";
      outcome_.promoted.push_back(report);
    }
  }

  const RunCheck& check_;
  const ProgramRun& run_;
  ProgramRunner& runner_;
  std::vector<PrimitiveType> types_;  // By output.
  std::optional<ProgramRun> reference_;
  std::optional<Comparison> plain_, from_recorded_;
  std::optional<ProgramRun> exact_program_;     // Run without rounding, like exact_.
  std::optional<Literal> exact_;                // Result of the reference; of the program if there is none.
  std::vector<bool> proven_, vanishes_;         // By output.
  std::map<double, RelativeErrors> yardstick_;  // By tolerance.
  std::vector<RelativeErrors> own_error_;       // Errors of the run that is the yardstick, by output.
  CheckOutcome outcome_;
};

}  // namespace

absl::StatusOr<CheckOutcome> CheckRun(const RunCheck& check, const ProgramRun& run, ProgramRunner& runner) {
  return Checker(check, run, runner).Check();
}

}  // namespace toroid
