#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Sort(const std::string& split, int64_t dimension) {
  return absl::StrCat(R"(
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT
}
ENTRY main {
  x = f32[7,10] parameter(0), sharding={devices=)",
                      split, R"(<=[$n]}
  y = s32[7,10] parameter(1), sharding={devices=)",
                      split, R"(<=[$n]}
  ROOT s = (f32[7,10], s32[7,10]) sort(x, y), dimensions={)",
                      dimension, R"(}, is_stable=true, to_apply=less
})");
}

TEST(SortTest, AlongCutAndUncutDimensions) {
  for (const int64_t dimension : {0, 1}) {
    ExpectEquivalent(Sort("[$n,1]", dimension));
    ExpectEquivalent(Sort("[1,$n]", dimension));
  }
}

TEST(SortTest, RowsSortWhereTheyAre) { EXPECT_THAT(Collectives(Sort("[$n,1]", 1), 7), IsEmpty()); }

TEST(SortTest, ACutMovesToTheOtherDimensionAndBack) {
  const std::string text = R"(
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=LT }
ENTRY main {
  x = f32[64,64] parameter(0), sharding={devices=[$n,1]<=[$n]}
  ROOT s = f32[64,64] sort(x), dimensions={0}, to_apply=less, sharding={devices=[$n,1]<=[$n]}
})";
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 4), ElementsAre("all-to-all 4096", "all-to-all 4096"));
}

std::string TopK(const std::string& split) {
  return absl::StrCat("ENTRY main {\n  x = f32[7,10] parameter(0), sharding={devices=", split,
                      "<=[$n]}\n  ROOT t = (f32[7,3], s32[7,3]) topk(x), k=3, largest=true\n}\n");
}

TEST(TopKTest, AlongCutAndUncutDimensions) {
  ExpectEquivalent(TopK("[$n,1]"));
  ExpectEquivalent(TopK("[1,$n]"));
  EXPECT_THAT(Collectives(TopK("[$n,1]"), 7), IsEmpty());
}

// The first k elements of lines of n elements, by the instruction `op`: a topk or a custom call.
std::string FirstOf(const std::string& type, int64_t n, int64_t k, const std::string& op) {
  return absl::StrCat("ENTRY main {\n  x = ", type, "[3,", n,
                      "] parameter(0), sharding={devices=[1,$n]<=[$n]}\n  ROOT t = (", type, "[3,", k,
                      "], s32[3,", k, "]) ", op, "\n}\n");
}

TEST(TopKTest, OfACutLineTakesTheFirstOfEveryTile) {
  for (const char* type : {"f32", "s32", "u8", "bf16", "s8"}) {
    for (const int64_t n : {5, 40, 41}) {
      for (const int64_t k : {1, 3, 5}) {
        SCOPED_TRACE(absl::StrCat(type, " ", k, " of ", n));
        const std::string count = absl::StrCat("topk(x), k=", k);
        ExpectEquivalent(FirstOf(type, n, k, absl::StrCat(count, ", largest=true")));
        ExpectEquivalent(FirstOf(type, n, k, absl::StrCat(count, ", largest=false")));
        ExpectEquivalent(FirstOf(type, n, k, "custom-call(x), custom_call_target=\"TopK\""));
      }
    }
  }
  // From each tile, four values and positions of three lines.
  EXPECT_THAT(Collectives(FirstOf("f32", 4096, 4, "topk(x), k=4, largest=true"), 8),
              ElementsAre("all-gather 48", "all-gather 48"));
  EXPECT_THAT(Collectives(FirstOf("bf16", 4096, 4, "custom-call(x), custom_call_target=\"TopK\""), 8),
              ElementsAre("all-gather 24", "all-gather 48"));
}

TEST(TopKTest, OfEqualElementsTheFirstWins) {
  const std::vector<float> equal(3 * 41, 1), lowest(3 * 41, -std::numeric_limits<float>::quiet_NaN());
  for (const auto& x : {equal, lowest}) {
    ExpectEquivalent(FirstOf("f32", 41, 5, "topk(x), k=5, largest=true"),
                     {Literal::Array<float>({3, 41}, x)});
    ExpectEquivalent(FirstOf("f32", 41, 5, "topk(x), k=5, largest=false"),
                     {Literal::Array<float>({3, 41}, x)});
  }
}

