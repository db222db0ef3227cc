#include <algorithm>
#include <numeric>

#include "tests/hlo/gradient/gradient_case.h"

namespace toroid {
namespace {

// Sizes of consecutive groups, which may end before or beyond the end of the dimension.
Value GroupSizes(GradientCase& c, int64_t groups) { return c.Indices({groups}, 0, 3); }

// A ragged-dot: lhs's free, contracting or batch dimension is cut into groups; dimensions are in any order.
Value RaggedDot(GradientCase& c) {
  const int64_t groups = c.Int(1, 3), b = c.Int(1, 2), m = c.Int(1, 5), k = c.Int(1, 5), n = c.Int(1, 3);
  const int64_t mode = c.Int(0, 2);  // Free, contracting, batch.
  xla::HloInstructionProto* attrs = c.b.NewAttrs();
  xla::RaggedDotDimensionNumbers& numbers = *attrs->mutable_ragged_dot_dimension_numbers();
  xla::DotDimensionNumbers& dot = *numbers.mutable_dot_dimension_numbers();
  // Logical dimensions b, m, k of lhs; b, k, n and the groups of rhs.
  const std::vector<int64_t> l = c.Permutation(3), r = c.Permutation(mode == 0 ? 4 : 3);
  Dims lhs(3), rhs(r.size());
  lhs[l[0]] = b;
  lhs[l[1]] = m;
  lhs[l[2]] = k;
  rhs[r[0]] = b;
  rhs[r[1]] = k;
  rhs[r[2]] = n;
  if (mode == 0) rhs[r[3]] = groups;
  dot.add_lhs_batch_dimensions(l[0]);
  dot.add_rhs_batch_dimensions(r[0]);
  dot.add_lhs_contracting_dimensions(l[2]);
  dot.add_rhs_contracting_dimensions(r[1]);
  numbers.add_lhs_ragged_dimensions(mode == 0 ? l[1] : mode == 1 ? l[2] : l[0]);
  if (mode == 0) numbers.add_rhs_group_dimensions(r[3]);
  return c.b.Op(Opcode::kRaggedDot, Shape(xla::F64, {}),
                {c.Variable(lhs), c.Variable(rhs), GroupSizes(c, groups)}, attrs);
}

Value ScaledDot(GradientCase& c) {
  const int64_t blocks = c.Int(1, 3), of_block = c.Int(1, 2), m = c.Int(1, 3), n = c.Int(1, 3);
  xla::HloInstructionProto* attrs = c.b.NewAttrs();
  attrs->mutable_dot_dimension_numbers()->add_lhs_contracting_dimensions(1);
  attrs->mutable_dot_dimension_numbers()->add_rhs_contracting_dimensions(0);
  const int64_t k = blocks * of_block;
  const Value lhs = c.Variable({m, k}), rhs = c.Variable({k, n});
  const Value of_lhs = c.Variable({c.Coin() ? m : 1, blocks}),
              of_rhs = c.Coin() ? c.Constant({}) : c.Variable({blocks, n});
  return c.b.Op(Opcode::kScaledDot, Shape(xla::F64, {}), {lhs, rhs, of_lhs, of_rhs}, attrs);
}

xla::Window RandomWindow(GradientCase& c, const Dims& dims, bool dilated, int64_t least_size) {
  xla::Window window;
  for (const int64_t n : dims) {
    xla::WindowDimension* dim = window.add_dimensions();
    dim->set_size(c.Int(least_size, 5));
    dim->set_stride(c.Int(1, 2));
    dim->set_base_dilation(dilated ? c.Int(1, 2) : 1);
    dim->set_window_dilation(dilated ? c.Int(1, 2) : 1);
    dim->set_padding_low(c.Int(0, 2));
    const int64_t extent = (dim->size() - 1) * dim->window_dilation() + 1,
                  size = (n - 1) * dim->base_dilation() + 1;
    dim->set_padding_high(std::max(c.Int(0, 2), extent - size - dim->padding_low()));
  }
  return window;
}

// A window of only padding yields the initial value; for a product that is 1.
Value FoldWindows(GradientCase& c, Opcode reducer) {
  const Dims dims = c.RandomDims(1, 2, 6);
  xla::HloInstructionProto* attrs = c.b.NewAttrs();
  *attrs->mutable_window() = RandomWindow(c, dims, true, 1);
  const Value init = reducer == Opcode::kMultiply ? c.b.Scalar<double>(1) : c.Constant({}, -1, 1);
  return c.b.Op(Opcode::kReduceWindow, Shape(xla::F64, {}), {c.Variable(dims), init}, attrs,
                {c.b.ReducerComputation(reducer, xla::F64)});
}

Value SelectAndScatter(GradientCase& c) {
  const Dims dims = c.RandomDims(1, 2, 5);
  xla::HloInstructionProto* attrs = c.b.NewAttrs();
  Dims windows;
  for (const int64_t n : dims) {
    xla::WindowDimension* dim = attrs->mutable_window()->add_dimensions();
    dim->set_size(c.Int(1, 3));
    dim->set_stride(c.Int(1, 2));
    dim->set_base_dilation(1);
    dim->set_window_dilation(1);
    // Every window holds an element.
    dim->set_padding_low(c.Int(0, dim->size() - 1));
    dim->set_padding_high(std::max<int64_t>(c.Int(0, dim->size() - 1), dim->size() - n - dim->padding_low()));
    windows.push_back((n + dim->padding_low() + dim->padding_high() - dim->size()) / dim->stride() + 1);
  }
  InstructionBuilder select = c.b.InNewComputation("select");
  const Value current = select.Parameter(Shape(xla::F64, {}), "current"),
              other = select.Parameter(Shape(xla::F64, {}), "other");
  const char* directions[] = {"GE", "GT", "LE", "LT"};
  const char* direction = directions[c.Int(0, 3)];
  const bool in_order = c.Coin();
  Computation* stays =
      select.Finish(select.Compare(in_order ? current : other, in_order ? other : current, direction));
  return c.b.Op(Opcode::kSelectAndScatter, Shape(xla::F64, dims),
                {c.Variable(dims), c.Variable(windows), c.Variable({})}, attrs,
                {stays, c.b.ReducerComputation(Opcode::kAdd, xla::F64)});
}

// A maximum, its index, and the sum of another array.
Value ArgMax(GradientCase& c) {
  const Dims dims = c.RandomDims(1, 3);
  const bool largest = c.Coin();
  std::vector<int64_t> order = c.Permutation(static_cast<int64_t>(dims.size()));
  order.resize(c.Int(1, static_cast<int64_t>(order.size())));
  InstructionBuilder inner = c.b.InNewComputation("argmax");
  const Shape real(xla::F64, {}), index(xla::S32, {});
  const Value a = inner.Parameter(real, "a"), i = inner.Parameter(index, "i"), p = inner.Parameter(real, "p");
  const Value b = inner.Parameter(real, "b"), j = inner.Parameter(index, "j"), q = inner.Parameter(real, "q");
  const Value stays = inner.Compare(a, b, largest ? "GT" : "LT");
  const Value first = inner.Or(stays, inner.And(inner.Compare(a, b, "EQ"), inner.Compare(i, j, "LT")));
  const Value best = c.Coin() ? inner.Select(stays, a, b)
                              : inner.Binary(largest ? Opcode::kMaximum : Opcode::kMinimum, a, b);
  Computation* reducer = inner.Finish(inner.Tuple({best, inner.Select(first, i, j), inner.Add(p, q)}));
  const Value init =
      c.Coin() ? c.Variable({}, largest ? -1 : 0, largest ? 0 : 1) : c.b.Scalar<double>(largest ? -9 : 9);
  return c.b.Reduce({c.Variable(dims), c.b.Iota(xla::S32, dims, order[0]), c.Variable(dims)},
                    {init, c.b.IntScalar(0), c.Variable({})}, order, reducer);
}

// The element with the smallest square, by a reducer of more than one op.
Value Choice(GradientCase& c) {
  InstructionBuilder inner = c.b.InNewComputation("nearest");
  const Value a = inner.Parameter(Shape(xla::F64, {}), "a"), b = inner.Parameter(Shape(xla::F64, {}), "b");
  const Value closer = inner.Compare(inner.Multiply(a, a), inner.Multiply(b, b), "LT");
  Computation* reducer =
      inner.Finish(c.Coin() ? inner.Select(closer, a, b) : inner.Select(inner.Not(closer), b, a));
  return c.b.Reduce({c.Variable({c.Int(1, 4), c.Int(1, 4)}, 0.1, 2)}, {c.Variable({}, 1, 2)}, {c.Int(0, 1)},
                    reducer);
}

Value Map(GradientCase& c) {
  const Dims dims = c.RandomDims(0, 3);
  InstructionBuilder inner = c.b.InNewComputation("of_element");
  const Value a = inner.Parameter(Shape(xla::F64, {}), "a"), b = inner.Parameter(Shape(xla::F64, {}), "b");
  const Value product = inner.Multiply(inner.Unary(Opcode::kSin, a), inner.Scalar<double>(1.5));
  Computation* of_element =
      inner.Finish(inner.Select(inner.Compare(a, b, "LT"), product, inner.Multiply(a, b)));
  std::vector<int64_t> all(dims.size());
  std::iota(all.begin(), all.end(), int64_t{0});
  return c.b.Op(Opcode::kMap, Shape(xla::F64, dims), {c.Variable(dims), c.Variable(dims)},
                c.b.WithDimensions(all), {of_element});
}

Value Scan(GradientCase& c) {
  const int64_t n = c.Int(1, 4), width = c.Int(1, 3), d = c.Int(0, 1);
  InstructionBuilder step = c.b.InNewComputation("step");
  const Value x = step.Parameter(Shape(xla::F64, {width}), "x"),
              state = step.Parameter(Shape(xla::F64, {width}), "state");
  const Value next = step.Tanh(step.Add(step.Multiply(x, state), x));
  Computation* body = step.Finish(step.Tuple({step.Multiply(next, next), next}));
  xla::HloInstructionProto* attrs = c.b.NewAttrs();
  attrs->set_num_carries(1);
  attrs->set_is_reverse(c.Coin());
  attrs->add_dimensions(d);
  const Dims dims = d == 0 ? Dims{n, width} : Dims{width, n};
  return c.b.Op(Opcode::kScan, Shape::Tuple({Shape(xla::F64, dims), Shape(xla::F64, {width})}),
                {c.Variable(dims), c.Variable({width})}, attrs, {body});
}

Value BatchNormGrad(GradientCase& c) {
  const Dims dims = {c.Int(1, 3), c.Int(2, 3), c.Int(1, 3)};
  const int64_t feature = c.Int(0, 2), n = dims[feature];
  xla::HloInstructionProto* attrs = c.b.NewAttrs();
  attrs->set_epsilon(0.25f);
  attrs->set_feature_index(feature);
  const Shape of_feature(xla::F64, {n});
  return c.b.Op(
      Opcode::kBatchNormGrad, Shape::Tuple({Shape(xla::F64, dims), of_feature, of_feature}),
      {c.Variable(dims), c.Variable({n}), c.Variable({n}), c.Variable({n}, 0.5, 2), c.Variable(dims)}, attrs);
}

Value Fusion(GradientCase& c) {
  const Dims dims = c.RandomDims(0, 2);
  InstructionBuilder inner = c.b.InNewComputation("fused");
  const Value x = inner.Parameter(Shape(xla::F64, dims), "x"),
              y = inner.Parameter(Shape(xla::F64, dims), "y");
  Computation* fused = inner.Finish(inner.Tuple({inner.Multiply(x, y), inner.Tanh(x)}));
  fused->set_is_fusion(true);
  xla::HloInstructionProto* attrs = c.b.NewAttrs();
  attrs->set_fusion_kind("kLoop");
  return c.b.Op(Opcode::kFusion, fused->root()->shape(), {c.Variable(dims), c.Variable(dims)}, attrs,
                {fused});
}

// In one array the last update wins, in the other updates are added.
Value Scatters(GradientCase& c) {
  const int64_t rows = c.Int(1, 4), width = c.Int(1, 3), n = c.Int(0, 4);
  xla::HloInstructionProto* attrs = c.b.NewAttrs();
  xla::ScatterDimensionNumbers& numbers = *attrs->mutable_scatter_dimension_numbers();
  numbers.add_update_window_dims(1);
  numbers.add_inserted_window_dims(0);
  numbers.add_scatter_dims_to_operand_dims(0);
  numbers.set_index_vector_dim(1);
  InstructionBuilder inner = c.b.InNewComputation("combine");
  const Shape scalar(xla::F64, {});
  const Value p = inner.Parameter(scalar, "p"), q = inner.Parameter(scalar, "q");
  const Value r = inner.Parameter(scalar, "r"), s = inner.Parameter(scalar, "s");
  inner.Not(inner.Compare(p, r, "LT"));
  Computation* combiner = inner.Finish(inner.Tuple({r, inner.Add(s, q)}));
  const Shape array(xla::F64, {rows, width});
  return c.b.Op(Opcode::kScatter, Shape::Tuple({array, array}),
                {c.Variable({rows, width}), c.Variable({rows, width}), c.Indices({n, 1}, -1, rows),
                 c.Variable({n, width}), c.Variable({n, width})},
                attrs, {combiner});
}

}  // namespace

std::vector<GradientKind> CompositeKinds() {
  return {
      {"ragged-dot", RaggedDot},
      {"scaled-dot", ScaledDot, 3e-3, 3e-4},  // Its products run in f32.
      {"product over windows", [](GradientCase& c) { return FoldWindows(c, Opcode::kMultiply); }},
      {"maximum over dilated windows", [](GradientCase& c) { return FoldWindows(c, Opcode::kMaximum); }},
      {"minimum over dilated windows", [](GradientCase& c) { return FoldWindows(c, Opcode::kMinimum); }},
      {"cumulative product",
       [](GradientCase& c) {
         return c.b.CumulativeReduce(Opcode::kMultiply, c.Variable({c.Int(1, 5), c.Int(1, 5)}), c.Int(0, 1));
       }},
      {"select-and-scatter", SelectAndScatter},
      {"argmax and a sum", ArgMax},
      {"choice by a reducer", Choice},
      {"map", Map},
      {"scan with carries", Scan},
      {"batch-norm-grad", BatchNormGrad},
      {"fusion", Fusion},
      {"scatters into two arrays", Scatters},
  };
}

}  // namespace toroid
