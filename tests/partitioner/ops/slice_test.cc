#include <string>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Slice(int64_t size, int64_t start, int64_t limit, int64_t stride) {
  const int64_t out = (limit - start + stride - 1) / stride;
  return absl::StrCat(
      "ENTRY main {\n  x = f32[", size, "] parameter(0), sharding={devices=[$n]<=[$n]}\n  ROOT y = f32[", out,
      "] slice(x), slice={[", start, ":", limit, ":", stride, "]}, sharding={devices=[$n]<=[$n]}\n}\n");
}

TEST(SliceTest, AnyStartLimitAndStride) {
  for (const int64_t size : {8, 13}) {
    for (const int64_t start : {0, 1, 5}) {
      for (const int64_t limit : {size - 1, size}) {
        for (const int64_t stride : {1, 2, 3}) {
          SCOPED_TRACE(absl::StrCat(size, " [", start, ":", limit, ":", stride, "]"));
          ExpectEquivalent(Slice(size, start, limit, stride), {}, {2, 3, 7});
        }
      }
    }
  }
  ExpectEquivalent(Slice(13, 1, 12, 2));
  ExpectEquivalent(Slice(13, 13, 13, 1));  // An empty result.
  ExpectEquivalent(Slice(1, 0, 1, 1));
}

TEST(SliceTest, ALeadingPartTakesTheRowsThatChangeOwner) {
  // x f32[8] over 2 devices has tiles of 4, y f32[6] has tiles of 3: device 1 holds x[4,8) and needs x[3,6).
  EXPECT_THAT(Collectives(Slice(8, 0, 6, 1), 2), ElementsAre("collective-permute 4"));
}

TEST(SliceTest, ResultsSmallerThanATileComeFromTheirOwnerAlone) {
  const auto first = [](int64_t n, int64_t rows) { return Slice(n, 0, rows, 1); };
  EXPECT_THAT(Collectives(first(512, 4), 4),
              ElementsAre("collective-permute 4", "collective-permute 4", "collective-permute 4"));
  EXPECT_THAT(Collectives(first(4096, 8), 4),
              ElementsAre("collective-permute 8", "collective-permute 8", "collective-permute 8"));
  for (const int64_t n : {64, 65, 1000}) {
    for (const int64_t rows : {1, 3, 8, 17}) {
      SCOPED_TRACE(absl::StrCat(n, " ", rows));
      ExpectEquivalent(first(n, rows));
      ExpectEquivalent(Slice(n, n - rows, n, 1));
      ExpectEquivalent(Slice(n, n / 2 - rows, n / 2 + rows, 2));
    }
  }
}

TEST(SliceTest, AWholeDimensionMovesNothing) {
  EXPECT_THAT(Collectives(R"(ENTRY main {
  x = f32[8,6] parameter(0), sharding={devices=[$n,1]<=[$n]}
  ROOT y = f32[8,3] slice(x), slice={[0:8], [1:4]}, sharding={devices=[$n,1]<=[$n]}
})",
                          4),
              IsEmpty());
}

// Row `row` of x f32[rows,8], which is cut by rows; the result is replicated.
std::string OneRow(int64_t rows, int64_t row) {
  return absl::StrCat("ENTRY main {\n  x = f32[", rows,
                      ",8] parameter(0), sharding={devices=[$n,1]<=[$n]}\n  s = f32[1,8] slice(x), slice={[",
                      row, ":", row + 1,
                      "], [0:8]}\n  ROOT y = f32[8] reshape(s), sharding={replicated}\n}\n");
}

// Element [row, column] of x, which is cut along both dimensions; the result is replicated.
std::string OneElement(int64_t rows, int64_t columns, int64_t row, int64_t column) {
  return absl::StrCat("ENTRY main {\n  x = f32[", rows, ",", columns,
                      "] parameter(0), sharding={devices=[2,2]<=[4]}\n  s = f32[1,1] slice(x), slice={[", row,
                      ":", row + 1, "], [", column, ":", column + 1,
                      "]}\n  ROOT y = f32[] reshape(s), sharding={replicated}\n}\n");
}

