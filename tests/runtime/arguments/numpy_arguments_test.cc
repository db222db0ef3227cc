// BUILD: size = "small"
// BUILD: data = ["//tests/corpus:numpy"]
// NumPy files as arguments and results: names and order, tuples, types given by the parameters.
#include "runtime/arguments/numpy_arguments.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/arguments/npy.h"
#include "runtime/arguments/npz.h"
#include "tests/corpus_files.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

TEST(NumpyArgumentsTest, ParametersGiveTheTypesThatFilesDoNotName) {
  const auto module = MakeModule("p = bf16[2,2] parameter(0) ROOT n = bf16[2,2] negate(p)");
  const std::string file = ReadCorpusFile("tests/corpus/numpy/bf16.npy");
  ASSERT_OK_AND_ASSIGN(const auto arguments, NumpyArguments(file, *module->entry()));
  ASSERT_EQ(arguments.size(), 1u);
  EXPECT_EQ(ToText(arguments[0]), "{ { 1, 1.5 }, { -2, 0.0078 } }");

  const auto wide = MakeModule("p = f32[2,2] parameter(0) ROOT n = f32[2,2] negate(p)");
  EXPECT_THAT(
      NumpyArguments(file, *wide->entry()),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("parameter p: holds elements of type '<V2', of 2 bytes, which cannot be f32")));
}

TEST(NumpyArgumentsTest, MembersAreMatchedByNameWhereAllCanBe) {
  const Literal one = ParseLiteral("f32[] 1"), two = ParseLiteral("s32[] 2");
  ASSERT_OK_AND_ASSIGN(const std::string file, WriteNpz({one, two}));
  // arr_0 and arr_1 are parameters 0 and 1, whatever the order of their definitions.
  const auto module =
      MakeModule("b = s32[] parameter(1) a = f32[] parameter(0) ROOT t = (f32[], s32[]) tuple(a, b)");
  ASSERT_OK_AND_ASSIGN(const auto arguments, NumpyArguments(file, *module->entry()));
  EXPECT_EQ(arguments[0], one);
  EXPECT_EQ(arguments[1], two);
  // Parameters with these names.
  const auto named =
      MakeModule("arr_1 = f32[] parameter(0) x = s32[] parameter(1) ROOT t = f32[] negate(arr_1)");
  EXPECT_OK(NumpyArguments(file, *named->entry()));
  const auto three = MakeModule("a = f32[] parameter(0) ROOT n = f32[] negate(a)");
  EXPECT_THAT(
      NumpyArguments(file, *three->entry()),
      StatusIs(
          absl::StatusCode::kInvalidArgument,
          HasSubstr("main takes 1 arrays as arguments, got 2; jax.jit drops arguments that are not used")));
}

TEST(NumpyArgumentsTest, ParametersWithoutAnArrayAreNamed) {
  const auto module = MakeModule(
      "a = f32[] parameter(0), metadata={op_name=\"params['a']\"} b = s32[2] parameter(1), "
      "metadata={op_name=\"params['b']\"} c = f32[3] parameter(2) ROOT n = f32[] negate(a)");
  ASSERT_OK_AND_ASSIGN(const std::string one, WriteNpz({ParseLiteral("f32[] 1")}));
  EXPECT_THAT(
      NumpyArguments(one, *module->entry()),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("main takes 3 arrays as arguments, got 1; missing: params['b'] s32[2], c f32[3]")));
}

TEST(NumpyArgumentsTest, ResultsServeAsTupleArguments) {
  const auto module = MakeModule("ROOT p = (f32[2], (bf16[], s4[2])) parameter(0)");
  const Literal tuple =
      Literal::Tuple({ParseLiteral("f32[2] {1, 2}"),
                      Literal::Tuple({ParseLiteral("bf16[] -3"), ParseLiteral("s4[2] {-8, 7}")})});
  ASSERT_OK_AND_ASSIGN(const std::string file, NumpyResult(tuple, "out.npz.gz"));
  ASSERT_OK_AND_ASSIGN(const auto arguments, NumpyArguments(file, *module->entry()));
  ASSERT_EQ(arguments.size(), 1u);
  EXPECT_EQ(arguments[0], tuple);
}

TEST(NumpyArgumentsTest, OneArrayOnlyGoesIntoNpy) {
  EXPECT_TRUE(IsNumpyName("a.npy") && IsNumpyName("a.npz") && IsNumpyName("a.npz.gz"));
  EXPECT_FALSE(IsNumpyName("") || IsNumpyName("a.pb") || IsNumpyName("npz"));
  const Literal one = ParseLiteral("f32[2] {1, 2}");
  EXPECT_THAT(NumpyResult(one, "x.npy"), IsOkAndHolds(WriteNpy(one)));
  EXPECT_THAT(NumpyResult(Literal::Tuple({one}), "x.npy"), IsOkAndHolds(WriteNpy(one)));
  EXPECT_THAT(NumpyResult(Literal::Tuple({one, one}), "x.npy"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("the result has 2 arrays")));
  EXPECT_OK(CheckNumpyResult(Literal::Tuple({one, one}).shape(), "x.pb"));
}

// Values that no parameter takes are not unpacked.
TEST(NumpyArgumentsTest, HeadersAreCheckedBeforeValuesAreUnpacked) {
  const auto module = MakeModule("p = f32[2] parameter(0) ROOT n = f32[2] negate(p)");
  const Literal large(Shape(xla::F32, {100000}));
  ASSERT_OK_AND_ASSIGN(std::string file, WriteNpz({large}));
  // Damage is found when values are unpacked.
  const size_t at = file.size() / 2;
  file[at] ^= 1;
  EXPECT_THAT(ReadNpz(file), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("damaged")));
  EXPECT_THAT(NumpyArguments(file, *module->entry()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("arr_0 for parameter p: holds f32[100000], which does not fit f32[2]")));
  EXPECT_THAT(NumpyArguments(WriteNpy(large), *module->entry()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("parameter p: holds f32[100000], which does not fit f32[2]")));
  const auto integers = MakeModule("p = s32[100000] parameter(0) ROOT n = s32[100000] negate(p)");
  EXPECT_THAT(
      NumpyArguments(file, *integers->entry()),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("arr_0 for parameter p: holds f32 elements, s32 are needed; give the array as "
                         ".astype(numpy.int32)")));
  const auto fits = MakeModule("p = f32[100000] parameter(0) ROOT n = f32[100000] negate(p)");
  EXPECT_THAT(NumpyArguments(file, *fits->entry(), {}, 399999),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("the arguments take 400.0 kB, the limit is 400.0 kB")));
}

TEST(NumpyArgumentsTest, ArgumentsOfPartitionedModulesAreLargerThanTheParameters) {
  const auto shard = MakeModule("p = f32[1] parameter(0) ROOT n = f32[1] negate(p)");
  const std::vector<Shape> global = {Shape(xla::F32, {2})};
  const std::string file = WriteNpy(ParseLiteral("f32[2] {1, 2}"));
  EXPECT_OK(NumpyArguments(file, *shard->entry(), global));
  EXPECT_THAT(
      NumpyArguments(file, *shard->entry()),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("holds f32[2], which does not fit f32[1]")));
}

}  // namespace
}  // namespace toroid
