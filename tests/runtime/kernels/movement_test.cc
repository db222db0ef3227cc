// BUILD: size = "small"
// Data movement: literal values, and random shapes against index arithmetic.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

TEST(BroadcastTest, PlacesDimensions) {
  EXPECT_EQ(Evaluate("x = s32[2] constant({1, 2}) ROOT y = s32[2,3] broadcast(x), dimensions={0}"),
            "{ { 1, 1, 1 }, { 2, 2, 2 } }");
  EXPECT_EQ(Evaluate("x = s32[2] constant({1, 2}) ROOT y = s32[3,2] broadcast(x), dimensions={1}"),
            "{ { 1, 2 }, { 1, 2 }, { 1, 2 } }");
  EXPECT_EQ(Evaluate("x = pred[] constant(true) ROOT y = pred[2] broadcast(x), dimensions={}"), "{1, 1}");
}

TEST(SliceTest, StartsLimitsAndStrides) {
  EXPECT_EQ(Evaluate("x = s32[7] constant({0, 1, 2, 3, 4, 5, 6}) ROOT y = s32[3] slice(x), slice={[1:6:2]}"),
            "{1, 3, 5}");
  EXPECT_EQ(Evaluate("x = s32[3] constant({0, 1, 2}) ROOT y = s32[0] slice(x), slice={[3:3]}"), "{}");
}

TEST(PadTest, InteriorThenEdges) {
  const std::string x = "x = s32[3] constant({1, 2, 3}) v = s32[] constant(9) ";
  EXPECT_EQ(Evaluate(x + "ROOT y = s32[6] pad(x, v), padding=2_1"), "{9, 9, 1, 2, 3, 9}");
  EXPECT_EQ(Evaluate(x + "ROOT y = s32[6] pad(x, v), padding=1_0_1"), "{9, 1, 9, 2, 9, 3}");
  EXPECT_EQ(Evaluate(x + "ROOT y = s32[1] pad(x, v), padding=-1_-1"), "{2}");
  // Negative padding also removes what interior padding put in: of 1 9 9 2 9 9 3, elements 1 to 4 stay.
  EXPECT_EQ(Evaluate(x + "ROOT y = s32[4] pad(x, v), padding=-1_-2_2"), "{9, 9, 2, 9}");
  EXPECT_EQ(Evaluate(x + "ROOT y = s32[2] pad(x, v), padding=4_-5"), "{9, 9}");
  EXPECT_EQ(Evaluate(x + "ROOT y = s32[2] pad(x, v), padding=-5_4"), "{9, 9}");
  EXPECT_EQ(
      Evaluate("x = s32[0] constant({}) v = s32[] constant(9) ROOT y = s32[3] pad(x, v), padding=1_2_5"),
      "{9, 9, 9}");
}

TEST(ConcatenateTest, AlongEitherDimension) {
  const std::string x = "a = s32[1,2] constant({{1, 2}}) b = s32[1,2] constant({{3, 4}}) ";
  EXPECT_EQ(Evaluate(x + "ROOT y = s32[2,2] concatenate(a, b), dimensions={0}"), "{ { 1, 2 }, { 3, 4 } }");
  EXPECT_EQ(Evaluate(x + "ROOT y = s32[1,4] concatenate(a, b), dimensions={1}"), "{ { 1, 2, 3, 4 } }");
}

TEST(ReverseTest, ListedDimensions) {
  EXPECT_EQ(
      Evaluate("x = s32[2,2] constant({{1, 2}, {3, 4}}) ROOT y = s32[2,2] reverse(x), dimensions={0,1}"),
      "{ { 4, 3 }, { 2, 1 } }");
}

TEST(IotaTest, WrapsInNarrowTypes) {
  EXPECT_EQ(Evaluate("ROOT y = s32[2,3] iota(), iota_dimension=1"), "{ { 0, 1, 2 }, { 0, 1, 2 } }");
  EXPECT_EQ(Evaluate("ROOT y = u2[6] iota(), iota_dimension=0"), "{0, 1, 2, 3, 0, 1}");
  EXPECT_EQ(Evaluate("ROOT y = c64[2] iota(), iota_dimension=0"), "{(0, 0), (1, 0)}");
}

// Large and aligned enough for writes past the caches.
TEST(TransposeTest, LargeMatrices) {
  Literal x(Shape(xla::S32, {1000, 1024}));
  for (int64_t i = 0; i < 1024000; ++i) x.mutable_data<int32_t>()[i] = static_cast<int32_t>(i);
  const auto module =
      MakeModule("x = s32[1000,1024] parameter(0) ROOT y = s32[1024,1000] transpose(x), dimensions={1,0}");
  ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*module, {x}));
  for (int64_t i = 0; i < 1024; ++i) {
    for (int64_t j = 0; j < 1000; ++j) ASSERT_EQ(y.data<int32_t>()[i * 1000 + j], j * 1024 + i);
  }
}

// y[j] = x[i] with j[k] = i[permutation[k]], for elements of every width.
TEST(TransposeTest, RandomPermutations) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const int rank = 1 + static_cast<int>(random() % 5);
    std::vector<int64_t> dims(rank), permutation(rank), result(rank);
    const bool large = round % 10 == 0;
    for (int d = 0; d < rank; ++d) {
      dims[d] = large && rank <= 2 ? 65 + random() % 300 : 1 + random() % (rank <= 3 ? 21 : 7);
      permutation[d] = d;
    }
    std::shuffle(permutation.begin(), permutation.end(), random);
    for (int d = 0; d < rank; ++d) result[d] = dims[permutation[d]];
    for (const PrimitiveType type : {xla::U8, xla::BF16, xla::F32, xla::F64, xla::C128}) {
      Literal x(Shape(type, dims));
      const int64_t width = ByteWidth(type), n = x.shape().NumElements();
      for (int64_t i = 0; i < n * width; ++i) x.mutable_bytes()[i] = static_cast<char>(random());
      const std::string name(TypeName(type));
      const auto module = MakeModule(absl::StrCat(
          "x = ", name, "[", absl::StrJoin(dims, ","), "] parameter(0) ROOT y = ", name, "[",
          absl::StrJoin(result, ","), "] transpose(x), dimensions={", absl::StrJoin(permutation, ","), "}"));
      ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*module, {x}));
      std::vector<int64_t> j(rank, 0);
      for (int64_t k = 0; k < n; ++k) {
        std::vector<int64_t> i(rank);
        for (int d = 0; d < rank; ++d) i[permutation[d]] = j[d];
        int64_t at = 0;
        for (int d = 0; d < rank; ++d) at = at * dims[d] + i[d];
        ASSERT_EQ(std::string(y.bytes() + k * width, width), std::string(x.bytes() + at * width, width))
            << name << " " << absl::StrJoin(dims, ",") << " by " << absl::StrJoin(permutation, ",") << " at "
            << k;
        for (int d = rank - 1; d >= 0; --d) {
          if (++j[d] < result[d]) break;
          j[d] = 0;
        }
      }
    }
  }
}

}  // namespace
}  // namespace toroid
