#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A gather of rows from a table that is cut by rows.
std::string Rows(const std::string& index, int64_t rows, const std::string& indices, const std::string& out) {
  return absl::StrCat(
      "ENTRY main {\n  x = f32[", rows, ",5] parameter(0), sharding={devices=[$n,1]<=[$n]}\n  i = ", index,
      "[7,1] parameter(1)", indices, "\n  ROOT y = f32[7,5] gather(x, i), offset_dims={1}, ",
      "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,5}", out, "\n}\n");
}
const char kCut[] = ", sharding={devices=[$n,1]<=[$n]}";

std::vector<Literal> TableAndIndices(PrimitiveType type, int64_t rows, int64_t low, int64_t high) {
  return {Integers(Shape(xla::F32, {rows, 5})), Integers(Shape(type, {7, 1}), 2, low, high)};
}

TEST(GatherTest, RowsOfACutTableWithIndicesOutOfRange) {
  for (const int64_t rows : {1, 8, 13}) {
    SCOPED_TRACE(rows);
    for (const char* out : {kCut, ", sharding={replicated}"}) {
      ExpectEquivalent(Rows("s32", rows, kCut, out), TableAndIndices(xla::S32, rows, -5, 20));
      ExpectEquivalent(Rows("s64", rows, "", out), TableAndIndices(xla::S64, rows, -5, 20));
      ExpectEquivalent(Rows("u8", rows, "", out), TableAndIndices(xla::U8, rows, 0, 255));
    }
  }
}

TEST(GatherTest, NarrowIndicesOfALongTableDoNotOverflow) {
  // 300 rows over 2 devices: the tile's offset of 150 does not fit in s8, but indices do.
  ExpectEquivalent(Rows("s8", 300, "", ""), TableAndIndices(xla::S8, 300, -128, 127), {2, 3, 16});
  ExpectEquivalent(Rows("u8", 300, "", ""), TableAndIndices(xla::U8, 300, 0, 255), {2, 3, 16});
}

TEST(GatherTest, WideIndicesKeepTheirWidth) {
  const Literal table = Integers(Shape(xla::F32, {8, 5}));
  const int64_t far[] = {int64_t{1} << 40, -(int64_t{1} << 40), 3, (int64_t{1} << 32) + 1, 7, 0, -1};
  ExpectEquivalent(Rows("s64", 8, "", ""), {table, Literal::Array<int64_t>({7, 1}, far)});
}

TEST(GatherTest, ALookUpInACutTableSendsOnlyTheResult) {
  // Each device looks up the rows it holds; the masked results are summed.
  EXPECT_THAT(Collectives(Rows("s32", 64, ", sharding={replicated}", ", sharding={replicated}"), 4),
              ElementsAre("all-reduce 140"));
}

TEST(GatherTest, CutOffsetAndBatchDimensionsMoveNothing) {
  const std::string text = R"(ENTRY main {
  x = f32[8,6] parameter(0), sharding={devices=[1,$n]<=[$n]}
  i = s32[7,1] parameter(1), sharding={replicated}
  ROOT y = f32[7,6] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}, sharding={devices=[1,$n]<=[$n]}
})";
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 3), IsEmpty());
}

TEST(GatherTest, WindowsOfSeveralRows) {
  for (const char* split : {"[$n,1]", "[1,$n]"}) {
    SCOPED_TRACE(split);
    ExpectEquivalent(
        absl::StrCat("ENTRY main {\n  x = f32[9,6] parameter(0), sharding={devices=", split, R"(<=[$n]}
  i = s32[4,2] parameter(1)
  ROOT y = f32[4,3,2] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={3,2}
})"));
  }
}

TEST(GatherTest, PartialMaximaAreNotSummed) {
  ExpectEquivalent(R"(
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] maximum(a, b) }
ENTRY main {
  x = f32[64,8] parameter(0), sharding={devices=[2,2]<=[4]}
  k = s32[2] parameter(1), sharding={replicated}
  i = f32[] constant(-inf)
  m = f32[64] reduce(x, i), dimensions={1}, to_apply=f
  ROOT s = f32[2] gather(m, k), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
      slice_sizes={1}, sharding={replicated}
})",
                   {}, {4});
}

TEST(GatherTest, UnsignedIndicesBeyondTwoToThe63MeanTheEnd) {
  ExpectEquivalent(R"(ENTRY main {
  x = f32[4,4] parameter(0), sharding={devices=[$n,1]<=[$n]}
  i = u64[3,2] constant({{1,9223372036854775813},{18446744073709551615,2},{3,2}})
  ROOT s = f32[3] gather(x, i), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1,
      slice_sizes={1,1}, sharding={replicated}
})");
}

