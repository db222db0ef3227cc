#include <algorithm>

#include "tests/hlo/gradient/gradient_case.h"

namespace toroid {
namespace {

Value DynamicSlice(GradientCase& c) {
  const Value x = c.Variable(c.RandomDims(1, 3));
  Dims sizes;
  std::vector<Value> starts;
  for (const int64_t n : x->shape().dims()) {
    sizes.push_back(c.Int(1, n));
    starts.push_back(c.Indices({}, -1, n));
  }
  // Twice, so that one cotangent is added to the other.
  const Value first = c.b.DynamicSlice(x, starts, sizes);
  return c.Coin() ? first
                  : c.b.Add(first, c.b.DynamicSlice(x, std::vector<Value>(starts.size(), c.Indices({}, 0, 1)),
                                                    sizes));
}

Value DynamicUpdateSlice(GradientCase& c) {
  const Value x = c.Variable(c.RandomDims(1, 3));
  Dims sizes;
  std::vector<Value> starts;
  for (const int64_t n : x->shape().dims()) {
    sizes.push_back(c.Int(1, n));
    starts.push_back(c.Indices({}, -1, n));
  }
  return c.b.DynamicUpdateSlice(x, c.Variable(sizes), starts);
}

// Slices of an array of rank 2 or 3, at indices, some of which need clamping; sometimes with a batch
// dimension.
Value Gather(GradientCase& c) {
  const bool batched = c.Coin();
  const int64_t batch = c.Int(1, 3), n = c.Int(1, 4), rows = c.Int(2, 5), width = c.Int(1, 3);
  xla::GatherDimensionNumbers numbers;
  if (batched) {
    numbers.add_operand_batching_dims(0);
    numbers.add_start_indices_batching_dims(0);
    numbers.add_collapsed_slice_dims(1);
    numbers.add_start_index_map(1);
    numbers.add_offset_dims(2);
    numbers.set_index_vector_dim(2);
    return c.b.Gather(c.Variable({batch, rows, width}), c.Indices({batch, n}, -1, rows), numbers,
                      {1, 1, width});
  }
  const int64_t taken = c.Int(1, rows);
  numbers.add_offset_dims(1);
  numbers.add_offset_dims(2);
  numbers.add_start_index_map(0);
  if (c.Coin()) numbers.add_start_index_map(1);
  numbers.set_index_vector_dim(1);
  return c.b.Gather(c.Variable({rows, width}), c.Indices({n, numbers.start_index_map_size()}, -1, rows),
                    numbers, {taken, c.Int(1, width)});
}

Value Scatter(GradientCase& c, Opcode reducer, bool unique) {
  const int64_t rows = c.Int(3, 6), width = c.Int(1, 3), n = c.Int(1, 3);
  xla::ScatterDimensionNumbers numbers;
  numbers.add_update_window_dims(1);
  numbers.add_inserted_window_dims(0);
  numbers.add_scatter_dims_to_operand_dims(0);
  numbers.set_index_vector_dim(1);
  Computation* combiner = nullptr;
  if (reducer == Opcode::kUnknown) {
    InstructionBuilder inner = c.b.InNewComputation("newer");
    inner.Parameter(Shape(xla::F64, {}), "old");
    combiner = inner.Finish(inner.Parameter(Shape(xla::F64, {}), "new"));
  } else {
    combiner = c.b.ReducerComputation(reducer, xla::F64);
  }
  Value indices = c.Indices({n, 1}, -1, rows);
  if (unique) {
    const std::vector<int64_t> order = c.Permutation(rows);
    Literal chosen(Shape(xla::S32, {n, 1}));
    for (int64_t i = 0; i < n; ++i) chosen.mutable_data<int32_t>()[i] = static_cast<int32_t>(order[i]);
    indices = c.b.Constant(chosen);
  }
  const Value result =
      c.b.Scatter(c.Variable({rows, width}), indices, c.Variable({n, width}), numbers, combiner);
  if (unique) result->MutableAttrs()->set_unique_indices(true);
  return result;
}

Value Sort(GradientCase& c) {
  const Dims dims = c.RandomDims(1, 3, 5);
  const int64_t dimension = c.Int(0, static_cast<int64_t>(dims.size()) - 1);
  std::vector<Value> operands = {c.Variable(dims)};
  if (c.Coin()) operands.push_back(c.Variable(dims));
  InstructionBuilder less = c.b.InNewComputation("less");
  std::vector<Value> parameters;
  for (size_t i = 0; i < 2 * operands.size(); ++i)
    parameters.push_back(less.Parameter(Shape(xla::F64, {}), ""));
  const bool descending = c.Coin();
  Computation* comparator = less.Finish(less.Compare(parameters[0], parameters[1], descending ? "GT" : "LT"));
  return c.b.Sort(operands, dimension, comparator, c.Coin());
}

}  // namespace

std::vector<GradientKind> MovementKinds() {
  return {
      {"broadcast",
       [](GradientCase& c) {
         const Dims dims = c.RandomDims(1, 4);
         const std::vector<int64_t> order = c.Permutation(static_cast<int64_t>(dims.size()));
         const std::vector<int64_t> kept(order.begin(),
                                         order.begin() + c.Int(0, static_cast<int64_t>(order.size())));
         Dims operand;
         for (const int64_t d : kept) operand.push_back(dims[d]);
         return c.b.Broadcast(c.Variable(operand), dims, kept);
       }},
      {"reshape",
       [](GradientCase& c) {
         const Value x = c.Variable(c.RandomDims(0, 3));
         return c.b.Reshape(x, {x->shape().NumElements(), 1});
       }},
      {"transpose",
       [](GradientCase& c) {
         const Value x = c.Variable(c.RandomDims(2, 4));
         return c.b.Transpose(x, c.Permutation(x->shape().rank()));
       }},
      {"reverse", [](GradientCase& c) { return c.b.Reverse(c.Variable(c.RandomDims(2, 3)), {c.Int(0, 1)}); }},
      {"concatenate",
       [](GradientCase& c) {
         const int64_t rows = c.Int(1, 3);
         std::vector<Value> parts;
         for (int64_t i = 0; i < c.Int(2, 3); ++i) parts.push_back(c.Variable({rows, c.Int(1, 3)}));
         parts.push_back(parts[0]);
         return c.b.Concatenate(parts, 1);
       }},
      {"slice",
       [](GradientCase& c) {
         const Value x = c.Variable(c.RandomDims(1, 3, 6));
         Dims starts, limits, strides;
         for (const int64_t n : x->shape().dims()) {
           starts.push_back(c.Int(0, n - 1));
           limits.push_back(c.Int(starts.back(), n));
           strides.push_back(c.Int(1, 3));
         }
         return c.b.Slice(x, starts, limits, strides);
       }},
      {"pad",
       [](GradientCase& c) {
         const Value x = c.Variable(c.RandomDims(1, 3));
         Dims low, high, interior;
         for (const int64_t n : x->shape().dims()) {
           interior.push_back(c.Int(0, 2));
           low.push_back(c.Int(-1, 2));
           // The rest must not have a negative size.
           high.push_back(c.Int(std::max<int64_t>(-1, -(n - 1) * (interior.back() + 1) - 1 - low.back()), 2));
         }
         return c.b.Pad(x, c.Variable({}), low, high, interior);
       }},
      {"opt-barrier",
       [](GradientCase& c) {
         const Value both = c.b.Tuple({c.Variable({2}), c.Variable({3})});
         return c.b.Op(Opcode::kOptimizationBarrier, both->shape(), {both});
       }},
      {"copy",
       [](GradientCase& c) {
         return c.b.Copy(c.Variable({2, 3}));
       }},
      {"dynamic-slice", DynamicSlice},
      {"dynamic-update-slice", DynamicUpdateSlice},
      {"gather", Gather},
      {"scatter that adds", [](GradientCase& c) { return Scatter(c, Opcode::kAdd, false); }},
      {"scatter of the newest", [](GradientCase& c) { return Scatter(c, Opcode::kUnknown, false); }},
      {"scatter of maxima", [](GradientCase& c) { return Scatter(c, Opcode::kMaximum, false); }},
      {"scatter of minima", [](GradientCase& c) { return Scatter(c, Opcode::kMinimum, false); }},
      {"scatter that multiplies", [](GradientCase& c) { return Scatter(c, Opcode::kMultiply, true); }},
      {"sort", Sort},
      {"topk",
       [](GradientCase& c) {
         const Dims dims = c.RandomDims(1, 3, 5);
         xla::HloInstructionProto* attrs = c.b.NewAttrs();
         attrs->set_k(c.Int(0, dims.back()));
         attrs->set_largest(c.Coin());
         return c.b.Op(Opcode::kTopK, Shape::Tuple({Shape(xla::F64, dims), Shape(xla::S32, dims)}),
                       {c.Variable(dims)}, attrs);
       }},
  };
}

}  // namespace toroid