// Sorts n values with their positions; only the first `rows` of both are read.
std::string SortedFirst(int64_t n, int64_t rows, const std::string& direction) {
  return absl::StrCat(R"(
before {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=)",
                      direction, R"(
}
ENTRY main {
  x = f32[)",
                      n, R"(,2] parameter(0), sharding={devices=[$n,1]<=[$n]}
  i = s32[)",
                      n, R"(,2] iota(), iota_dimension=0
  s = (f32[)",
                      n, ",2], s32[", n, R"(,2]) sort(x, i), dimensions={0}, is_stable=true, to_apply=before
  v = f32[)",
                      n, R"(,2] get-tuple-element(s), index=0
  w = s32[)",
                      n, R"(,2] get-tuple-element(s), index=1
  first = f32[)",
                      rows, ",2] slice(v), slice={[0:", rows, R"(],[0:2]}
  at = s32[1,2] slice(w), slice={[)",
                      rows - 1, ":", rows, R"(],[0:2]}
  ROOT t = (f32[)",
                      rows, R"(,2], s32[1,2]) tuple(first, at)
})");
}

TEST(SortTest, OfWhichOnlyTheFirstRowsAreReadTakesThoseOfEveryTile) {
  for (const char* direction : {"GT", "LT"}) {
    for (const int64_t n : {5, 40, 41, 100}) {
      for (const int64_t rows : {1, 3, 5}) {
        SCOPED_TRACE(absl::StrCat(direction, " ", rows, " of ", n));
        ExpectEquivalent(SortedFirst(n, rows, direction));
      }
    }
  }
  EXPECT_THAT(Collectives(SortedFirst(4096, 4, "GT"), 8), ElementsAre("all-gather 32", "all-gather 32"));
}

// A sort of two lines of n elements, cut along the lines. `arrays`: "TYPE" for a parameter, "TYPE counted"
// for an iota. `less`: the root of the comparison, for example on the first array.
std::string Sorted(int64_t n, const std::vector<std::string>& arrays, const std::string& less,
                   bool is_stable = true) {
  std::string comparison, parameters, names, shapes, shardings;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const std::vector<std::string> words = absl::StrSplit(arrays[i], ' ');
    const std::string shape = absl::StrCat(words[0], "[2,", n, "]"),
                      cut = ", sharding={devices=[1,$n]<=[$n]}";
    absl::StrAppend(&comparison, "  a", i, " = ", words[0], "[] parameter(", 2 * i, ")\n  b", i, " = ",
                    words[0], "[] parameter(", 2 * i + 1, ")\n");
    absl::StrAppend(&parameters, "  x", i, " = ", shape,
                    words.size() > 1 ? " iota(), iota_dimension=1" : absl::StrCat(" parameter(", i, ")", cut),
                    "\n");
    absl::StrAppend(&names, i > 0 ? ", " : "", "x", i);
    absl::StrAppend(&shapes, i > 0 ? ", " : "", shape);
    absl::StrAppend(&shardings, i > 0 ? ", " : "", "{devices=[1,$n]<=[$n]}");
  }
  if (arrays.size() > 1) {
    shapes = absl::StrCat("(", shapes, ")");
    shardings = absl::StrCat("{", shardings, "}");
  }
  return absl::StrCat("less {\n", comparison, less, "}\nENTRY main {\n", parameters, "  ROOT s = ", shapes,
                      " sort(", names, "), dimensions={1}, is_stable=", is_stable ? "true" : "false",
                      ", to_apply=less, sharding=", shardings, "\n}\n");
}

constexpr char kLess[] = "  ROOT r = pred[] compare(a0, b0), direction=LT\n";
constexpr char kGreater[] = "  ROOT r = pred[] compare(a0, b0), direction=GT, type=TOTALORDER\n";

// Arguments are integers from -4 to 4, so many elements are equal.
TEST(SortTest, OfTilesThatStayCut) {
  for (const int64_t n : {1, 5, 16, 45, 49, 64, 100, 263, 500}) {
    SCOPED_TRACE(n);
    ExpectEquivalent(Sorted(n, {"s32"}, kLess));
    ExpectEquivalent(Sorted(n, {"f32"}, kGreater));
    ExpectEquivalent(Sorted(n, {"f32", "s32"}, kLess));
    ExpectEquivalent(Sorted(n, {"s8", "s32 counted"}, kLess));
    ExpectEquivalent(Sorted(n, {"bf16", "f64", "u8"}, kLess, /*is_stable=*/false));
    ExpectEquivalent(Sorted(n, {"u16", "s8 counted"}, kLess));  // s8 is too narrow to count all elements.
  }
}

TEST(SortTest, OfNothing) {
  ExpectEquivalent(absl::StrReplaceAll(Sorted(40, {"f32", "s32"}, kLess), {{"[2,40]", "[0,40]"}}));
}

// A comparison of two keys: it does not read the first array only, and elements with equal keys differ.
TEST(SortTest, OfTilesByTwoKeys) {
  const char* keys = R"(  zero = s32[] constant(0)
  first = pred[] compare(a1, b1), direction=GT
  same = pred[] compare(a1, b1), direction=EQ
  second = pred[] compare(a0, b0), direction=LT
  both = pred[] and(same, second)
  ROOT r = pred[] or(first, both)
)";
  for (const int64_t n : {45, 128, 500}) ExpectEquivalent(Sorted(n, {"f32", "s32", "s8"}, keys));
}

