#include <string>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::IsEmpty;

std::string Iota(const std::string& type, int64_t size) {
  return absl::StrCat("ENTRY main {\n  ROOT y = ", type, "[", size,
                      ",2] iota(), iota_dimension=0, sharding={devices=[$n,1]<=[$n]}\n}\n");
}

TEST(IotaTest, NarrowTypesWrapAndRoundAsTheWholeWould) {
  // 300 does not fit in 8-bit integers, and bf16 has 8 bits of precision.
  for (const char* type : {"s8", "u8", "s16", "s32", "s64", "f32", "bf16", "f16", "c64"}) {
    SCOPED_TRACE(type);
    ExpectEquivalent(Iota(type, 300), {}, {1, 2, 7, 16});
    EXPECT_THAT(Collectives(Iota(type, 300), 4), IsEmpty());
  }
}

TEST(IotaTest, FewerElementsThanDevices) {
  ExpectEquivalent(Iota("s32", 1));
  ExpectEquivalent(Iota("s32", 0));
}

TEST(ConstantTest, AnArrayThatIsNoSplatIsCut) {
  const std::string text = R"(ENTRY main {
  c = s32[5] constant({3, 1, 4, 1, 5})
  x = s32[5] parameter(0), sharding={devices=[$n]<=[$n]}
  ROOT y = s32[5] multiply(x, c), sharding={devices=[$n]<=[$n]}
})";
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 2), IsEmpty());
}

}  // namespace
}  // namespace toroid
