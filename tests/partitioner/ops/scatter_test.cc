#include <string>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::string Scatter(const std::string& opcode, const std::string& index, const std::string& table,
                    const std::string& updates, const std::string& out) {
  return absl::StrCat(
      "f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] ", opcode,
      " }\nENTRY main {\n  x = f32[9,5] parameter(0)", table, "\n  i = ", index, "[7,1] parameter(1)",
      "\n  u = f32[7,5] parameter(2)", updates,
      "\n  ROOT y = f32[9,5] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f",
      out, "\n}\n");
}
const char kRows[] = ", sharding={devices=[$n,1]<=[$n]}";
const char kColumns[] = ", sharding={devices=[1,$n]<=[$n]}";

TEST(ScatterTest, CombinersIntoACutTable) {
  for (const char* opcode : {"add(a, b)", "maximum(a, b)", "minimum(a, b)", "multiply(a, b)"}) {
    for (const char* table : {kRows, kColumns, ""}) {
      for (const char* updates : {kRows, kColumns}) {
        SCOPED_TRACE(absl::StrCat(opcode, table, updates));
        for (const char* index : {"s32", "s64", "u8"}) {
          const PrimitiveType type = *TypeFromName(index);
          ExpectEquivalent(Scatter(opcode, index, table, updates, table),
                           {Integers(Shape(xla::F32, {9, 5})), Integers(Shape(type, {7, 1}), 2, -3, 12),
                            Integers(Shape(xla::F32, {7, 5}), 3, -2, 2)},
                           {2, 3, 7});
        }
      }
    }
  }
}

TEST(ScatterTest, TheLastUpdateOfARowWins) {
  // The computation returns b, the update. Indices are distinct, so the order of updates does not matter.
  const int32_t rows[] = {4, 0, 8, 2, -1, 9, 6};
  ExpectEquivalent(Scatter("copy(b)", "s32", kRows, kRows, kRows),
                   {Integers(Shape(xla::F32, {9, 5})), Literal::Array<int32_t>({7, 1}, rows),
                    Integers(Shape(xla::F32, {7, 5}), 3)});
}

TEST(ScatterTest, CutWindowsMoveNothing) {
  EXPECT_THAT(Collectives(Scatter("add(a, b)", "s32", kColumns, kColumns, kColumns), 5), IsEmpty());
}

TEST(ScatterTest, UnsignedIndicesOfUncutComponentsStayAsTheyAre) {
  ExpectEquivalent(R"(
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
ENTRY main {
  x = f32[2,100] parameter(0), sharding={devices=[$n,1]<=[$n]}
  i = u64[4,2] constant({{0,50},{1,60},{18446744073709551615,3},{1,3}}), sharding={replicated}
  u = f32[4] parameter(1), sharding={replicated}
  ROOT s = f32[2,100] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0,1},
      scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=add, sharding={devices=[$n,1]<=[$n]}
})");
}

// A segment reduction by `opcode` on `type`; the updates are cut.
std::string Segments(const std::string& type, const std::string& opcode, const std::string& table,
                     const std::string& out) {
  return absl::StrCat("f { a = ", type, "[] parameter(0)  b = ", type, "[] parameter(1)  ROOT c = ", type,
                      "[] ", opcode, "(a, b) }\nENTRY main {\n  x = ", type, "[9] parameter(0)", table,
                      "\n  i = s32[45,1] parameter(1), sharding={devices=[$n,1]<=[$n]}\n  u = ", type,
                      "[45] parameter(2), sharding={devices=[$n]<=[$n]}\n  ROOT y = ", type,
                      "[9] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, "
                      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f",
                      out, "\n}\n");
}

TEST(ScatterTest, EveryReducerOverCutUpdates) {
  for (const char* type : {"f32", "s32", "u8", "pred", "bf16"}) {
    for (const char* opcode : {"add", "multiply", "maximum", "minimum", "and", "or"}) {
      const bool bits = *opcode == 'o' || std::string(opcode) == "and";
      if (bits && (*type == 'f' || *type == 'b')) continue;
      if (*type == 'p' && (*opcode == 'm' || std::string(opcode) == "add")) continue;
      for (const char* out : {"", ", sharding={replicated}", ", sharding={devices=[$n]<=[$n]}"}) {
        SCOPED_TRACE(absl::StrCat(type, " ", opcode, out));
        const PrimitiveType element = *TypeFromName(type);
        const int64_t most = std::string(opcode) == "multiply" ? 1 : 3;
        ExpectEquivalent(Segments(type, opcode, out, out),
                         {Integers(Shape(element, {9})), Integers(Shape(xla::S32, {45, 1}), 2, -1, 10),
                          Integers(Shape(element, {45}), 3, -most, most)},
                         {2, 7});
      }
    }
  }
}

TEST(ScatterTest, MaximaOfCutUpdatesAreReducedByMaximum) {
  const std::string text = Segments("f32", "maximum", ", sharding={replicated}", ", sharding={replicated}");
  EXPECT_THAT(Collectives(text, 4), ElementsAre("all-reduce 36"));
}

