// BUILD: size = "small"
#include "hlo/builder/builder.h"

#include <memory>
#include <string>

#include "hlo/builder/neutral_element.h"
#include "hlo/io/hlo_text.h"
#include "hlo/io/sharding_text.h"
#include "hlo/ops/verify_module.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

std::string ShardingOf(Value value) {
  return value->sharding() == nullptr ? "none" : ShardingToString(*value->sharding());
}

TEST(BuilderTest, ProgramVerifiesAndReadsBack) {
  Builder b("mlp", 8);
  Value x = b.Split(b.Parameter(Shape(xla::F32, {64, 32}), "x"), 0, 8);
  Value w = b.Replicate(b.Parameter(Shape(xla::F32, {32, 16}), "w"));
  Value h = b.Einsum("BM,MH->BH", x, w);
  Value y = b.Sum(b.Maximum(h, b.FullLike(h, 0)), {1});
  Value padded = b.Pad(b.Slice(y, {0}, {10}), b.Scalar<float>(0), {1}, {2});
  ASSERT_OK_AND_ASSIGN(const auto module, b.Build(b.Tuple({b.CumulativeReduce(Opcode::kAdd, y, 0), padded,
                                                           b.Concatenate({y, b.Reverse(y, {0})}, 0)})));
  EXPECT_OK(VerifyModule(*module));
  EXPECT_EQ(module->entry()->root()->shape().ToString(), "(f32[64], f32[13], f32[128])");
  ASSERT_OK_AND_ASSIGN(const auto again, ParseModule(PrintModule(*module)));
  EXPECT_OK(VerifyModule(*again));
}

TEST(BuilderTest, EinsumTakesLettersAsBatchSumOrFree) {
  const std::tuple<const char*, Shape, Shape, const char*> kCases[] = {
      {"GSM,ME->GSE", Shape(xla::F32, {2, 3, 4}), Shape(xla::F32, {4, 5}), "f32[2,3,5]"},
      {"GSEC,GSM->EGCM", Shape(xla::F32, {2, 3, 4, 5}), Shape(xla::F32, {2, 3, 6}), "f32[4,2,5,6]"},
      {"EGCM,EMH->EGCH", Shape(xla::F32, {4, 2, 5, 6}), Shape(xla::F32, {4, 6, 7}), "f32[4,2,5,7]"},
      {"A,B->BA", Shape(xla::F32, {2}), Shape(xla::F32, {3}), "f32[3,2]"},
      {"AB,AB->", Shape(xla::F32, {2, 3}), Shape(xla::F32, {2, 3}), "f32[]"},
  };
  for (const auto& [equation, left, right, result] : kCases) {
    SCOPED_TRACE(equation);
    Builder b("einsum");
    Value value = b.Einsum(equation, b.Parameter(left, "a"), b.Parameter(right, "b"));
    EXPECT_EQ(value->shape().ToString(), result);
    ASSERT_OK_AND_ASSIGN(const auto module, b.Build(value));
    EXPECT_OK(VerifyModule(*module));
  }
  for (const char* equation : {"AB,BC->AC,", "AB,BC", "AA,BC->AC", "AB,CD->AD", "AB,BC->AZ", "ABC,BC->AC"}) {
    SCOPED_TRACE(equation);
    Builder b("einsum");
    Value value = b.Einsum(equation, b.Parameter(Shape(xla::F32, {2, 2}), "a"),
                           b.Parameter(Shape(xla::F32, {2, 2}), "b"));
    EXPECT_THAT(b.Build(value), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("einsum")));
  }
}

TEST(BuilderTest, AnnotationsAreSpelledAsCompilersDo) {
  Builder b("annotations", 8);
  const Shape shape(xla::F32, {16, 4, 12});
  const auto parameter = [&] { return b.Parameter(shape, "x"); };
  EXPECT_EQ(ShardingOf(b.Replicate(parameter())), "{replicated}");
  EXPECT_EQ(ShardingOf(b.Split(parameter(), 0, 8)), "{devices=[8,1,1]<=[8]}");
  // Part i on devices i, i + 2, ..
  EXPECT_EQ(ShardingOf(b.Split(parameter(), 1, 2)),
            "{devices=[1,2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}");
  EXPECT_EQ(ShardingOf(b.Split(parameter(), 1, 1)), "{replicated}");
  EXPECT_EQ(ShardingOf(b.Shard(parameter(), DeviceAssignment{{2, 1, 4}, {0, 1, 2, 3, 7, 6, 5, 4}})),
            "{devices=[2,1,4]0,1,2,3,7,6,5,4}");
  b.SetMesh({{{"x", 2}, {"y", 4}}});
  EXPECT_EQ(ShardingOf(b.Shard(parameter(), {"x", {}, "y"})), "{devices=[2,1,4]<=[8]}");
  EXPECT_EQ(ShardingOf(b.Shard(parameter(), {"y", {}, "x"})), "{devices=[4,1,2]<=[2,4]T(1,0)}");
  EXPECT_EQ(ShardingOf(b.Shard(parameter(), {{"x", "y"}, {}, {}})), "{devices=[8,1,1]<=[8]}");
  EXPECT_EQ(ShardingOf(b.Shard(parameter(), {"y", {}, {}})),
            "{devices=[4,1,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}");
  EXPECT_EQ(ShardingOf(b.Shard(parameter(), {{}, {}, {}})), "{replicated}");
  // Values other than parameters pass through a custom call.
  Value x = b.Negate(parameter());
  Value split = b.Split(x, 0, 8);
  EXPECT_EQ(split->opcode(), Opcode::kCustomCall);
  EXPECT_EQ(split->custom_call_target(), "Sharding");
  EXPECT_EQ(split->shape(), x->shape());
  EXPECT_OK(b.status());
}

