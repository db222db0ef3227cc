// BUILD: size = "small"
#include "hlo/builder/instruction_builder.h"

#include <memory>
#include <string>

#include "hlo/ops/verify_module.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

Value Ints(InstructionBuilder& b, std::vector<int32_t> values) {
  return b.Constant(Literal::Array<int32_t>({static_cast<int64_t>(values.size())}, values));
}

// The value of `root`, which belongs to the entry of a module that verifies.
template <typename Build>
std::string ValueOf(const Build& build) {
  Module module("m");
  InstructionBuilder b(module.AddComputation("main"));
  Computation* entry = b.Finish(build(b));
  EXPECT_OK(b.status());
  if (!b.status().ok()) return std::string(b.status().message());
  std::vector<Computation*> order;
  for (const auto& computation : module.computations()) {
    if (computation.get() != entry) order.insert(order.begin(), computation.get());
  }
  order.push_back(entry);
  module.ReorderComputations(order);
  module.set_entry(entry);
  EXPECT_OK(VerifyModule(module));
  absl::StatusOr<std::vector<Literal>> results = RunOnDevices(module, {}, 1);
  return results.ok() ? ToText(results->front()) : std::string(results.status().message());
}

TEST(InstructionBuilderTest, LoopsCountUntilTheirConditionFails) {
  EXPECT_EQ(ValueOf([](InstructionBuilder& b) {
              Value init = b.Tuple({b.IntScalar(0), b.IntScalar(0)});
              InstructionBuilder condition = b.InNewComputation("condition");
              InstructionBuilder body = b.InNewComputation("body");
              Value state = condition.Parameter(init->shape(), "state");
              Computation* more = condition.Finish(
                  condition.Compare(condition.GetTupleElement(state, 0), condition.IntScalar(10), "LT"));
              const std::vector<Value> at = body.Flatten(body.Parameter(init->shape(), "state"));
              Value next = body.Add(at[0], body.IntScalar(1));
              return b.GetTupleElement(
                  b.While(init, more, body.Finish(body.Tuple({next, body.Add(at[1], at[0])}))), 1);
            }),
            "45");
}

TEST(InstructionBuilderTest, BranchesAreChosenByPredicateOrNumber) {
  const auto chosen = [](Literal selector) {
    return ValueOf([&](InstructionBuilder& b) {
      const Value x = b.IntScalar(6), y = b.IntScalar(7);
      std::vector<Computation*> branches;
      for (const Opcode opcode : {Opcode::kNegate, Opcode::kAbs}) {
        InstructionBuilder branch = b.InNewComputation(std::string(OpcodeName(opcode)));
        branches.push_back(branch.Finish(branch.Unary(opcode, branch.Parameter(x->shape(), "x"))));
      }
      return b.Conditional(b.Constant(selector), {x, y}, branches);
    });
  };
  EXPECT_EQ(chosen(Literal::Scalar<bool>(true)), "-6");
  EXPECT_EQ(chosen(Literal::Scalar<int32_t>(1)), "7");
}

TEST(InstructionBuilderTest, PartsAreTakenPutBackAndGathered) {
  EXPECT_EQ(ValueOf([](InstructionBuilder& b) {
              Value x = Ints(b, {0, 10, 20, 30, 40});
              Value part = b.DynamicSliceAlong(x, 0, b.IntScalar(3), 2);
              return b.DynamicUpdateSlice(x, part, {b.IntScalar(0)});
            }),
            "{30, 40, 20, 30, 40}");
  EXPECT_EQ(ValueOf([](InstructionBuilder& b) {
              Value table = b.Reshape(Ints(b, {1, 2, 3, 4, 5, 6}), {3, 2});
              return b.GatherRows(table, Ints(b, {2, 0}));
            }),
            "{ { 5, 6 }, { 1, 2 } }");
  EXPECT_EQ(ValueOf([](InstructionBuilder& b) {
              xla::ScatterDimensionNumbers numbers;
              numbers.add_inserted_window_dims(0);
              numbers.add_scatter_dims_to_operand_dims(0);
              numbers.set_index_vector_dim(1);
              return b.Scatter(b.Zeros(xla::S32, {4}), Ints(b, {1, 3, 1}), Ints(b, {5, 6, 7}), numbers,
                               b.ReducerComputation(Opcode::kAdd, xla::S32));
            }),
            "{0, 12, 0, 6}");
  EXPECT_EQ(ValueOf([](InstructionBuilder& b) {
              Value row = Ints(b, {1, 2});
              return b.Pad(b.BroadcastOver(row, {2, 2}, {0}), b.IntScalar(9), {0, 1}, {0, 0}, {0, 1});
            }),
            "{ { 9, 1, 9, 2 }, { 9, 1, 9, 2 } }");
}

