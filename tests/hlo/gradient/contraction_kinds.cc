#include <algorithm>

#include "tests/hlo/gradient/gradient_case.h"

namespace toroid {
namespace {

// Batch, contracting and free dimensions in any order.
Value Dot(GradientCase& c) {
  const PrimitiveType type = c.Int(0, 3) == 0 ? xla::C128 : xla::F64;
  const int64_t batch = c.Int(0, 2), contracting = c.Int(0, 2), lhs_free = c.Int(0, 1),
                rhs_free = c.Int(0, 2);
  std::vector<int64_t> shared;
  for (int64_t i = 0; i < batch + contracting; ++i) shared.push_back(c.Int(1, 3));
  xla::DotDimensionNumbers numbers;
  const auto side = [&](int64_t free, auto* batch_dims, auto* contracting_dims) {
    const std::vector<int64_t> place = c.Permutation(batch + contracting + free);
    Dims dims(place.size());
    for (size_t i = 0; i < place.size(); ++i) dims[place[i]] = i < shared.size() ? shared[i] : c.Int(1, 3);
    batch_dims->Add(place.begin(), place.begin() + batch);
    contracting_dims->Add(place.begin() + batch, place.begin() + batch + contracting);
    return dims;
  };
  const Dims lhs =
      side(lhs_free, numbers.mutable_lhs_batch_dimensions(), numbers.mutable_lhs_contracting_dimensions());
  const Dims rhs =
      side(rhs_free, numbers.mutable_rhs_batch_dimensions(), numbers.mutable_rhs_contracting_dimensions());
  const Value x = c.Variable(lhs, -2, 2, type);
  return c.b.Dot(x, c.Coin() ? c.Variable(rhs, -2, 2, type) : c.Constant(rhs, -2, 2, type), numbers);
}

// A convolution with strides, dilations of both operands, padding, reversal, and feature or batch groups.
Value Convolution(GradientCase& c) {
  const int64_t rank = c.Int(1, 2), feature_groups = c.Coin() ? c.Int(1, 2) : 1;
  const int64_t batch_groups = feature_groups == 1 && c.Coin() ? 2 : 1;
  const int64_t batch = batch_groups * c.Int(1, 2), in = c.Int(1, 2),
                out = feature_groups * batch_groups * c.Int(1, 2);
  const std::vector<int64_t> x_place = c.Permutation(rank + 2), k_place = c.Permutation(rank + 2),
                             y_place = c.Permutation(rank + 2);
  Dims x(rank + 2), k(rank + 2);
  x[x_place[0]] = batch;
  x[x_place[1]] = in * feature_groups;
  k[k_place[0]] = in;
  k[k_place[1]] = out;
  xla::Window window;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t size = c.Int(1, 3), n = c.Int(2, 4), base = c.Int(1, 2), dilation = c.Int(1, 2);
    const int64_t extent = (size - 1) * dilation + 1, dilated = (n - 1) * base + 1;
    xla::WindowDimension* dim = window.add_dimensions();
    dim->set_size(size);
    dim->set_stride(c.Int(1, 2));
    dim->set_base_dilation(base);
    dim->set_window_dilation(dilation);
    dim->set_window_reversal(c.Coin());
    dim->set_padding_low(c.Int(-1, 2));
    dim->set_padding_high(std::max(c.Int(-1, 2), extent - dilated - dim->padding_low()));
    x[x_place[2 + i]] = n;
    k[k_place[2 + i]] = size;
  }
  xla::ConvolutionDimensionNumbers numbers;
  numbers.set_input_batch_dimension(x_place[0]);
  numbers.set_input_feature_dimension(x_place[1]);
  numbers.set_kernel_input_feature_dimension(k_place[0]);
  numbers.set_kernel_output_feature_dimension(k_place[1]);
  numbers.set_output_batch_dimension(y_place[0]);
  numbers.set_output_feature_dimension(y_place[1]);
  for (int64_t i = 0; i < rank; ++i) {
    numbers.add_input_spatial_dimensions(x_place[2 + i]);
    numbers.add_kernel_spatial_dimensions(k_place[2 + i]);
    numbers.add_output_spatial_dimensions(y_place[2 + i]);
  }
  return c.b.Convolution(c.Variable(x), c.Variable(k), window, numbers, feature_groups, batch_groups);
}

Value Reduce(GradientCase& c, Opcode reducer) {
  const Dims dims = c.RandomDims(1, 3);
  std::vector<int64_t> order = c.Permutation(static_cast<int64_t>(dims.size()));
  order.resize(c.Int(1, static_cast<int64_t>(order.size())));
  const Value init = c.Coin() ? c.Variable({}, 0.5, 1) : c.Constant({}, 0.5, 1);
  return c.b.Reduce({c.Variable(dims)}, {init}, order, c.b.ReducerComputation(reducer, xla::F64));
}

Value ReduceWindow(GradientCase& c, Opcode reducer) {
  const bool dilated = reducer == Opcode::kAdd;
  const Dims dims = c.RandomDims(1, 3, 5);
  xla::Window window;
  for (const int64_t n : dims) {
    xla::WindowDimension* dim = window.add_dimensions();
    // A window of only padding has no maximum.
    dim->set_size(c.Int(dilated ? 1 : 2, 3));
    dim->set_stride(c.Int(1, 2));
    dim->set_base_dilation(dilated ? c.Int(1, 2) : 1);
    dim->set_window_dilation(dilated ? c.Int(1, 2) : 1);
    dim->set_padding_low(dilated ? c.Int(-1, 2) : c.Int(0, 1));
    const int64_t extent = (dim->size() - 1) * dim->window_dilation() + 1,
                  size = (n - 1) * dim->base_dilation() + 1;
    dim->set_padding_high(std::max(dilated ? c.Int(-1, 2) : c.Int(0, 1), extent - size - dim->padding_low()));
  }
  return c.b.ReduceWindow(reducer, c.Variable(dims), window);
}

Value Fft(GradientCase& c) {
  const Dims batch = c.RandomDims(0, 1, 3);
  const int64_t n = c.Int(1, 6), m = c.Int(1, 4);
  const bool plane = c.Coin();
  const auto dims = [&](int64_t last) {
    Dims all = batch;
    if (plane) all.push_back(m);
    all.push_back(last);
    return all;
  };
  xla::HloInstructionProto* attrs = c.b.NewAttrs();
  if (plane) attrs->add_fft_length(m);
  attrs->add_fft_length(n);
  const auto kind = static_cast<xla::FftType>(c.Int(0, 3));
  attrs->set_fft_type(kind);
  switch (kind) {
    case xla::RFFT:
      return c.b.Op(Opcode::kFft, Shape(xla::C128, dims(n / 2 + 1)), {c.Variable(dims(n))}, attrs);
    case xla::IRFFT: {
      // The result is real: half of the coefficients determines the other half.
      Value z = c.Variable(dims(n / 2 + 1), -2, 2, xla::C128);
      return c.b.Op(Opcode::kFft, Shape(xla::F64, dims(n)), {z}, attrs);
    }
    default:
      return c.b.Op(Opcode::kFft, Shape(xla::C128, dims(n)), {c.Variable(dims(n), -2, 2, xla::C128)}, attrs);
  }
}

// A well-conditioned triangular matrix: elements off the diagonal are small.
Value Triangle(GradientCase& c, int64_t n) {
  const Value diagonal =
      c.b.Select(c.b.Compare(c.b.Iota(xla::S32, {2, n, n}, 1), c.b.Iota(xla::S32, {2, n, n}, 2), "EQ"),
                 c.b.Full(xla::F64, {2, n, n}, 1.5), c.b.Zeros(xla::F64, {2, n, n}));
  return c.b.Add(c.Variable({2, n, n}, -0.3, 0.3), diagonal);
}

Value Cholesky(GradientCase& c) {
  const int64_t n = c.Int(1, 4);
  xla::HloInstructionProto* attrs = c.b.NewAttrs();
  attrs->mutable_cholesky_options()->set_lower(c.Coin());
  const Value a = Triangle(c, n);
  const Value l = c.b.Op(Opcode::kCholesky, a->shape(), {a}, attrs);
  // The other triangle holds arbitrary values.
  const absl::string_view part = attrs->cholesky_options().lower() ? "GE" : "LE";
  const Value row = c.b.Iota(xla::S32, {2, n, n}, 1), column = c.b.Iota(xla::S32, {2, n, n}, 2);
  return c.b.Select(c.b.Compare(row, column, part), l, c.b.FullLike(l, 0));
}

Value TriangularSolve(GradientCase& c) {
  const int64_t n = c.Int(1, 3), m = c.Int(1, 3);
  xla::HloInstructionProto* attrs = c.b.NewAttrs();
  xla::TriangularSolveOptions& options = *attrs->mutable_triangular_solve_options();
  options.set_left_side(c.Coin());
  options.set_lower(c.Coin());
  options.set_unit_diagonal(c.Coin());
  options.set_transpose_a(c.Coin() ? xla::TriangularSolveOptions::TRANSPOSE
                                   : xla::TriangularSolveOptions::NO_TRANSPOSE);
  const Value rhs = options.left_side() ? c.Variable({2, n, m}) : c.Variable({2, m, n});
  return c.b.Op(Opcode::kTriangularSolve, rhs->shape(), {Triangle(c, n), rhs}, attrs);
}

}  // namespace