TEST(ScatterTest, SeveralTablesAtOnceOverCutUpdates) {
  const std::string text = R"(
f { a = f32[] parameter(0)  b = s32[] parameter(1)  c = f32[] parameter(2)  d = s32[] parameter(3)
    p = f32[] maximum(a, c)  q = s32[] maximum(b, d)  ROOT t = (f32[], s32[]) tuple(p, q) }
ENTRY main {
  x = f32[9,5] parameter(0)
  z = s32[9,5] parameter(1)
  i = s32[45,1] parameter(2), sharding={devices=[$n,1]<=[$n]}
  u = f32[45,5] parameter(3), sharding={devices=[$n,1]<=[$n]}
  v = s32[45,5] parameter(4), sharding={devices=[$n,1]<=[$n]}
  ROOT y = (f32[9,5], s32[9,5]) scatter(x, z, i, u, v), update_window_dims={1}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f
})";
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 4), ElementsAre("all-reduce 180", "all-reduce 180"));
}

// A table cut over 4 of 8 devices, and updates cut over all 8.
std::string CutFurther(int64_t rows, int64_t updates, const std::string& opcode) {
  return absl::StrCat("f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] ", opcode,
                      "(a, b) }\nENTRY main {\n  x = f32[", rows,
                      ",4] parameter(0), sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}\n  i = s32[",
                      updates, ",1] parameter(1), sharding={devices=[8,1]<=[8]}\n  u = f32[", updates,
                      ",4] parameter(2), sharding={devices=[8,1]<=[8]}\n  ROOT y = f32[", rows,
                      ",4] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, "
                      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f, "
                      "sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}\n}\n");
}

TEST(ScatterTest, FewUpdatesOfALargeTableAreGathered) {
  const std::string text = CutFurther(1024, 16, "add");
  EXPECT_THAT(Collectives(text, 8), UnorderedElementsAre("all-gather 32", "all-gather 8"));
}

TEST(ScatterTest, ManyUpdatesOfASmallTableAreReduced) {
  // The table is gathered first, and each device applies its updates to it.
  EXPECT_THAT(Collectives(CutFurther(8, 4096, "add"), 8),
              ElementsAre("all-gather 32", "reduce-scatter 128", "all-reduce 32"));
}

// The gradient of a replicated table of 64 rows, from 30 updates. Over 8 devices, gathering the updates sends
// 1.9 kB; reducing partial tables would send 7.2 kB, and gathering columns of the table 3.9 kB.
TEST(ScatterTest, FewUpdatesOfAWholeTableAreGathered) {
  const std::string text = R"(f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[64,16] parameter(0), sharding={replicated}
  i = s32[30,1] parameter(1), sharding={devices=[$n,1]<=[$n]}
  u = f32[30,16] parameter(2), sharding={devices=[$n,1]<=[$n]}
  ROOT y = f32[64,16] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0},
      index_vector_dim=1, to_apply=f, sharding={replicated}
})";
  EXPECT_THAT(Collectives(text, 8), UnorderedElementsAre("all-gather 256", "all-gather 16"));
  ExpectEquivalent(text, {Integers(Shape(xla::F32, {64, 16})), Integers(Shape(xla::S32, {30, 1}), 2, -2, 70),
                          Integers(Shape(xla::F32, {30, 16}), 3)});
}

TEST(ScatterTest, UpdatesCutFurtherThanTheTable) {
  for (const char* opcode : {"add", "multiply", "minimum"}) {
    for (const int64_t rows : {7, 8, 40, 400}) {
      for (const int64_t updates : {16, 45, 300}) {
        SCOPED_TRACE(absl::StrCat(opcode, " ", rows, " ", updates));
        const int64_t most = *opcode == 'm' && opcode[1] == 'u' ? 1 : 4;
        ExpectEquivalent(
            CutFurther(rows, updates, opcode),
            {Integers(Shape(xla::F32, {rows, 4})), Integers(Shape(xla::S32, {updates, 1}), 2, -2, rows + 2),
             Integers(Shape(xla::F32, {updates, 4}), 3, -most, most)},
            {8});
      }
    }
  }
}

// One row of each group: x[b, i[b]] -= u[b], where b comes from an iota.
std::string InGroups(const std::string& counted) {
  return absl::StrCat(R"(
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] subtract(a, b) }
ENTRY main {
  x = f32[9,6,5] parameter(0), sharding={devices=[$n,1,1]<=[$n]}
  i = s32[9,1] parameter(1), sharding={devices=[$n,1]<=[$n]}
  u = f32[9,5] parameter(2), sharding={devices=[$n,1]<=[$n]}
  zero = s32[] constant(0)
  zeros = s32[9] broadcast(zero), dimensions={}
  nine = s32[] constant(9)
  nines = s32[9] broadcast(nine), dimensions={}
  b = s32[9] iota(), iota_dimension=0
)",
                      counted, R"(
  bi = s32[9,2] concatenate(rows, i), dimensions={1}
  ROOT y = f32[9,6,5] scatter(x, bi, u), update_window_dims={1}, inserted_window_dims={0,1},
      scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=f, sharding={devices=[$n,1,1]<=[$n]}
})");
}
const char kPlain[] = "rows = s32[9,1] reshape(b)";
const char kAsJax[] = R"(less = pred[9] compare(b, zeros), direction=LT
  more = s32[9] add(b, nines)
  chosen = s32[9] select(less, more, b)
  rows = s32[9,1] broadcast(chosen), dimensions={0})";