TEST(InstructionBuilderTest, ArraysAreFoldedSortedAndConvolved) {
  EXPECT_EQ(
      ValueOf([](InstructionBuilder& b) {
        InstructionBuilder less = b.InNewComputation("less");
        std::vector<Value> p;
        for (int i = 0; i < 4; ++i) p.push_back(less.Parameter(Shape(xla::S32, {}), "p"));
        Computation* by_first = less.Finish(less.Compare(p[0], p[1], "LT"));
        Value sorted = b.Sort({Ints(b, {3, 1, 2}), Ints(b, {30, 10, 20})}, 0, by_first, /*is_stable=*/true);
        return b.GetTupleElement(sorted, 1);
      }),
      "{10, 20, 30}");
  EXPECT_EQ(ValueOf([](InstructionBuilder& b) {
              Value x = b.Reshape(Ints(b, {1, 2, 3, 4, 5, 6}), {2, 3});
              return b.Tuple({b.Sum(x, {1}), b.Max(x, {0}), b.CumulativeReduce(Opcode::kAdd, x, 1)});
            }),
            "( {6, 15}, {4, 5, 6}, { { 1, 3, 6 }, { 4, 9, 15 } } )");
  EXPECT_EQ(ValueOf([](InstructionBuilder& b) {
              // x * (1, 10), as inner products of neighbours.
              Value x = b.Reshape(b.Convert(Ints(b, {1, 2, 3}), xla::F32), {1, 3, 1});
              Value k = b.Reshape(b.Convert(Ints(b, {1, 10}), xla::F32), {2, 1, 1});
              xla::Window window;
              xla::WindowDimension* along = window.add_dimensions();
              along->set_size(2);
              along->set_stride(1);
              along->set_window_dilation(1);
              along->set_base_dilation(1);
              xla::ConvolutionDimensionNumbers numbers;
              numbers.set_input_batch_dimension(0);
              numbers.add_input_spatial_dimensions(1);
              numbers.set_input_feature_dimension(2);
              numbers.add_kernel_spatial_dimensions(0);
              numbers.set_kernel_input_feature_dimension(1);
              numbers.set_kernel_output_feature_dimension(2);
              numbers.set_output_batch_dimension(0);
              numbers.add_output_spatial_dimensions(1);
              numbers.set_output_feature_dimension(2);
              return b.Reshape(b.Convolution(x, k, window, numbers), {2});
            }),
            "{21, 32}");
}

TEST(InstructionBuilderTest, OpsThatChangeNothingAreTheirOperand) {
  Module module("m");
  InstructionBuilder b(module.AddComputation("main"));
  Value x = b.Parameter(Shape(xla::F32, {4, 6}), "x");
  EXPECT_EQ(b.Convert(x, xla::F32), x);
  EXPECT_EQ(b.Broadcast(x, {4, 6}, {0, 1}), x);
  EXPECT_EQ(b.Reshape(x, {4, 6}), x);
  EXPECT_EQ(b.Transpose(x, {0, 1}), x);
  EXPECT_EQ(b.Reverse(x, {}), x);
  EXPECT_EQ(b.Concatenate({x}, 1), x);
  EXPECT_EQ(b.Slice(x, {0, 0}, {4, 6}, {1, 1}), x);
  EXPECT_EQ(b.SliceAlong(x, 1, 0, 6), x);
  EXPECT_EQ(b.PadAlong(x, 0, 0, 0), x);
  EXPECT_EQ(b.DynamicSliceAlong(x, 1, b.IntScalar(2), 6), x);
  EXPECT_EQ(b.ToRowMajor(x), x);
  EXPECT_EQ(b.IntScalar(2), b.IntScalar(2));
  EXPECT_EQ(module.entry(), nullptr);
  EXPECT_EQ(b.computation()->size(), 2);
  // Invalid ones are errors.
  b.Transpose(x, {0});
  EXPECT_THAT(b.status(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("transpose")));
}

TEST(InstructionBuilderTest, ErrorsInABodyReachTheBuilderItCameFrom) {
  for (const int64_t dimension : {-1, 2}) {
    Module module("m");
    InstructionBuilder b(module.AddComputation("main"));
    InstructionBuilder body = b.InNewComputation("body");
    Value x = body.Parameter(Shape(xla::F32, {4, 6}), "x");
    body.Add(x, body.SliceAlong(x, dimension, 0, 1));
    EXPECT_THAT(b.status(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("slice of f32[4,6]")));
  }
}

TEST(InstructionBuilderTest, LeavesReturnToTheirTuple) {
  Module module("m");
  InstructionBuilder b(module.AddComputation("main"));
  const Shape array(xla::F32, {2});
  const Shape nested = Shape::Tuple({array, Shape::Tuple({array, array}), Shape::Tuple({})});
  Value x = b.Parameter(nested, "x");
  const std::vector<Value> leaves = b.Flatten(x);
  EXPECT_EQ(leaves.size(), 3);
  EXPECT_EQ(b.Unflatten(nested, leaves)->shape(), nested);
  EXPECT_OK(b.status());
}

}  // namespace
}  // namespace toroid