std::vector<GradientKind> ContractionKinds() {
  return {
      {"dot", Dot},
      {"convolution", Convolution},
      {"sum", [](GradientCase& c) { return Reduce(c, Opcode::kAdd); }},
      {"maximum of many", [](GradientCase& c) { return Reduce(c, Opcode::kMaximum); }},
      {"minimum of many", [](GradientCase& c) { return Reduce(c, Opcode::kMinimum); }},
      {"product of many", [](GradientCase& c) { return Reduce(c, Opcode::kMultiply); }},
      {"sum over windows", [](GradientCase& c) { return ReduceWindow(c, Opcode::kAdd); }},
      {"maximum over windows", [](GradientCase& c) { return ReduceWindow(c, Opcode::kMaximum); }},
      {"minimum over windows", [](GradientCase& c) { return ReduceWindow(c, Opcode::kMinimum); }},
      {"cumulative sum",
       [](GradientCase& c) {
         return c.b.CumulativeReduce(Opcode::kAdd, c.Variable({c.Int(1, 5), c.Int(1, 5)}), c.Int(0, 1));
       }},
      {"cumulative maximum",
       [](GradientCase& c) {
         return c.b.CumulativeReduce(Opcode::kMaximum, c.Variable({c.Int(1, 5), c.Int(1, 5)}), c.Int(0, 1));
       }},
      {"fft", Fft},
      {"cholesky", Cholesky},
      {"triangular-solve", TriangularSolve},
  };
}

}  // namespace toroid