TEST(SliceTest, ARowThatAllWantIsASum) {
  for (const int64_t row : {0, 3, 9, 15})
    EXPECT_THAT(Collectives(OneRow(16, row), 4), ElementsAre("all-reduce 32"));
  EXPECT_THAT(Collectives(OneElement(8, 8, 6, 5), 4), ElementsAre("all-reduce 4"));
  // A row that is then cut along the other dimension: a reduce-scatter, of half the bytes.
  EXPECT_THAT(Collectives(R"(ENTRY main {
  x = f32[16,8] parameter(0), sharding={devices=[$n,1]<=[$n]}
  s = f32[1,8] slice(x), slice={[9:10], [0:8]}
  ROOT y = f32[8] reshape(s), sharding={devices=[$n]<=[$n]}
})",
                          4),
              ElementsAre("reduce-scatter 32"));
  for (const int64_t rows : {16, 13}) {
    for (const int64_t row : {int64_t{0}, int64_t{6}, rows - 1}) {
      SCOPED_TRACE(absl::StrCat(row, " of ", rows));
      ExpectEquivalent(OneRow(rows, row));
    }
  }
  for (const int64_t size : {7, 8}) {
    ExpectEquivalent(OneElement(size, 6, 0, 5), {}, {4});
    ExpectEquivalent(OneElement(size, 6, size - 1, 2), {}, {4});
    ExpectEquivalent(OneElement(6, size, 1, size - 1), {}, {4});
  }
}

// Only a few of many devices read any row.
TEST(SliceTest, AFewRowsOfManyTilesAreOnePermute) {
  const std::string text = Slice(4096 * 4, 4096 * 4 - 2, 4096 * 4, 1);
  EXPECT_LE(Collectives(text, 4096).size(), 2);
}

TEST(SliceTest, ARowOfAnyType) {
  for (const char* type : {"pred", "s8", "u32", "bf16", "f64", "c64"}) {
    SCOPED_TRACE(type);
    ExpectEquivalent(absl::StrCat("ENTRY main {\n  x = ", type,
                                  "[13,5] parameter(0), sharding={devices=[$n,1]<=[$n]}\n  s = ", type,
                                  "[1,5] slice(x), slice={[9:10], [0:5]}\n  ROOT y = ", type,
                                  "[5] reshape(s), sharding={replicated}\n}\n"));
  }
}

TEST(SliceTest, ARowOfSomeColumns) {
  ExpectEquivalent(R"(ENTRY main {
  x = f32[13,11] parameter(0), sharding={devices=[2,3]<=[6]}
  a = f32[1,4] slice(x), slice={[8:9], [2:10:2]}
  b = f32[4] reshape(a)
  c = f32[13,1] slice(x), slice={[0:13], [10:11]}
  d = f32[13] reshape(c)
  m = f32[13] tanh(d)
  f = f32[5,1] slice(x), slice={[3:8], [4:5]}
  g = f32[1,5] reshape(f)
  ROOT t = (f32[4], f32[13], f32[1,5]) tuple(b, m, g)
})",
                   {}, {6}, 1e-6);
}

// Rows that are read into tiles are not broadcast: the row put before the array comes from its first tile.
TEST(SliceTest, AFirstRowPutBeforeItsArrayStays) {
  const std::string text = R"(ENTRY main {
  x = f32[15,8] parameter(0), sharding={devices=[$n,1]<=[$n]}
  s = f32[1,8] slice(x), slice={[0:1], [0:8]}
  ROOT y = f32[16,8] concatenate(s, x), dimensions={0}, sharding={devices=[$n,1]<=[$n]}
})";
  EXPECT_THAT(Collectives(text, 4), ElementsAre("collective-permute 32"));
  ExpectEquivalent(text);
}

}  // namespace
}  // namespace toroid
