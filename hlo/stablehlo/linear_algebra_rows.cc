#include "absl/strings/numbers.h"
#include "hlo/base/status.h"
#include "hlo/stablehlo/op_rows.h"

namespace toroid {
namespace {

absl::Status ConvertFft(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  ASSIGN_OR_RETURN(const std::string type, op.Keyword("fft_type"));
  xla::FftType fft;
  if (!xla::FftType_Parse(type, &fft)) return op.Error("an unknown fft_type");
  attrs->set_fft_type(fft);
  RETURN_IF_ERROR(op.Integers("fft_length", attrs->mutable_fft_length()));
  return op.Finish(Opcode::kFft, attrs);
}

absl::Status ConvertCholesky(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  attrs->mutable_cholesky_options()->set_lower(op.Flag("lower"));
  return op.Finish(Opcode::kCholesky, attrs);
}

absl::Status ConvertTriangularSolve(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  auto* options = attrs->mutable_triangular_solve_options();
  options->set_left_side(op.Flag("left_side"));
  options->set_lower(op.Flag("lower"));
  options->set_unit_diagonal(op.Flag("unit_diagonal"));
  ASSIGN_OR_RETURN(const std::string transpose, op.Keyword("transpose_a"));
  xla::TriangularSolveOptions::Transpose value;
  if (!xla::TriangularSolveOptions::Transpose_Parse(transpose, &value))
    return op.Error("an unknown transpose_a");
  options->set_transpose_a(value);
  return op.Finish(Opcode::kTriangularSolve, attrs);
}

absl::Status ConvertBatchNorm(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  const MlirAttribute* epsilon = op.Find("epsilon");
  double value = 0;
  if (epsilon == nullptr || !absl::SimpleAtod(epsilon->body, &value)) return op.Error("epsilon is a number");
  attrs->set_epsilon(static_cast<float>(value));
  ASSIGN_OR_RETURN(const int64_t index, op.Integer("feature_index"));
  attrs->set_feature_index(index);
  return op.Finish(op.opcode(), attrs);
}

absl::Status ConvertRngBits(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  ASSIGN_OR_RETURN(const std::string name, op.Keyword("rng_algorithm"));
  attrs->set_rng_algorithm(name == "THREE_FRY" ? xla::RNG_THREE_FRY
                           : name == "PHILOX"  ? xla::RNG_PHILOX
                                               : xla::RNG_DEFAULT);
  return op.Finish(Opcode::kRngBitGenerator, attrs);
}

// The third operand repeats the shape.
absl::Status ConvertRng(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckOperands(3));
  xla::HloInstructionProto* attrs = op.NewAttrs();
  ASSIGN_OR_RETURN(const std::string name, op.Keyword("rng_distribution"));
  attrs->set_distribution(name == "NORMAL" ? xla::RNG_NORMAL : xla::RNG_UNIFORM);
  ASSIGN_OR_RETURN(const Shape shape, op.ResultShape());
  return op.Finish(op.Add(Opcode::kRng, shape, {op.operand(0), op.operand(1)}, attrs));
}

constexpr OpRow kRows[] = {
    {"stablehlo.batch_norm_grad", Opcode::kBatchNormGrad, ConvertBatchNorm},
    {"stablehlo.batch_norm_inference", Opcode::kBatchNormInference, ConvertBatchNorm},
    {"stablehlo.batch_norm_training", Opcode::kBatchNormTraining, ConvertBatchNorm},
    {"stablehlo.cholesky", Opcode::kCholesky, ConvertCholesky},
    {"stablehlo.fft", Opcode::kFft, ConvertFft},
    {"stablehlo.rng", Opcode::kRng, ConvertRng},
    {"stablehlo.rng_bit_generator", Opcode::kRngBitGenerator, ConvertRngBits},
    {"stablehlo.triangular_solve", Opcode::kTriangularSolve, ConvertTriangularSolve},
};

}  // namespace

absl::Span<const OpRow> LinearAlgebraRows() { return kRows; }

}  // namespace toroid