TEST(GatherTest, AnIndexThatCountsAlongABatchMovesNothing) {
  // x[b, i[b, k]] where b is an iota: the batch index is the second component, of another type, and broadcast
  // over k.
  const std::string text = R"(ENTRY main {
  x = f32[6,9,5] parameter(0), sharding={devices=[1,$n,1]<=[$n]}
  i = u32[9,4,1] parameter(1), sharding={devices=[$n,1,1]<=[$n]}
  b = s32[9] iota(), iota_dimension=0
  wide = s32[9,4,1] broadcast(b), dimensions={0}
  rows = u32[9,4,1] convert(wide)
  ib = u32[9,4,2] concatenate(i, rows), dimensions={2}
  ROOT y = f32[9,4,5] gather(x, ib), offset_dims={2}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=2, slice_sizes={1,1,5}, sharding={devices=[$n,1,1]<=[$n]}
})";
  ExpectEquivalent(text,
                   {Integers(Shape(xla::F32, {6, 9, 5})), Integers(Shape(xla::U32, {9, 4, 1}), 2, 0, 8)});
  EXPECT_THAT(Collectives(text, 4), IsEmpty());
  EXPECT_THAT(Collectives(text, 3), IsEmpty());
}

TEST(GatherTest, AnIndexThatCountsFewerRowsThanThereAreIsAnIndex) {
  const std::string text = R"(ENTRY main {
  x = f32[12,5] parameter(0), sharding={devices=[$n,1]<=[$n]}
  b = s32[9,1] iota(), iota_dimension=0
  ROOT y = f32[9,5] gather(x, b), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,5}, sharding={devices=[$n,1]<=[$n]}
})";
  ExpectEquivalent(text);
}

// PyTorch/XLA lowers torch.gather like this: an iota for each batch dimension, and a select for negative
// indices at the end.
TEST(GatherTest, PositionsHideBehindAConcatenationAndASelect) {
  const std::string text = R"(ENTRY main {
  x = f32[9,4,6] parameter(0), sharding={devices=[$n,1,1]<=[$n]}
  k = s64[9,4,3] parameter(1), sharding={devices=[$n,1,1]<=[$n]}
  i = s64[9,4,3,1] iota(), iota_dimension=0
  j = s64[9,4,3,1] iota(), iota_dimension=1
  c = s64[9,4,3,1] reshape(k)
  at = s64[9,4,3,3] concatenate(i, j, c), dimensions={3}
  zero = s64[] constant(0)
  low = s64[9,4,3,3] broadcast(zero), dimensions={}
  neg = pred[9,4,3,3] compare(at, low), direction=LT
  size = s64[3] constant({9, 4, 6})
  sizes = s64[9,4,3,3] broadcast(size), dimensions={3}
  moved = s64[9,4,3,3] add(at, sizes)
  where = s64[9,4,3,3] select(neg, moved, at)
  ROOT y = f32[9,4,3] gather(x, where), offset_dims={}, collapsed_slice_dims={0,1,2}, start_index_map={0,1,2}, index_vector_dim=3, slice_sizes={1,1,1}, sharding={devices=[$n,1,1]<=[$n]}
})";
  const std::vector<Literal> arguments = {Integers(Shape(xla::F32, {9, 4, 6})),
                                          Integers(Shape(xla::S64, {9, 4, 3}), 2, -9, 9)};
  ExpectEquivalent(text, arguments);
  for (const int64_t n : {2, 3, 4}) EXPECT_THAT(Collectives(text, n), IsEmpty());
}

