#include <string>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string ReduceWindow(int64_t size, const std::string& opcode, int64_t k, int64_t stride, int64_t low,
                         int64_t high, int64_t base = 1, int64_t dilation = 1) {
  const int64_t out = ((size - 1) * base + 1 + low + high - ((k - 1) * dilation + 1)) / stride + 1;
  return absl::StrCat("f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] ", opcode,
                      "(a, b) }\nENTRY main {\n  x = f32[", size,
                      ",3] parameter(0), sharding={devices=[$n,1]<=[$n]}\n", "  i = f32[] constant(",
                      opcode == "add"       ? "0"
                      : opcode == "maximum" ? "-inf"
                                            : "inf",
                      ")\n  ROOT y = f32[", out, ",3] reduce-window(x, i), window={size=", k,
                      "x1 stride=", stride, "x1 pad=", low, "_", high, "x0_0 lhs_dilate=", base,
                      "x1 rhs_dilate=", dilation, "x1}, to_apply=f, sharding={devices=[$n,1]<=[$n]}\n}\n");
}

TEST(ReduceWindowTest, PoolingStridesPaddingAndDilation) {
  for (const char* opcode : {"add", "maximum", "minimum"}) {
    SCOPED_TRACE(opcode);
    ExpectEquivalent(ReduceWindow(16, opcode, 2, 2, 0, 0));
    ExpectEquivalent(ReduceWindow(13, opcode, 3, 1, 1, 1));
    ExpectEquivalent(ReduceWindow(13, opcode, 3, 2, 2, 0));
    ExpectEquivalent(ReduceWindow(13, opcode, 3, 1, 0, 0, 2));
    ExpectEquivalent(ReduceWindow(13, opcode, 3, 1, 0, 0, 1, 2));
  }
}

TEST(ReduceWindowTest, ACumulativeSumReachesOverAllTiles) {
  ExpectEquivalent(ReduceWindow(13, "add", 13, 1, 12, 0));
  ExpectEquivalent(ReduceWindow(16, "maximum", 16, 1, 15, 0));
}

// Sums of the rows up to, or from, each row, depending on `pad`.
std::string Cumulative(const std::string& dims, const std::string& size, const std::string& pad,
                       const std::string& init = "0") {
  return absl::StrCat(
      "f { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT c = s32[] add(a, b) }\nENTRY main {\n",
      "  x = s32[", dims, "] parameter(0), sharding={devices=[$n,1]<=[$n]}\n  i = s32[] constant(", init,
      ")\n  ROOT y = s32[", dims, "] reduce-window(x, i), window={size=", size, " pad=", pad,
      "}, to_apply=f, sharding={devices=[$n,1]<=[$n]}\n}\n");
}

TEST(ReduceWindowTest, ACumulativeSumGathersOneTotalPerTile) {
  const std::string forward = Cumulative("37,3", "37x1", "36_0x0_0");
  ExpectEquivalent(forward);
  ExpectEquivalent(Cumulative("37,3", "37x1", "0_36x0_0"));
  ExpectEquivalent(Cumulative("37,5", "37x5", "36_0x0_4"));
  ExpectEquivalent(Cumulative("37,5", "37x3", "36_0x1_1"));
  EXPECT_THAT(Collectives(forward, 4), ElementsAre("all-gather 12"));
  EXPECT_THAT(Collectives(Cumulative("65536,3", "65536x1", "65535_0x0_0"), 65536),
              ElementsAre("all-gather 12"));
}

TEST(ReduceWindowTest, ACumulativeSumFromAnotherInitValueTakesItAsOftenAsTheWholeOne) {
  ExpectEquivalent(Cumulative("37,3", "37x1", "36_0x0_0", "2"));
}

TEST(ReduceWindowTest, ACumulativeSumOverThousandsOfDevices) {
  ExpectEquivalent(Cumulative("5000,1", "5000x1", "4999_0x0_0"), {}, {2048});
}

TEST(ReduceWindowTest, DisjointAlignedWindowsMoveNothing) {
  EXPECT_THAT(Collectives(ReduceWindow(16, "add", 2, 2, 0, 0), 4), IsEmpty());
}

}  // namespace
}  // namespace toroid
