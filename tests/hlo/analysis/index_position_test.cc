// BUILD: size = "small"
// Batch dimensions in the indices of gathers, as JAX, PyTorch and TensorFlow write them.
#include "hlo/analysis/index_position.h"

#include <optional>
#include <string>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/partitioner/equivalence.h"
#include "tests/runtime/evaluate.h"

namespace toroid {
namespace {

using ::testing::IsEmpty;

// The root is s32[6,4,2], whose vectors lie along dimension 2; rows of dimension 0 are looked for in component `k`.
std::optional<int> Counted(const std::string& body, int k = 0, int64_t size = 6) {
  const auto module = MakeModule(
      "i = s32[6,4,1] iota(), iota_dimension=0 j = s32[6,4,1] iota(), iota_dimension=1 p = s32[6,4,1] parameter(0) "
      "zero = s32[] constant(0) zeros = s32[6,4,1] broadcast(zero), dimensions={} n = s32[] constant(6) "
      "ns = s32[6,4,1] broadcast(n), dimensions={} " +
      body);
  return PositionDim(*module->entry()->root(), 2, k, size);
}

TEST(IndexPositionTest, ConcatenationsInAnyOrder) {
  EXPECT_EQ(Counted("ROOT r = s32[6,4,2] concatenate(i, p), dimensions={2}"), 0);
  EXPECT_EQ(Counted("ROOT r = s32[6,4,2] concatenate(p, i), dimensions={2}", 1), 0);
  EXPECT_EQ(Counted("ROOT r = s32[6,4,2] concatenate(p, i), dimensions={2}", 0), std::nullopt);
  EXPECT_EQ(Counted("ROOT r = s32[6,4,2] concatenate(j, p), dimensions={2}", 0, 4), 1);
  EXPECT_EQ(Counted("ROOT r = s32[6,4,2] concatenate(i, p), dimensions={2}", 0, 7), std::nullopt);
}

TEST(IndexPositionTest, NegativeIndicesMovedUp) {
  const std::string moved = "m = s32[6,4,1] add(i, ns) ";
  const auto select = [&](const std::string& comparison, const std::string& branches) {
    return Counted(moved + "c = pred[6,4,1] " + comparison + " s = s32[6,4,1] select(c, " + branches +
                   ") ROOT r = s32[6,4,2] concatenate(s, p), dimensions={2}");
  };
  EXPECT_EQ(select("compare(i, zeros), direction=LT", "m, i"), 0);
  EXPECT_EQ(select("compare(zeros, i), direction=GT", "m, i"), 0);
  EXPECT_EQ(select("compare(i, zeros), direction=GE", "i, m"), 0);
  EXPECT_EQ(select("compare(i, zeros), direction=GE", "m, i"), std::nullopt);
  EXPECT_EQ(select("compare(i, zeros), direction=GT", "i, m"), std::nullopt);
  EXPECT_EQ(select("compare(p, zeros), direction=LT", "m, i"), std::nullopt);
}

TEST(IndexPositionTest, NegativeIndicesOfAllComponentsAtOnce) {
  const std::string body =
      "at = s32[6,4,2] concatenate(i, p), dimensions={2} low = s32[6,4,2] broadcast(zero), dimensions={} "
      "c = pred[6,4,2] compare(at, low), direction=LT size = s32[2] constant({6, 9}) "
      "sizes = s32[6,4,2] broadcast(size), dimensions={2} m = s32[6,4,2] add(at, sizes) "
      "ROOT r = s32[6,4,2] select(c, m, at)";
  EXPECT_EQ(Counted(body, 0), 0);
  EXPECT_EQ(Counted(body, 1), std::nullopt);
}

TEST(IndexPositionTest, BoundsThatHoldAnyway) {
  const auto bounded = [](const std::string& op) {
    return Counted(
        "five = s32[] constant(5) f = s32[6,4,1] broadcast(five), dimensions={} four = s32[] constant(4) "
        "o = s32[6,4,1] broadcast(four), dimensions={} s = s32[6,4,1] " +
        op + " ROOT r = s32[6,4,2] concatenate(s, p), dimensions={2}");
  };
  EXPECT_EQ(bounded("clamp(zeros, i, f)"), 0);
  EXPECT_EQ(bounded("clamp(zeros, i, o)"), std::nullopt);
  EXPECT_EQ(bounded("clamp(f, i, f)"), std::nullopt);
  EXPECT_EQ(bounded("maximum(zeros, i)"), 0);
  EXPECT_EQ(bounded("maximum(i, f)"), std::nullopt);
  EXPECT_EQ(bounded("minimum(i, f)"), 0);
  EXPECT_EQ(bounded("minimum(i, o)"), std::nullopt);
  EXPECT_EQ(bounded("remainder(i, ns)"), 0);
  EXPECT_EQ(bounded("remainder(i, f)"), std::nullopt);
  EXPECT_EQ(bounded("add(zeros, i)"), 0);
  EXPECT_EQ(bounded("add(i, f)"), std::nullopt);
  EXPECT_EQ(bounded("subtract(i, zeros)"), 0);
  EXPECT_EQ(bounded("subtract(zeros, i)"), std::nullopt);
}

TEST(IndexPositionTest, MovementsBetweenTheIotaAndItsUse) {
  EXPECT_EQ(
      Counted(
          "a = s32[6] iota(), iota_dimension=0 b = s32[6,1,1] reshape(a) c = s32[6] reshape(b) "
          "d = s32[6,4,1] broadcast(c), dimensions={0} ROOT r = s32[6,4,2] concatenate(d, p), dimensions={2}"),
      0);
  EXPECT_EQ(Counted("a = s64[4,6] iota(), iota_dimension=1 t = s64[6,4] transpose(a), dimensions={1,0} "
                    "c = s32[6,4] convert(t) d = s32[6,4,1] reshape(c) "
                    "ROOT r = s32[6,4,2] concatenate(d, p), dimensions={2}"),
            0);
  EXPECT_EQ(Counted("w = s32[6,4,3] concatenate(p, i, p), dimensions={2} "
                    "ROOT r = s32[6,4,2] slice(w), slice={[0:6], [0:4], [1:3]}"),
            0);
  EXPECT_EQ(
      Counted("a = s32[7,4,1] iota(), iota_dimension=0 s = s32[6,4,1] slice(a), slice={[1:7], [0:4], [0:1]} "
              "ROOT r = s32[6,4,2] concatenate(s, p), dimensions={2}"),
      std::nullopt);
}

// PyTorch's gather along the last dimension, and its gradient: batch dimensions are iotas that are concatenated to the
// indices, and negative indices of all components are moved up at once.
constexpr char kTorchGather[] = R"(
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[$m,5,64] parameter(0), sharding={devices=[$n,1,1]<=[$n]}
  k = s32[$m,5,3] parameter(1), sharding={devices=[$n,1,1]<=[$n]}
  u = f32[$m,5,3] parameter(2), sharding={devices=[$n,1,1]<=[$n]}
  i = s32[$m,5,3,1] iota(), iota_dimension=0
  j = s32[$m,5,3,1] iota(), iota_dimension=1
  c = s32[$m,5,3,1] reshape(k)
  at = s32[$m,5,3,3] concatenate(i, j, c), dimensions={3}
  zero = s32[] constant(0)
  low = s32[$m,5,3,3] broadcast(zero), dimensions={}
  neg = pred[$m,5,3,3] compare(at, low), direction=LT
  size = s32[3] constant({$m, 5, 64})
  sizes = s32[$m,5,3,3] broadcast(size), dimensions={3}
  moved = s32[$m,5,3,3] add(at, sizes)
  where = s32[$m,5,3,3] select(neg, moved, at)
  g = f32[$m,5,3] gather(x, where), offset_dims={}, collapsed_slice_dims={0,1,2}, start_index_map={0,1,2}, index_vector_dim=3, slice_sizes={1,1,1}
  s = f32[$m,5,64] scatter(x, where, u), update_window_dims={}, inserted_window_dims={0,1,2}, scatter_dims_to_operand_dims={0,1,2}, index_vector_dim=3, to_apply=add
  ROOT t = (f32[$m,5,3], f32[$m,5,64]) tuple(g, s), sharding={{devices=[$n,1,1]<=[$n]}, {devices=[$n,1,1]<=[$n]}}
})";

TEST(IndexPositionTest, GathersAndScattersOfPyTorchSendNothing) {
  for (const char* rows : {"12", "13"}) {
    const std::string text = absl::StrReplaceAll(kTorchGather, {{"$m", rows}});
    EXPECT_THAT(Collectives(text, 4), IsEmpty()) << rows;
    ExpectEquivalent(text);
  }
}

}  // namespace
}  // namespace toroid
