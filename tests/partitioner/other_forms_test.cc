// BUILD: size = "small"
// Programs that are partitioned in another form: without reshapes that merge cut dimensions, or with
// reversals delayed. Values are equal for every number and order of devices, and bytes are as expected.
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/partitioner/equivalence.h"

namespace toroid {
namespace {

// Group norm: sums over rows, columns and the features of a group, on the merged shape [2, rows * cols, 2, 4]
// that most libraries use.
std::string GroupNorm(int64_t rows, int64_t cols) {
  const std::string image = absl::StrCat("f32[2,", rows, ",", cols, ",8]"),
                    merged = absl::StrCat("f32[2,", rows * cols, ",2,4]");
  return absl::StrCat(R"(
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY main {
  x = )",
                      image, R"( parameter(0), sharding={devices=[1,1,$n,1]<=[$n]}
  z = f32[] constant(0)
  y = )",
                      merged, R"( reshape(x)
  s = f32[2,2] reduce(y, z), dimensions={1,3}, to_apply=add
  b = )",
                      merged, R"( broadcast(s), dimensions={0,2}
  d = )",
                      merged, R"( subtract(y, b)
  ROOT r = )",
                      image, R"( reshape(d), sharding={devices=[1,1,$n,1]<=[$n]}
})");
}

TEST(OtherFormsTest, GroupNorm) {
  for (const int64_t cols : {16, 13, 5}) ExpectEquivalent(GroupNorm(6, cols));
  EXPECT_EQ(SentBytes(GroupNorm(6, 16), 4), 2 * 4 * 4 * 3 / 4);  // An all-reduce of four sums.
}

// The pixels of images are tokens. One product takes every token, another one takes all tokens of an image.
TEST(OtherFormsTest, Products) {
  const auto tokens = [](int64_t cols) {
    return absl::StrCat(R"(ENTRY main {
  x = f32[3,4,)",
                        cols, R"(,5] parameter(0), sharding={devices=[1,1,$n,1]<=[$n]}
  w = f32[5,7] parameter(1), sharding={replicated}
  y = f32[3,)",
                        4 * cols, R"(,5] reshape(x)
  d = f32[3,)",
                        4 * cols, R"(,7] dot(y, w), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  ROOT r = f32[3,4,)",
                        cols, R"(,7] reshape(d), sharding={devices=[1,1,$n,1]<=[$n]}
})");
  };
  const auto image = [](int64_t cols) {
    return absl::StrCat(R"(ENTRY main {
  x = f32[3,4,)",
                        cols, R"(] parameter(0), sharding={devices=[1,1,$n]<=[$n]}
  w = f32[)",
                        4 * cols, R"(,2] parameter(1), sharding={replicated}
  y = f32[3,)",
                        4 * cols, R"(] reshape(x)
  ROOT d = f32[3,2] dot(y, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={replicated}
})");
  };
  for (const int64_t cols : {16, 13, 5}) {
    ExpectEquivalent(tokens(cols));
    ExpectEquivalent(image(cols));
  }
  EXPECT_EQ(SentBytes(tokens(16), 4), 0);
  EXPECT_EQ(SentBytes(image(16), 4), 2 * 3 * 2 * 4 * 3 / 4);  // An all-reduce of f32[3,2].
}

// One convolution of an image and of its mirror image: only rows at the borders of tiles are exchanged.
TEST(OtherFormsTest, MirrorImages) {
  const auto program = [](int64_t cols) {
    const std::string image = absl::StrCat("f32[2,3,", cols, ",4]");
    return absl::StrCat(
        "ENTRY main {\n  x = ", image, R"( parameter(0), sharding={devices=[1,1,$n,1]<=[$n]}
  w = f32[3,3,4,4] parameter(1), sharding={replicated}
  a = )",
        image, R"( convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  r = )",
        image, R"( reverse(x), dimensions={2}
  b = )",
        image, R"( convolution(r, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  f = )",
        image, R"( reverse(b), dimensions={2}
  ROOT s = )",
        image, R"( add(a, f), sharding={devices=[1,1,$n,1]<=[$n]}
})");
  };
  for (const int64_t cols : {16, 13, 5}) ExpectEquivalent(program(cols));
  EXPECT_EQ(SentBytes(program(16), 4), 2 * (2 * 3 * 4) * 4);
}

}  // namespace
}  // namespace toroid
