#include "hlo/gradient/rules/linear_algebra.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"

namespace toroid {
namespace {

Value TransposeMatrices(InstructionBuilder& b, Value x) {
  std::vector<int64_t> order;
  for (int64_t d = 0; d < x->shape().rank(); ++d) order.push_back(d);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return b.Transpose(x, order);
}

Value Product(InstructionBuilder& b, Value x, Value y) {
  xla::DotDimensionNumbers numbers;
  const int64_t rank = x->shape().rank();
  for (int64_t d = 0; d + 2 < rank; ++d) {
    numbers.add_lhs_batch_dimensions(d);
    numbers.add_rhs_batch_dimensions(d);
  }
  numbers.add_lhs_contracting_dimensions(rank - 1);
  numbers.add_rhs_contracting_dimensions(rank - 2);
  return b.Dot(x, y, numbers);
}

// The matrices' elements where row `direction` column holds ("GE": the lower triangle with the diagonal),
// zeros elsewhere.
Value Triangle(InstructionBuilder& b, Value x, absl::string_view direction) {
  const int64_t rank = x->shape().rank();
  const Value row = b.Iota(xla::S32, x->shape().dims(), rank - 2),
              column = b.Iota(xla::S32, x->shape().dims(), rank - 1);
  return b.Select(b.Compare(row, column, direction), x, b.FullLike(x, 0));
}

// The solution X of op(A) X = B, or of X op(A) = B, for a triangular A.
Value Solve(InstructionBuilder& b, Value a, Value rhs, bool left, bool lower, bool unit, bool transposed) {
  xla::HloInstructionProto* attrs = b.NewAttrs();
  xla::TriangularSolveOptions& options = *attrs->mutable_triangular_solve_options();
  options.set_left_side(left);
  options.set_lower(lower);
  options.set_unit_diagonal(unit);
  options.set_transpose_a(transposed ? xla::TriangularSolveOptions::TRANSPOSE
                                     : xla::TriangularSolveOptions::NO_TRANSPOSE);
  return b.Op(Opcode::kTriangularSolve, rhs->shape(), {a, rhs}, attrs);
}

Value Fft(InstructionBuilder& b, Value x, const Shape& result, xla::FftType type, const Instruction& like) {
  xla::HloInstructionProto* attrs = b.NewAttrs();
  attrs->set_fft_type(type);
  *attrs->mutable_fft_length() = like.attrs().fft_length();
  return b.Op(Opcode::kFft, result, {x}, attrs);
}

}  // namespace

absl::Status FftGradient(Pullback& p) {
  InstructionBuilder& b = p.b;
  const auto& lengths = p.op().attrs().fft_length();
  const Value t = p.cotangent();
  const int64_t last = t->shape().rank() - 1, n = lengths.empty() ? 0 : lengths[lengths.size() - 1];
  switch (p.op().attrs().fft_type()) {
    case xla::FFT:
    case xla::IFFT:  // The matrix of the transform is symmetric.
      p.Add(0, Fft(b, t, t->shape(), p.op().attrs().fft_type(), p.op()));
      return absl::OkStatus();
    case xla::RFFT: {
      // An RFFT is the first half of the FFT of a real operand: pad the cotangent to n.
      const Value all = b.PadAlong(t, last, 0, n - t->shape().dim(last));
      p.Add(0, Fft(b, all, all->shape(), xla::FFT, p.op()));
      return absl::OkStatus();
    }
    case xla::IRFFT: {
      // Each coefficient counts twice, except the first one and, for even lengths, the middle one.
      const PrimitiveType type = p.operand_shape(0).element_type();
      const int64_t half = n / 2 + 1;
      double elements = 1;
      for (const int64_t length : lengths) elements *= static_cast<double>(length);
      const Value transformed = Fft(b, t, p.operand_shape(0), xla::RFFT, p.op());
      const Value k = b.Iota(xla::S32, transformed->shape().dims(), last);
      const Value is_one =
          b.Or(b.Compare(k, b.FullLike(k, 0), "EQ"),
               b.Compare(k, b.FullLike(k, n % 2 == 0 ? static_cast<double>(half - 1) : 0), "EQ"));
      const Value weights = b.Select(is_one, b.Full(type, transformed->shape().dims(), 1 / elements),
                                     b.Full(type, transformed->shape().dims(), 2 / elements));
      const Value product = b.Multiply(transformed, weights);
      const Shape real(type == xla::C128 ? xla::F64 : xla::F32, product->shape().dims());
      const Value re = b.Op(Opcode::kReal, real, {product}), im = b.Op(Opcode::kImag, real, {product});
      p.Add(0, b.Op(Opcode::kComplex, product->shape(), {re, b.Negate(im)}));
      return absl::OkStatus();
    }
    default:
      return absl::InvalidArgumentError("unknown kind of Fourier transform");
  }
}

absl::Status CholeskyGradient(Pullback& p) {
  InstructionBuilder& b = p.b;
  if (IsComplex(p.op().shape().element_type())) {
    return absl::UnimplementedError("the Cholesky decomposition of complex matrices has no gradient");
  }
  const bool lower = p.op().attrs().cholesky_options().lower();
  // Transpose upper triangles to lower ones.
  const Value l = lower ? p.result() : TransposeMatrices(b, p.result());
  const Value t = Triangle(b, lower ? p.cotangent() : TransposeMatrices(b, p.cotangent()), "GE");
  const Value product = Product(b, TransposeMatrices(b, Triangle(b, l, "GE")), t);
  const Value diagonal = Triangle(b, product, "EQ");
  const Value phi = b.Subtract(Triangle(b, product, "GE"), b.MultiplyNumber(diagonal, 0.5));
  const Value s =
      Solve(b, l, Solve(b, l, phi, /*left=*/true, /*lower=*/true, false, /*transposed=*/true), /*left=*/false,
            /*lower=*/true, false, false);
  // Only one triangle is read, so each of its elements off the diagonal counts twice.
  const Value both = b.Add(s, TransposeMatrices(b, s));
  const Value triangle = b.Subtract(Triangle(b, both, "GE"), b.MultiplyNumber(Triangle(b, both, "EQ"), 0.5));
  p.Add(0, lower ? triangle : TransposeMatrices(b, triangle));
  return absl::OkStatus();
}

absl::Status TriangularSolveGradient(Pullback& p) {
  InstructionBuilder& b = p.b;
  const xla::TriangularSolveOptions& options = p.op().attrs().triangular_solve_options();
  if (IsComplex(p.op().shape().element_type())) {
    return absl::UnimplementedError("triangular systems of complex numbers have no gradient");
  }
  const bool left = options.left_side(), lower = options.lower(), unit = options.unit_diagonal();
  const bool transposed = options.transpose_a() != xla::TriangularSolveOptions::NO_TRANSPOSE &&
                          options.transpose_a() != xla::TriangularSolveOptions::TRANSPOSE_INVALID;
  const Value solved = Solve(b, p.operand(0), p.cotangent(), left, lower, unit, !transposed);
  if (p.Wants(1)) p.Add(1, solved);
  if (!p.Wants(0)) return absl::OkStatus();
  const Value x = p.result();
  Value change =
      left ? Product(b, solved, TransposeMatrices(b, x)) : Product(b, TransposeMatrices(b, x), solved);
  if (transposed) change = TransposeMatrices(b, change);
  const absl::string_view part = unit ? (lower ? "GT" : "LT") : (lower ? "GE" : "LE");
  p.Add(0, b.Negate(Triangle(b, change, part)));
  return absl::OkStatus();
}

}  // namespace toroid
