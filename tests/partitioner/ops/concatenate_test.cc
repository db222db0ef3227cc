#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::IsEmpty;

std::string Concatenate(const std::vector<int64_t>& sizes) {
  std::string text = "ENTRY main {\n", operands;
  int64_t total = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    absl::StrAppend(&text, "  x", i, " = s32[", sizes[i], "] parameter(", i,
                    "), sharding={devices=[$n]<=[$n]}\n");
    absl::StrAppend(&operands, i > 0 ? ", x" : "x", i);
    total += sizes[i];
  }
  return absl::StrCat(text, "  ROOT y = s32[", total, "] concatenate(", operands,
                      "), dimensions={0}, sharding={devices=[$n]<=[$n]}\n}\n");
}

TEST(ConcatenateTest, OnACutDimension) {
  ExpectEquivalent(Concatenate({8, 8}));
  ExpectEquivalent(Concatenate({5, 3, 6}));
  ExpectEquivalent(Concatenate({1, 12}));
  ExpectEquivalent(Concatenate({0, 7, 0, 1}));
  ExpectEquivalent(Concatenate({9}));
}

TEST(ConcatenateTest, AlongAnUncutDimensionMovesNothing) {
  const std::string text = R"(ENTRY main {
  a = s32[6,2] parameter(0), sharding={devices=[$n,1]<=[$n]}
  b = s32[6,3] parameter(1), sharding={devices=[$n,1]<=[$n]}
  ROOT y = s32[6,5] concatenate(a, b), dimensions={1}, sharding={devices=[$n,1]<=[$n]}
})";
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 2), IsEmpty());
}

TEST(ConcatenateTest, ARollIsAHaloAndNoGather) {
  const std::string text = R"(ENTRY main {
  x = s32[16] parameter(0), sharding={devices=[$n]<=[$n]}
  tail = s32[1] slice(x), slice={[15:16]}
  head = s32[15] slice(x), slice={[0:15]}
  ROOT y = s32[16] concatenate(tail, head), dimensions={0}, sharding={devices=[$n]<=[$n]}
})";
  ExpectEquivalent(text);
  for (const std::string& collective : Collectives(text, 4)) {
    EXPECT_EQ(collective.find("all-gather"), std::string::npos) << collective;
  }
}

}  // namespace
}  // namespace toroid
