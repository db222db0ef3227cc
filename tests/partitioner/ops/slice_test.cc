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
  ExpectEquivalent(Slice(13, 13, 13, 1));  // Nothing.
  ExpectEquivalent(Slice(1, 0, 1, 1));
}

TEST(SliceTest, ALeadingPartTakesTheRowsThatChangeOwner) {
  // f32[8] over 2: tiles of 4; y f32[6]: tiles of 3: device 1 has x[4,8), wants x[3,6).
  EXPECT_THAT(Collectives(Slice(8, 0, 6, 1), 2), ElementsAre("collective-permute 4"));
}

TEST(SliceTest, ResultsSmallerThanATileComeFromTheirOwnerAlone) {
  const auto first = [](int64_t n, int64_t rows) { return Slice(n, 0, rows, 1); };
  EXPECT_THAT(Collectives(first(512, 4), 4), ElementsAre("collective-permute 4", "collective-permute 4", "collective-permute 4"));
  EXPECT_THAT(Collectives(first(4096, 8), 4), ElementsAre("collective-permute 8", "collective-permute 8", "collective-permute 8"));
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

}  // namespace
}  // namespace toroid