TEST(BuilderTest, ManualModeShrinksAndGrowsShapes) {
  Builder b("manual", 8);
  Value x = b.Split(b.Parameter(Shape(xla::F32, {16, 4}), "x"), 0, 4);
  Value local = b.AutoToManual(x);
  EXPECT_EQ(local->shape().ToString(), "f32[4,4]");
  EXPECT_EQ(ShardingOf(local), "{manual}");
  Value full = b.ManualToAuto(b.Negate(local), {16, 4});
  EXPECT_EQ(full->shape().ToString(), "f32[16,4]");
  EXPECT_EQ(ShardingOf(full), ShardingOf(x));
  EXPECT_EQ(full->custom_call_target(), "SPMDShardToFullShape");
  ASSERT_OK_AND_ASSIGN(const auto module, b.Build(full));
  EXPECT_OK(VerifyModule(*module));
}

TEST(BuilderTest, TheFirstErrorIsKeptWithItsScope) {
  Builder b("errors", 8);
  Value x = b.Parameter(Shape(xla::F32, {16, 4}), "x");
  Value y = x;
  {
    Builder::Scope scope(&b, "layer");
    y = b.Add(x, b.Transpose(x, {1, 0}));
    y = b.Split(y, 5, 3);
  }
  EXPECT_THAT(b.Build(y), StatusIs(absl::StatusCode::kInvalidArgument,
                                   ::testing::AllOf(HasSubstr("layer ("), HasSubstr("builder_test.cc:"),
                                                    HasSubstr("add: operands"), HasSubstr("(C3)"))));
}

TEST(BuilderTest, BadAnnotationsAreErrors) {
  const auto error = [](const auto& annotate) {
    Builder b("errors", 8);
    Value x = b.Parameter(Shape(xla::F32, {16, 4}), "x");
    return b.Build(annotate(b, x)).status();
  };
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(error([](Builder& b, Value x) { return b.Split(x, 0, 3); }),
              StatusIs(kInvalid, HasSubstr("3 parts")));
  EXPECT_THAT(error([](Builder& b, Value x) { return b.Split(x, 2, 2); }), StatusIs(kInvalid));
  EXPECT_THAT(error([](Builder& b, Value x) {
                return b.Shard(x, {"x", {}});
              }),
              StatusIs(kInvalid, HasSubstr("axis x")));
  EXPECT_THAT(error([](Builder& b, Value x) {
                return b.Shard(x, DeviceAssignment{{2, 4}, {0, 1, 2}});
              }),
              StatusIs(kInvalid));
  EXPECT_THAT(error([](Builder& b, Value x) { return b.AutoToManual(x); }), StatusIs(kInvalid));
  EXPECT_THAT(error([](Builder& b, Value x) {
                b.SetMesh({{{"x", 3}}});
                return x;
              }),
              StatusIs(kInvalid, HasSubstr("a mesh of 3")));
}

TEST(BuilderTest, NamesAndLinesComeFromScopes) {
  Builder b("scopes");
  Value x = b.Parameter(Shape(xla::F32, {2}), "x");
  Builder::Scope outer(&b, "encoder");
  Builder::Scope inner(&b, "layer_0");
  Value y = b.Negate(x);
  ASSERT_NE(y->metadata(), nullptr);
  EXPECT_EQ(y->metadata()->op_name(), "encoder/layer_0");
  EXPECT_THAT(y->metadata()->source_file(), HasSubstr("builder_test.cc"));
}

TEST(NeutralElementTest, DependsOnOpAndType) {
  const auto print = [](Opcode opcode, PrimitiveType type) {
    const std::optional<Literal> literal = NeutralElement(opcode, type);
    if (!literal) return std::string("none");
    Module module("m");
    return PrintInstruction(*module.AddComputation("c")->AddConstant(*literal, "e"));
  };
  EXPECT_THAT(print(Opcode::kAdd, xla::F32), HasSubstr("constant(0)"));
  EXPECT_THAT(print(Opcode::kMultiply, xla::S8), HasSubstr("constant(1)"));
  EXPECT_THAT(print(Opcode::kMaximum, xla::F32), HasSubstr("constant(-inf)"));
  EXPECT_THAT(print(Opcode::kMinimum, xla::U16), HasSubstr("constant(65535)"));
  EXPECT_THAT(print(Opcode::kMaximum, xla::S4), HasSubstr("constant(-8)"));
  EXPECT_THAT(print(Opcode::kMaximum, xla::F8E4M3FN), HasSubstr("constant(-448)"));
  EXPECT_THAT(print(Opcode::kMaximum, xla::PRED), HasSubstr("constant(false)"));
  EXPECT_THAT(print(Opcode::kMinimum, xla::PRED), HasSubstr("constant(true)"));
  EXPECT_THAT(print(Opcode::kMinimum, xla::BF16), HasSubstr("constant(inf)"));
  EXPECT_THAT(print(Opcode::kAnd, xla::S32), HasSubstr("constant(-1)"));
  EXPECT_THAT(print(Opcode::kAnd, xla::PRED), HasSubstr("constant(true)"));
  EXPECT_EQ(print(Opcode::kAnd, xla::F32), "none");
  EXPECT_EQ(print(Opcode::kMaximum, xla::C64), "none");
  EXPECT_EQ(print(Opcode::kSubtract, xla::F32), "none");
}

}  // namespace
}  // namespace toroid