TEST(ScatterTest, AnIndexThatCountsAlongABatchMovesNothing) {
  for (const char* counted : {kPlain, kAsJax}) {
    SCOPED_TRACE(counted);
    ExpectEquivalent(InGroups(counted),
                     {Integers(Shape(xla::F32, {9, 6, 5})), Integers(Shape(xla::S32, {9, 1}), 2, -1, 7),
                      Integers(Shape(xla::F32, {9, 5}), 3)});
    EXPECT_THAT(Collectives(InGroups(counted), 3), IsEmpty());
    EXPECT_THAT(Collectives(InGroups(counted), 4), IsEmpty());
  }
}

TEST(ScatterTest, PartialUpdatesOntoZerosAreReducedBehindASmallTable) {
  const std::string text = R"(
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[45,12] parameter(0), sharding={devices=[1,$n]<=[$n]}
  w = f32[12,5] parameter(1), sharding={devices=[$n,1]<=[$n]}
  i = s32[45,1] parameter(2)
  u = f32[45,5] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[] constant(0)
  zeros = f32[3,5] broadcast(z), dimensions={}
  ROOT y = f32[3,5] scatter(zeros, i, u), update_window_dims={1}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f
})";
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 4), ElementsAre("all-reduce 60"));
}

TEST(ScatterTest, TheGradientOfALargeTableIsNoPartialSumOfItsSize) {
  // The gradient is used twice, once by an op that is not linear. Only updates and indices are gathered.
  const std::string text = R"(
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  t = f32[1048576,128] parameter(0), sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}
  i = s32[4096,1] parameter(1), sharding={devices=[8,1]<=[8]}
  u = f32[4096,128] parameter(2), sharding={devices=[8,1]<=[8]}
  z = f32[] constant(0)
  zeros = f32[1048576,128] broadcast(z), dimensions={}
  g = f32[1048576,128] scatter(zeros, i, u), update_window_dims={1}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
  g2 = f32[1048576,128] multiply(g, g)
  s = f32[1048576,128] subtract(t, g)
  ROOT r = f32[1048576,128] add(s, g2), sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}
})";
  EXPECT_THAT(Collectives(text, 8), UnorderedElementsAre("all-gather 262144", "all-gather 2048"));
}

TEST(ScatterTest, MaximaOfSegmentsSendTheSegments) {
  const std::string text = R"(
mx { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] maximum(a, b) }
ENTRY main {
  i = s32[1048576,1] parameter(0), sharding={devices=[8,1]<=[8]}
  u = f32[1048576] parameter(1), sharding={devices=[8]<=[8]}
  z = f32[] constant(-inf)
  low = f32[1000] broadcast(z), dimensions={}
  ROOT g = f32[1000] scatter(low, i, u), update_window_dims={}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=mx
})";
  EXPECT_THAT(Collectives(text, 8), ElementsAre("all-reduce 4000"));
}

TEST(ScatterTest, PositionsHideBehindAConcatenationAndASelect) {
  for (const char* combine : {"add", "maximum", "multiply"}) {
    SCOPED_TRACE(combine);
    const std::string text = absl::StrCat(
        "f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] ", combine, R"((a, b) }
ENTRY main {
  x = f32[4,9,6] parameter(0), sharding={devices=[1,$n,1]<=[$n]}
  k = s32[9,3] parameter(1), sharding={devices=[$n,1]<=[$n]}
  u = f32[9,3,4] parameter(2), sharding={devices=[$n,1,1]<=[$n]}
  i = s32[9] iota(), iota_dimension=0
  w = s32[9,3,1] broadcast(i), dimensions={0}
  c = s32[9,3,1] reshape(k)
  at = s32[9,3,2] concatenate(c, w), dimensions={2}
  zero = s32[] constant(0)
  low = s32[9,3,2] broadcast(zero), dimensions={}
  neg = pred[9,3,2] compare(at, low), direction=LT
  size = s32[2] constant({6, 9})
  sizes = s32[9,3,2] broadcast(size), dimensions={2}
  moved = s32[9,3,2] add(at, sizes)
  where = s32[9,3,2] select(neg, moved, at)
  ROOT y = f32[4,9,6] scatter(x, where, u), update_window_dims={2}, inserted_window_dims={1,2}, scatter_dims_to_operand_dims={2,1}, index_vector_dim=2, to_apply=f, sharding={devices=[1,$n,1]<=[$n]}
})");
    ExpectEquivalent(text, {Integers(Shape(xla::F32, {4, 9, 6})), Integers(Shape(xla::S32, {9, 3}), 2, -9, 9),
                            Integers(Shape(xla::F32, {9, 3, 4}), 3)});
    for (const int64_t n : {2, 3, 4}) EXPECT_THAT(Collectives(text, n), IsEmpty());
  }
}

}  // namespace
}  // namespace toroid
