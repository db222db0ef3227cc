#include <string>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::IsEmpty;

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
  // b: replaces. Distinct indices, so that the order of updates does not matter.
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

}  // namespace
}  // namespace toroid