TEST(SortTest, ZerosOfBothSignsKeepTheirOrder) {
  std::vector<float> x(2 * 300);
  for (size_t i = 0; i < x.size(); ++i) x[i] = i % 7 == 0 ? 1.f : i % 3 == 0 ? -0.f : 0.f;
  // A division tells 0 and -0 apart.
  std::string text = Sorted(300, {"f32"}, kLess);
  text = absl::StrReplaceAll(text, {{"ROOT s", "s"}, {"\n}\n\n", ""}});
  text = absl::StrCat(text.substr(0, text.rfind('}')),
                      "  one = f32[] constant(1)\n  all = f32[2,300] broadcast(one), dimensions={}\n"
                      "  ROOT d = f32[2,300] divide(all, s)\n}\n");
  ExpectEquivalent(text, {Literal::Array<float>({2, 300}, x)});
}

// Two all-to-alls and the rows at borders of tiles; gathering would send 7 tiles of 2 lines of 1,000
// elements.
TEST(SortTest, OfTilesSendsLessThanGatheringThem) {
  EXPECT_THAT(
      Collectives(Sorted(8000, {"s32"}, kLess), 8),
      ElementsAre("all-to-all 8000", "all-to-all 8000", "collective-permute 392", "collective-permute 392"));
  // Floats that compare equal may differ (-0 and 0). The second exchange therefore also sends each element's
  // position, a u16, which breaks ties.
  EXPECT_THAT(Collectives(Sorted(8000, {"f32"}, kLess), 8),
              ElementsAre("all-to-all 8000", "all-to-all 8000", "all-to-all 4000", "collective-permute 392",
                          "collective-permute 392", "collective-permute 196", "collective-permute 196"));
  // An argsort already has positions.
  EXPECT_THAT(Collectives(Sorted(8000, {"f32", "s32 counted"}, kLess), 8),
              ElementsAre("all-to-all 8000", "all-to-all 8000", "all-to-all 8000", "all-to-all 8000",
                          "collective-permute 392", "collective-permute 392", "collective-permute 392",
                          "collective-permute 392"));
  // Tiles that are too small or too few are gathered; the counted array is an iota and needs no gathering.
  EXPECT_THAT(Collectives(Sorted(64, {"s32"}, kLess), 8), ElementsAre("all-gather 64"));
  EXPECT_THAT(Collectives(Sorted(8000, {"f32", "s32 counted"}, kLess), 2), ElementsAre("all-gather 32000"));
}

// A short line is gathered once for its sort, and later ops on it are not cut again.
TEST(SortTest, NoShardingFlowsAlongShortLines) {
  std::string text = Sorted(64, {"s32"}, kLess);
  text = absl::StrReplaceAll(
      text, {{", to_apply=less, sharding={devices=[1,$n]<=[$n]}", ", to_apply=less"}, {"ROOT s", "s"}});
  text =
      absl::StrCat(text.substr(0, text.rfind('}')), "  ROOT r = s32[2,64] reverse(s), dimensions={1}\n}\n");
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 8), ElementsAre("all-gather 64"));
}

TEST(SortTest, OverManyDevicesTakesAsManyInstructions) {
  const auto count = [](int64_t n) {
    PartitionOptions options;
    options.num_partitions = n;
    const auto partitioned =
        PartitionModule(*ProgramFor(Sorted(int64_t{1} << 30, {"u8"}, kLess), n), options);
    return partitioned->module->entry()->size();
  };
  EXPECT_EQ(count(512), count(8));
}

}  // namespace
}  // namespace toroid
