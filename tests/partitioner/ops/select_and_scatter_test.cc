#include <string>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::IsEmpty;

// The gradient of max pooling; x has n rows, the source m.
std::string PoolingGradient(int64_t n, int64_t m, int64_t size, int64_t stride, const std::string& split,
                            const std::string& init = "0") {
  return absl::StrCat(R"(
ge { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=GE }
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[)",
                      n, R"(,5] parameter(0), sharding={devices=)", split, R"(<=[$n]}
  y = f32[)",
                      m, R"(,5] parameter(1), sharding={devices=)", split, R"(<=[$n]}
  init = f32[] constant()",
                      init, R"()
  ROOT r = f32[)",
                      n, R"(,5] select-and-scatter(x, y, init), window={size=)", size, "x1 stride=", stride,
                      "x1}, select=ge, scatter=add, sharding={devices=", split, "<=[$n]}\n}\n");
}

TEST(SelectAndScatterTest, GradientOfMaxPooling) {
  for (const char* split : {"[$n,1]", "[1,$n]"}) {
    SCOPED_TRACE(split);
    ExpectEquivalent(PoolingGradient(8, 4, 2, 2, split));
    ExpectEquivalent(PoolingGradient(13, 6, 2, 2, split));
    ExpectEquivalent(PoolingGradient(14, 5, 2, 3, split, "3"));
    ExpectEquivalent(PoolingGradient(17, 5, 3, 3, split, "3"));
    ExpectEquivalent(PoolingGradient(9, 4, 3, 2, split));  // Windows overlap.
  }
}

TEST(SelectAndScatterTest, WindowsThatLieApartStayWhereTheyAre) {
  EXPECT_THAT(Collectives(PoolingGradient(64, 32, 2, 2, "[$n,1]"), 4), IsEmpty());
}

}  // namespace
}  // namespace toroid
