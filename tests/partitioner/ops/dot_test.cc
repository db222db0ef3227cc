#include <string>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Dot(const std::string& lhs, const std::string& rhs, const std::string& out,
                const std::string& type = "f32", const std::string& shape = "5") {
  return absl::StrCat("ENTRY main {\n  a = ", type, "[", shape, ",6,7] parameter(0)", lhs, "\n  b = ", type,
                      "[", shape, ",7,9] parameter(1)", rhs, "\n  ROOT c = ", type, "[", shape,
                      ",6,9] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
                      "rhs_contracting_dims={1}",
                      out, "\n}\n");
}
const char kCut0[] = ", sharding={devices=[$n,1,1]<=[$n]}";
const char kCut1[] = ", sharding={devices=[1,$n,1]<=[$n]}";
const char kCut2[] = ", sharding={devices=[1,1,$n]<=[$n]}";
const char kWhole[] = ", sharding={replicated}";

TEST(DotTest, EveryDimensionCutOnEverySide) {
  for (const char* lhs : {kCut0, kCut1, kCut2, kWhole}) {
    for (const char* rhs : {kCut0, kCut1, kCut2, kWhole}) {
      for (const char* out : {kCut0, kCut1, kCut2, kWhole, ""}) {
        SCOPED_TRACE(absl::StrCat(lhs, rhs, out));
        ExpectEquivalent(Dot(lhs, rhs, out), {}, {2, 3});
      }
    }
  }
}

TEST(DotTest, BatchFreeAndContractingOnManyDevices) {
  ExpectEquivalent(Dot(kCut0, kCut0, kCut0));
  ExpectEquivalent(Dot(kCut1, kWhole, kCut1));
  ExpectEquivalent(Dot(kWhole, kCut2, kCut2));
  // A contracting dimension of 7 over 2, 3 and 16 devices: the padding of both operands must be masked, or 0
  // * NaN would show.
  ExpectEquivalent(Dot(kCut2, kCut1, kWhole));
  ExpectEquivalent(Dot(kCut2, kCut1, kCut1));
  for (const char* type : {"s32", "u8", "f64", "c64", "bf16"})
    ExpectEquivalent(Dot(kCut2, kCut1, kWhole, type));
}

TEST(DotTest, BatchAndFreeDimensionsMoveNothing) {
  EXPECT_THAT(Collectives(Dot(kCut0, kCut0, kCut0, "f32", "8"), 4), IsEmpty());
  EXPECT_THAT(Collectives(Dot(kCut1, kWhole, kCut1), 2), IsEmpty());
  EXPECT_THAT(Collectives(Dot(kWhole, kCut2, kCut2), 3), IsEmpty());
}

TEST(DotTest, AContractingDimensionIsReducedOnce) {
  EXPECT_THAT(Collectives(Dot(kCut2, kCut1, kWhole, "f32", "1"), 7), ElementsAre("all-reduce 216"));
  // If the result is cut: one reduce-scatter.
  const std::string text = R"(ENTRY main {
  a = f32[8,64] parameter(0), sharding={devices=[1,$n]<=[$n]}
  b = f32[64,8] parameter(1), sharding={devices=[$n,1]<=[$n]}
  ROOT c = f32[8,8] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={devices=[$n,1]<=[$n]}
})";
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 8), ElementsAre("reduce-scatter 256"));
}

TEST(DotTest, APartialSumIsReducedAfterWhatIsLinearInIt) {
  // The sum over the rows of a @ b: 9 numbers are reduced instead of 54.
  const std::string text = R"(
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  a = f32[6,8] parameter(0), sharding={devices=[1,$n]<=[$n]}
  b = f32[8,9] parameter(1), sharding={devices=[$n,1]<=[$n]}
  c = f32[6,9] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  zero = f32[] constant(0)
  ROOT r = f32[9] reduce(c, zero), dimensions={0}, to_apply=add, sharding={replicated}
})";
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 4), ElementsAre("all-reduce 36"));
}

TEST(DotTest, APartialSumIsReducedBeforeWhatIsNotLinear) {
  for (const char* op : {"maximum(c, d)", "divide(d, c)", "multiply(c, c)", "add(c, d)"}) {
    SCOPED_TRACE(op);
    ExpectEquivalent(absl::StrCat(R"(ENTRY main {
  a = s32[6,8] parameter(0), sharding={devices=[1,$n]<=[$n]}
  b = s32[8,9] parameter(1), sharding={devices=[$n,1]<=[$n]}
  d = s32[6,9] parameter(2), sharding={devices=[$n,1]<=[$n]}
  c = s32[6,9] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = s32[6,9] )",
                                  op, ", sharding={replicated}\n}\n"));
  }
}

// (2 - 1) inf is inf, but 2 inf - 1 inf is NaN: the sum must be reduced before the product.
TEST(DotTest, SumsAreReducedBeforeAVisiblyInfiniteFactor) {
  const std::string dot = R"(ENTRY main {
  a = f32[4,8] parameter(0), sharding={devices=[1,$n]<=[$n]}
  b = f32[8,4] parameter(1), sharding={devices=[$n,1]<=[$n]}
  d = f32[4,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
)";
  ExpectEquivalent(dot + R"(
  i = f32[] constant(inf)
  w = f32[4,4] broadcast(i), dimensions={}
  ROOT r = f32[4,4] multiply(d, w), sharding={replicated} })");
  ExpectEquivalent(dot + R"(
  i = f32[] constant(0)
  w = f32[4,4] broadcast(i), dimensions={}
  ROOT r = f32[4,4] divide(d, w), sharding={replicated} })");
  ExpectEquivalent(dot + R"(
  m = pred[4,4] parameter(2)
  o = f32[4,4] parameter(3)
  i = f32[] constant(-inf)
  w = f32[4,4] broadcast(i), dimensions={}
  f = f32[4,4] select(m, o, w)
  ROOT r = f32[4,4] multiply(f, d), sharding={replicated} })");
}

}  // namespace
}  // namespace toroid
