#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Rows of a table whose rows are cut.
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
  // 300 rows over 2 devices: offsets of 150 fit no s8, indices do.
  ExpectEquivalent(Rows("s8", 300, "", ""), TableAndIndices(xla::S8, 300, -128, 127), {2, 3, 16});
  ExpectEquivalent(Rows("u8", 300, "", ""), TableAndIndices(xla::U8, 300, 0, 255), {2, 3, 16});
}

TEST(GatherTest, WideIndicesKeepTheirWidth) {
  const Literal table = Integers(Shape(xla::F32, {8, 5}));
  const int64_t far[] = {int64_t{1} << 40, -(int64_t{1} << 40), 3, (int64_t{1} << 32) + 1, 7, 0, -1};
  ExpectEquivalent(Rows("s64", 8, "", ""), {table, Literal::Array<int64_t>({7, 1}, far)});
}

TEST(GatherTest, ALookUpInACutTableSendsOnlyTheResult) {
  // Each device looks up what it owns; the masked parts are summed.
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
  // x[b, i[b, k]], b an iota: the index of the batch last, in another type, spread over k.
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

}  // namespace
}  // namespace toroid