// As from tf.gather with batch_dims, torch.index_select and NumPy indices: the batch positions are a
// constant, or are clamped, sliced, reshaped or transposed.
TEST(GatherTest, PositionsAreSeenThroughWhatDoesNotChangeThem) {
  for (
      const char* rows : {
          "c = s32[8] constant({0,1,2,3,4,5,6,7})\n  r = s32[8,3,1] broadcast(c), dimensions={0}",
          "c = s32[] constant(0)\n  d = s32[] constant(7)\n  e = s32[8,3,1] iota(), iota_dimension=0\n"
          "  f = s32[8,3,1] broadcast(c), dimensions={}\n  g = s32[8,3,1] broadcast(d), dimensions={}\n"
          "  r = s32[8,3,1] clamp(f, e, g)",
          "c = s64[3,10] iota(), iota_dimension=1\n  d = s64[3,8] slice(c), slice={[0:3], [1:9]}\n"
          "  e = s64[] constant(-1)\n  f = s64[3,8] broadcast(e), dimensions={}\n  g = s64[3,8] add(d, f)\n"
          "  h = s64[8,3] transpose(g), dimensions={1,0}\n  q = s64[8,3,1] reshape(h)\n  r = s32[8,3,1] convert(q)",
          "c = f32[8] iota(), iota_dimension=0\n  d = u8[8] convert(c)\n  e = s32[8] convert(d)\n"
          "  f = s32[8,1,3] broadcast(e), dimensions={0}\n  r = s32[8,3,1] reshape(f)",
          "c = s32[8] iota(), iota_dimension=0\n  d = s32[] constant(8)\n  e = s32[8] broadcast(d), dimensions={}\n"
          "  f = s32[8] remainder(c, e)\n  g = s32[] constant(0)\n  h = s32[8] broadcast(g), dimensions={}\n"
          "  p = s32[8] maximum(f, h)\n  r = s32[8,3,1] broadcast(p), dimensions={0}",
      }) {
    SCOPED_TRACE(rows);
    const std::string text = absl::StrCat(R"(ENTRY main {
  x = f32[8,5,2] parameter(0), sharding={devices=[$n,1,1]<=[$n]}
  i = s32[8,3,1] parameter(1), sharding={devices=[$n,1,1]<=[$n]}
  )",
                                          rows, R"(
  ir = s32[8,3,2] concatenate(i, r), dimensions={2}
  ROOT y = f32[8,3,2] gather(x, ir), offset_dims={2}, collapsed_slice_dims={0,1}, start_index_map={1,0}, index_vector_dim=2, slice_sizes={1,1,2}, sharding={devices=[$n,1,1]<=[$n]}
})");
    ExpectEquivalent(text,
                     {Integers(Shape(xla::F32, {8, 5, 2})), Integers(Shape(xla::S32, {8, 3, 1}), 2, -3, 7)});
    EXPECT_THAT(Collectives(text, 4), IsEmpty());
    EXPECT_THAT(Collectives(text, 3), IsEmpty());
  }
}

// These clamps, overflows, reversals and shifts change the positions.
TEST(GatherTest, WhatIsNearlyAPositionIsAnIndex) {
  for (
      const char* rows : {
          "c = s32[] constant(0)\n  d = s32[] constant(6)\n  e = s32[8] iota(), iota_dimension=0\n  r = s32[8] clamp(c, e, d)",
          "c = s32[8] iota(), iota_dimension=0\n  r = s32[8] reverse(c), dimensions={0}",
          "c = s32[9] iota(), iota_dimension=0\n  r = s32[8] slice(c), slice={[1:9]}",
          "c = s32[15] iota(), iota_dimension=0\n  r = s32[8] slice(c), slice={[0:15:2]}",
          "c = s32[8] iota(), iota_dimension=0\n  d = s32[] constant(4)\n  e = s32[8] broadcast(d), dimensions={}\n"
          "  r = s32[8] remainder(c, e)",
          "r = s32[8] constant({0,1,2,3,4,5,7,6})",
          "c = s32[8] iota(), iota_dimension=0\n  d = s32[] constant(3)\n  e = s32[8] broadcast(d), dimensions={}\n"
          "  f = pred[8] compare(c, e), direction=LT\n  g = s32[8] add(c, e)\n  r = s32[8] select(f, g, c)",
          "c = s32[4] iota(), iota_dimension=0\n  r = s32[8] concatenate(c, c), dimensions={0}",
      }) {
    SCOPED_TRACE(rows);
    ExpectEquivalent(absl::StrCat(R"(ENTRY main {
  x = f32[8,5] parameter(0), sharding={devices=[$n,1]<=[$n]}
  i = s32[8,1] parameter(1), sharding={devices=[$n,1]<=[$n]}
  )",
                                  rows, R"(
  v = s32[8,1] reshape(r)
  ri = s32[8,2] concatenate(v, i), dimensions={1}
  ROOT y = f32[8] gather(x, ri), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1}
})"),
                     {Integers(Shape(xla::F32, {8, 5})), Integers(Shape(xla::S32, {8, 1}), 2, -3, 7)});
  }
}

}  // namespace
}  // namespace toroid
